"""The table of math functions: one row each, named as NumPy names its ufunc.

The times are nanoseconds per element in cache, measured once on an AMD Zen 4 (glibc 2.36); what
the cost model needs of them are ratios. `codegen.backend.probe` says which functions exist here.
"""

from __future__ import annotations

from fusejit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MathFunction:
    """A function of the C math library.

    Attributes
    ----------
    name : str
        NumPy's name, which generated source uses too.
    libm : str
        C name of the float64 function; the float32 one has an ``f`` behind it.
    arity : int
        Number of arguments.
    scalar_ns, vector_ns : (float, float)
        Time per element (float32, float64): scalar call, and vector form at 512 bits. At 256 bits
        count 1.5 times as much.
    half_width : frozenset of str
        Dtypes whose 256-bit form is faster than the 512-bit one even where both exist.
    prefer_svml : frozenset of str
        Dtypes for which NumPy's copy of Intel's SVML is faster than libmvec at 512 bits.
    high_accuracy : frozenset of str
        Dtypes for which SVML's form ``.._ha``, which NumPy itself calls, is the faster one.
    """

    name: str
    libm: str
    arity: int
    scalar_ns: tuple[float, float]
    vector_ns: tuple[float, float]
    half_width: frozenset[str] = frozenset()
    prefer_svml: frozenset[str] = frozenset()
    high_accuracy: frozenset[str] = frozenset()

    def preferred_bits(self, dtype: str, widest: int) -> int:
        """Register width to use on a machine whose widest is `widest` bits (0: none)."""
        return min(widest, 256) if dtype in self.half_width else widest

    def cost_ns(self, dtype: str, is_vector: bool) -> float:
        """Time per element for ``"f32"`` or ``"f64"``."""
        return (self.vector_ns if is_vector else self.scalar_ns)[dtype == "f64"]


_F32 = frozenset({"f32"})
_F64 = frozenset({"f64"})
_BOTH = frozenset({"f32", "f64"})
_NONE: frozenset[str] = frozenset()

# fmt: off
_ROWS = (
    #            name       libm   arity  scalar ns      vector ns      half width, prefer SVML, _ha
    MathFunction("exp",     "exp",   1, (1.95, 3.85),  (0.34, 0.63), _NONE, _F64),
    MathFunction("exp2",    "exp2",  1, (2.22, 2.49),  (0.23, 0.60)),
    MathFunction("expm1",   "expm1", 1, (9.10, 6.91),  (0.36, 0.89)),
    MathFunction("log",     "log",   1, (2.22, 3.08),  (0.29, 0.64), _NONE, _BOTH),
    MathFunction("log2",    "log2",  1, (1.96, 3.07),  (0.21, 0.66)),
    MathFunction("log10",   "log10", 1, (4.93, 5.65),  (0.22, 0.70)),
    MathFunction("log1p",   "log1p", 1, (6.92, 5.66),  (0.49, 0.86)),
    MathFunction("sin",     "sin",   1, (2.38, 8.58),  (0.32, 0.71)),
    MathFunction("cos",     "cos",   1, (2.59, 8.65),  (0.34, 0.75)),
    MathFunction("tan",     "tan",   1, (10.7, 10.2),  (0.44, 0.97)),
    MathFunction("sinh",    "sinh",  1, (12.5, 11.1),  (0.38, 1.20), _NONE, _F64, _F64),
    MathFunction("cosh",    "cosh",  1, (4.97, 5.52),  (0.34, 0.81)),
    MathFunction("tanh",    "tanh",  1, (11.7, 10.0),  (0.45, 1.86)),
    MathFunction("arcsin",  "asin",  1, (3.27, 4.59),  (0.43, 1.09)),
    MathFunction("arccos",  "acos",  1, (4.36, 4.66),  (0.46, 1.14)),
    MathFunction("arctan",  "atan",  1, (4.89, 8.10),  (0.43, 1.13)),
    MathFunction("arcsinh", "asinh", 1, (6.79, 7.89),  (0.85, 2.05)),
    MathFunction("arccosh", "acosh", 1, (5.25, 6.36),  (0.66, 1.81), _NONE, _BOTH),
    MathFunction("arctanh", "atanh", 1, (10.4, 9.16),  (0.52, 1.38)),
    MathFunction("cbrt",    "cbrt",  1, (8.42, 9.87),  (0.34, 0.90)),
    MathFunction("erf",     "erf",   1, (8.64, 8.83),  (0.55, 1.45), _F32),
    MathFunction("erfc",    "erfc",  1, (11.1, 11.4),  (0.72, 1.82), _F32),
    MathFunction("power",   "pow",   2, (4.28, 9.94),  (0.69, 1.84), _NONE, _BOTH),
    MathFunction("arctan2", "atan2", 2, (9.37, 11.3),  (0.62, 1.55)),
    MathFunction("hypot",   "hypot", 2, (2.49, 4.96),  (0.26, 0.46)),
)
# fmt: on

MATH_FUNCTIONS: dict[str, MathFunction] = {row.name: row for row in _ROWS}
"""Math functions that call the C library, by name."""
