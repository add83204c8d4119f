"""`MathFunction`: a function of the C math library, as a column of the table of scalar ops.

The times are nanoseconds per element in cache, measured once on an AMD Zen 4 (glibc 2.36); what
the cost model needs of them are ratios. `codegen.machine.probe` says which functions exist here.
"""

from __future__ import annotations

from fusejit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MathFunction:
    """A function of the C math library.

    Attributes
    ----------
    name : str
        That of the row, which generated source uses too.
    libm : str
        C name of the float64 function; the float32 one has an ``f`` after it.
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
