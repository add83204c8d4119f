"""THE table of scalar ops and THE table of combiners.

The tracer finds a NumPy ufunc's row here, the payload computes with it, codegen emits its template,
the printer and docs/semantics.md name it. A new elementwise function is one row.

Templates are Python expressions over operands ``{0}``, ``{1}``, ...; ``{T}`` is the result's dtype
token (``f64``), which casts. They are chosen by the class of the first operand's dtype:
``b`` bool, ``i`` signed, ``u`` unsigned, ``f`` floating, ``c`` complex (which only the rows that
take such numbers apart have: see `fusejit.ir.complex_numbers`). The names they call are rows of
`fusejit.codegen.intrinsics.table.INTRINSICS`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field, replace
from fusejit.ir.complex_numbers import complex_of, fused_multiply_add

_BOOL = np.dtype(np.bool_)

EXTREMA = ("maximum", "minimum", "fmax", "fmin")
"""Rows of which NumPy does not say which of two zeros they return."""


@dataclass(frozen=True, eq=False)
class ScalarOp:
    """One elementwise function: ``result = ufunc(operands)``.

    Parameters
    ----------
    name : str
        Name in printed IR.
    ufunc : np.ufunc or None
        NumPy's function of the same meaning; decides result dtypes. None where there is none.
    arity : int
        Number of operands.
    templates : mapping
        Dtype class to Python expression. A missing class is not compiled.
    cost_ns : float
        Rough time per element when vectorised, for the cost model.
    commutative : bool
        Whether the operands may be swapped without changing a bit.
    exact : bool
        Whether kernels give NumPy's bits; otherwise within 4 ulp.
    vector_function : str
        The name of the function in `fusejit.codegen.intrinsics.vector_math`, where it is one.
    lone_templates : mapping
        Templates for numbers on their own, where other code is faster than what vectorises.
    function : callable or None
        What it computes on scalars or arrays, where that is no ufunc of NumPy's.
    """

    name: str
    ufunc: np.ufunc | None
    arity: int
    templates: Mapping[str, str]
    cost_ns: float = 0.1
    commutative: bool = False
    exact: bool = True
    vector_function: str = ""
    lone_templates: Mapping[str, str] = field(default_factory=dict)
    function: Callable[..., Any] | None = None

    def evaluate(self, operands: Sequence[Any], dtype: np.dtype) -> Any:
        """Compute with NumPy, on scalars or arrays whose dtypes are the loop's."""
        if self.function is not None:
            return self.function(*operands)
        if self.ufunc is None:
            condition, if_true, if_false = operands
            return np.where(condition, if_true, if_false).astype(dtype)[()]
        if self.name in EXTREMA and dtype.kind == "f":
            return _extremum(self.ufunc, *operands)
        if self.name == "power" and dtype.kind == "f":
            base, exponent = operands
            return _power(base, exponent, dtype)
        return self.ufunc(*operands, dtype=None if dtype == _BOOL else dtype)

    def template(self, dtype: np.dtype, *, lone: bool = False) -> str | None:
        """The template for operands of ``dtype``, or None where it is not compiled.

        ``lone``: for numbers on their own, where no loop could be vectorised.
        """
        if lone and dtype.kind in self.lone_templates:
            return self.lone_templates[dtype.kind]
        return self.templates.get(dtype.kind)


def _fits(compute: Callable[[int, int], int]) -> Callable[..., Any]:
    """Whether what Python computes of integers has 64 bits."""
    function = np.frompyfunc(lambda a, b: -(2**63) <= compute(int(a), int(b)) < 2**63, 2, 1)
    return lambda a, b: np.asarray(function(a, b), np.bool_)[()]


FITS: dict[str, Callable[..., Any]] = {
    "add": _fits(operator.add),
    "subtract": _fits(operator.sub),
    "multiply": _fits(operator.mul),
}
"""By the name of an op on integers of 64 bits."""


def _extremum(ufunc: np.ufunc, left: Any, right: Any) -> Any:
    """The larger or smaller number where 0.0 counts as larger than -0.0 (NumPy: either)."""
    larger_zero = left + right if ufunc in (np.maximum, np.fmax) else -(-left - right)
    both_zero = (left == 0) & (right == 0)
    return np.where(both_zero, larger_zero, ufunc(left, right))[()]


def _power(base: Any, exponent: Any, dtype: np.dtype) -> Any:
    """``pow`` for every element.

    For a uniform exponent NumPy takes shortcuts (``sqrt`` for 0.5) that differ from ``pow`` in
    special cases; the tracer names those itself. Two more elements make the exponent uneven.
    """
    bases, exponents = np.broadcast_arrays(base, exponent)
    flat = np.append(bases.ravel(), np.array([1, 1], dtype)).astype(dtype)
    uneven = np.append(exponents.ravel(), np.array([2, 3], dtype)).astype(dtype)
    result: Any = np.power(flat, uneven)[:-2].reshape(bases.shape)[()]
    return result


def _arithmetic(symbol: str, wrapping: str) -> dict[str, str]:
    """Integers that wrap around (Numba's own are widened, and undefined where they overflow)."""
    exact = f"{wrapping}({{0}}, {{1}})"
    return {"i": exact, "u": exact, "f": f"({{0}} {symbol} {{1}})"}


def _everywhere(text: str) -> dict[str, str]:
    return dict.fromkeys("biuf", text)


def _floating(text: str) -> dict[str, str]:
    return {"f": text}


def _math(ufunc: np.ufunc, cost_ns: float) -> ScalarOp:
    """A function of the C library, in vectors where there are such (`codegen.math_table`)."""
    name, arity = ufunc.__name__, ufunc.nin
    text = f"{name}({', '.join(f'{{{k}}}' for k in range(arity))})"
    return ScalarOp(name, ufunc, arity, _floating(text), cost_ns, exact=False, vector_function=name)


def _extremes(ufunc: np.ufunc) -> ScalarOp:
    name = ufunc.__name__
    bools = "({0} | {1})" if name in ("maximum", "fmax") else "({0} & {1})"
    return ScalarOp(
        name, ufunc, 2, {"b": bools, **dict.fromkeys("iuf", f"{name}({{0}}, {{1}})")}, 0.15
    )


def _rounding(ufunc: np.ufunc) -> ScalarOp:
    """A function that leaves integers as they are."""
    return ScalarOp(
        ufunc.__name__,
        ufunc,
        1,
        {**dict.fromkeys("biu", "{0}"), "f": f"{ufunc.__name__}({{0}})"},
    )


def _integers(ufunc: np.ufunc, function: str, cost_ns: float, **others: str) -> ScalarOp:
    """A function of two integers, which `codegen.arithmetic` has; ``others`` by dtype class."""
    templates = {**dict.fromkeys("iu", f"{function}({{0}}, {{1}})"), **others}
    return ScalarOp(ufunc.__name__, ufunc, 2, templates, cost_ns)


_DEGREE, _RADIAN = "({T}(3.141592653589793) / {T}(180.0))", "({T}(180.0) / {T}(3.141592653589793))"

_ROWS: tuple[ScalarOp, ...] = (
    ScalarOp(
        "add", np.add, 2, {**_arithmetic("+", "int_add"), "b": "({0} | {1})"}, commutative=True
    ),
    ScalarOp("subtract", np.subtract, 2, _arithmetic("-", "int_sub")),
    ScalarOp(
        "multiply",
        np.multiply,
        2,
        {**_arithmetic("*", "int_mul"), "b": "({0} & {1})"},
        commutative=True,
    ),
    ScalarOp("divide", np.divide, 2, _floating("({0} / {1})"), 0.4),
    ScalarOp(
        "power",
        np.power,
        2,
        {**dict.fromkeys("iu", "int_pow({0}, {1})"), "f": "power({0}, {1})"},
        2.0,
        exact=False,
        vector_function="power",
    ),
    ScalarOp("negative", np.negative, 1, {**dict.fromkeys("iu", "int_neg({0})"), "f": "(-{0})"}),
    ScalarOp(
        "absolute", np.absolute, 1, {"i": "int_abs({0})", "u": "{0}", "b": "{0}", "f": "fabs({0})"}
    ),
    ScalarOp("sqrt", np.sqrt, 1, _floating("sqrt({0})"), 0.6),
    ScalarOp(
        "square", np.square, 1, {**dict.fromkeys("iu", "int_mul({0}, {0})"), "f": "({0} * {0})"}
    ),
    ScalarOp("reciprocal", np.reciprocal, 1, _floating("({T}(1.0) / {0})"), 0.4),
    _math(np.exp, 0.7),
    _math(np.exp2, 0.6),
    _math(np.expm1, 0.9),
    _math(np.log, 0.8),
    _math(np.log2, 0.7),
    _math(np.log10, 0.7),
    _math(np.log1p, 0.9),
    _math(np.sin, 1.0),
    _math(np.cos, 1.0),
    _math(np.tan, 1.0),
    _math(np.arcsin, 1.1),
    _math(np.arccos, 1.1),
    _math(np.arctan, 1.1),
    _math(np.arctan2, 1.5),
    _math(np.sinh, 1.4),
    _math(np.cosh, 0.8),
    _math(np.tanh, 1.3),
    _math(np.arcsinh, 2.0),
    _math(np.arccosh, 1.8),
    _math(np.arctanh, 1.4),
    _math(np.hypot, 0.5),
    _math(np.cbrt, 0.9),
    _extremes(np.maximum),
    _extremes(np.minimum),
    _extremes(np.fmax),
    _extremes(np.fmin),
    replace(
        _integers(np.floor_divide, "int_floordiv", 1.0, f="float_floordiv({0}, {1})"),
        lone_templates=dict.fromkeys("iu", "lone_floordiv({0}, {1})"),
    ),
    replace(
        _integers(np.remainder, "int_mod", 1.0, f="float_mod({0}, {1})"),
        lone_templates=dict.fromkeys("iu", "lone_mod({0}, {1})"),
    ),
    _integers(np.fmod, "int_fmod", 1.0, f="float_fmod({0}, {1})"),
    _rounding(np.floor),
    _rounding(np.ceil),
    _rounding(np.trunc),
    ScalarOp("rint", np.rint, 1, _floating("rint({0})")),
    ScalarOp("fabs", np.fabs, 1, _floating("fabs({0})")),
    ScalarOp("copysign", np.copysign, 2, _floating("copysign({0}, {1})")),
    ScalarOp(
        "sign",
        np.sign,
        1,
        {
            "i": "{T}({T}({0} > {T}(0)) - {T}({0} < {T}(0)))",
            "u": "{T}({0} > {T}(0))",
            "f": "select({0} > {T}(0.0), {T}(1.0), "
            "select({0} < {T}(0.0), {T}(-1.0), {0} + {T}(0.0)))",
        },
        0.2,
    ),
    ScalarOp(
        "heaviside",
        np.heaviside,
        2,
        _floating(
            "select({0} == {T}(0.0), {1}, select({0} < {T}(0.0), {T}(0.0), "
            "select({0} > {T}(0.0), {T}(1.0), {0})))"
        ),
        0.2,
    ),
    *(
        ScalarOp(ufunc.__name__, ufunc, 1, _floating(f"({{0}} * {factor})"))
        for ufunc, factor in (
            (np.deg2rad, _DEGREE),
            (np.radians, _DEGREE),
            (np.rad2deg, _RADIAN),
            (np.degrees, _RADIAN),
        )
    ),
    ScalarOp("equal", np.equal, 2, _everywhere("({0} == {1})"), commutative=True),
    ScalarOp("not_equal", np.not_equal, 2, _everywhere("({0} != {1})"), commutative=True),
    ScalarOp("less", np.less, 2, _everywhere("({0} < {1})")),
    ScalarOp("less_equal", np.less_equal, 2, _everywhere("({0} <= {1})")),
    ScalarOp("greater", np.greater, 2, _everywhere("({0} > {1})")),
    ScalarOp("greater_equal", np.greater_equal, 2, _everywhere("({0} >= {1})")),
    ScalarOp("logical_and", np.logical_and, 2, {"b": "({0} & {1})"}, commutative=True),
    ScalarOp("logical_or", np.logical_or, 2, {"b": "({0} | {1})"}, commutative=True),
    ScalarOp("logical_xor", np.logical_xor, 2, {"b": "({0} != {1})"}, commutative=True),
    ScalarOp("logical_not", np.logical_not, 1, {"b": "({0} == False)"}),
    ScalarOp(
        "bitwise_and",
        np.bitwise_and,
        2,
        {**dict.fromkeys("iu", "{T}({0} & {1})"), "b": "({0} & {1})"},
        commutative=True,
    ),
    ScalarOp(
        "bitwise_or",
        np.bitwise_or,
        2,
        {**dict.fromkeys("iu", "{T}({0} | {1})"), "b": "({0} | {1})"},
        commutative=True,
    ),
    ScalarOp(
        "bitwise_xor",
        np.bitwise_xor,
        2,
        {**dict.fromkeys("iu", "{T}({0} ^ {1})"), "b": "({0} != {1})"},
        commutative=True,
    ),
    ScalarOp("invert", np.invert, 1, {**dict.fromkeys("iu", "{T}(~{0})"), "b": "({0} == False)"}),
    _integers(np.left_shift, "shift_left", 0.15),
    _integers(np.right_shift, "shift_right", 0.15),
    ScalarOp("isnan", np.isnan, 1, _floating("({0} != {0})")),
    ScalarOp("isinf", np.isinf, 1, _floating("(fabs({0}) == inf)")),
    ScalarOp("isfinite", np.isfinite, 1, _floating("(fabs({0}) < inf)")),
    ScalarOp("signbit", np.signbit, 1, _floating("signbit({0})")),
    *(
        ScalarOp(f"{name}_fits", None, 2, {"i": f"{name}_fits({{0}}, {{1}})"}, function=function)
        for name, function in FITS.items()
    ),
    ScalarOp("select", None, 3, {"b": "select({0}, {1}, {2})"}, 0.15),
    ScalarOp("fma", None, 3, _floating("fma({0}, {1}, {2})"), function=fused_multiply_add),
    ScalarOp("real", None, 1, {"c": "real_part({0})"}, 0.0, function=np.real),
    ScalarOp("imag", None, 1, {"c": "imag_part({0})"}, 0.0, function=np.imag),
    ScalarOp("complex", None, 2, _floating("complex_of({0}, {1})"), 0.0, function=complex_of),
)
SCALAR_OPS: dict[str, ScalarOp] = {row.name: row for row in _ROWS}
UFUNC_ROWS: dict[np.ufunc, ScalarOp] = {row.ufunc: row for row in _ROWS if row.ufunc is not None}


@dataclass(frozen=True, eq=False)
class Combiner:
    """How a reduction merges two partial results.

    ``ordered`` tells for which dtype kinds the order of merging shows in the bits, so that it is
    the written-out order of `ir.interpreter.summation`; elsewhere any order gives the same result.

    ``of_numbers`` tells that partial results alone are not enough to merge them: the squared
    deviations from a mean need the means and the counts as well. Such a combiner is for floats, one
    reduction dim and no start; ``scalar_op`` says only what joins partial squares.
    """

    name: str
    ufunc: np.ufunc
    scalar_op: str
    identities: Mapping[str, Any] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    of_numbers: bool = False

    def is_extremum(self, dtype: np.dtype) -> bool:
        """Whether this is a maximum or minimum of floats: along axes, a zero is always 0.0."""
        return self.name in ("max", "min") and dtype.kind == "f"

    def identity(self, dtype: np.dtype) -> Any:
        """The number that changes nothing, as a Python scalar."""
        if dtype.kind in self.identities:
            return self.identities[dtype.kind]
        if dtype.kind == "f":
            return -np.inf if self.name == "max" else np.inf
        if dtype.kind == "b":
            return self.name != "max"
        info = np.iinfo(dtype)
        return info.min if self.name == "max" else info.max


_COMBINERS: tuple[Combiner, ...] = (
    Combiner("add", np.add, "add", {"i": 0, "u": 0, "f": 0.0, "b": False}, frozenset("f")),
    Combiner(
        "multiply", np.multiply, "multiply", {"i": 1, "u": 1, "f": 1.0, "b": True}, frozenset("f")
    ),
    Combiner("max", np.maximum, "maximum"),
    Combiner("min", np.minimum, "minimum"),
    Combiner("and", np.logical_and, "logical_and", {"b": True}),
    Combiner("or", np.logical_or, "logical_or", {"b": False}),
    Combiner("deviations", np.add, "add", {"f": 0.0}, frozenset("f"), of_numbers=True),
)
COMBINERS: dict[str, Combiner] = {row.name: row for row in _COMBINERS}
