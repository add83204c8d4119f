"""THE table of scalar ops and THE table of combiners.

The tracer finds a NumPy ufunc's row here, the payload computes with it, codegen emits its template,
the printer and docs/semantics.md name it. A new elementwise function is one row.

Templates are Python expressions over operands ``{0}``, ``{1}``, ...; ``{T}`` is the result's dtype
token (``f64``), which casts. They are chosen by the class of the first operand's dtype:
``b`` bool, ``i`` signed, ``u`` unsigned, ``f`` floating. The names they call are rows of
`fusejit.codegen.intrinsics.INTRINSICS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_BOOL = np.dtype(np.bool_)


@dataclass(frozen=True, eq=False)
class ScalarOp:
    """One elementwise function: ``result = ufunc(operands)``.

    Parameters
    ----------
    name : str
        Name in printed IR.
    ufunc : np.ufunc or None
        NumPy's function of the same meaning; decides result dtypes. None for ``select``.
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
        The name of the function in `fusejit.codegen.vector_math`, where it is one.
    """

    name: str
    ufunc: np.ufunc | None
    arity: int
    templates: Mapping[str, str]
    cost_ns: float = 0.1
    commutative: bool = False
    exact: bool = True
    vector_function: str = ""

    def evaluate(self, operands: Sequence[Any], dtype: np.dtype) -> Any:
        """Compute with NumPy, on scalars or arrays whose dtypes are the loop's."""
        if self.ufunc is None:
            condition, if_true, if_false = operands
            return np.where(condition, if_true, if_false).astype(dtype)[()]
        if self.name in ("maximum", "minimum") and dtype.kind == "f":
            return _extremum(self.ufunc, *operands)
        if self.name == "power" and dtype.kind == "f":
            base, exponent = operands
            return _power(base, exponent, dtype)
        return self.ufunc(*operands, dtype=None if dtype == _BOOL else dtype)

    def template(self, dtype: np.dtype) -> str | None:
        """The template for operands of ``dtype``, or None where it is not compiled."""
        return self.templates.get(dtype.kind)


def _extremum(ufunc: np.ufunc, left: Any, right: Any) -> Any:
    """``np.maximum`` or ``np.minimum`` where 0.0 counts as larger than -0.0 (NumPy: either)."""
    larger_zero = left + right if ufunc is np.maximum else -(-left - right)
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


def _arithmetic(symbol: str) -> dict[str, str]:
    """Width-preserving integers (Numba would widen), plain floats."""
    exact = f"{{T}}({{0}} {symbol} {{1}})"
    return {"i": exact, "u": exact, "f": f"({{0}} {symbol} {{1}})"}


def _everywhere(text: str) -> dict[str, str]:
    return dict.fromkeys("biuf", text)


def _floating(text: str) -> dict[str, str]:
    return {"f": text}


def _math(name: str, ufunc: np.ufunc, cost_ns: float) -> ScalarOp:
    return ScalarOp(
        name, ufunc, 1, _floating(f"{name}({{0}})"), cost_ns, exact=False, vector_function=name
    )


_ROWS: tuple[ScalarOp, ...] = (
    ScalarOp("add", np.add, 2, {**_arithmetic("+"), "b": "({0} | {1})"}, commutative=True),
    ScalarOp("subtract", np.subtract, 2, _arithmetic("-")),
    ScalarOp(
        "multiply", np.multiply, 2, {**_arithmetic("*"), "b": "({0} & {1})"}, commutative=True
    ),
    ScalarOp("divide", np.divide, 2, _floating("({0} / {1})"), 0.4),
    ScalarOp(
        "power",
        np.power,
        2,
        _floating("power({0}, {1})"),
        2.0,
        exact=False,
        vector_function="power",
    ),
    ScalarOp("negative", np.negative, 1, {**dict.fromkeys("iu", "{T}(-{0})"), "f": "(-{0})"}),
    ScalarOp(
        "absolute", np.absolute, 1, {"i": "int_abs({0})", "u": "{0}", "b": "{0}", "f": "fabs({0})"}
    ),
    ScalarOp("sqrt", np.sqrt, 1, _floating("sqrt({0})"), 0.6),
    ScalarOp(
        "square", np.square, 1, {"i": "{T}({0} * {0})", "u": "{T}({0} * {0})", "f": "({0} * {0})"}
    ),
    ScalarOp("reciprocal", np.reciprocal, 1, _floating("({T}(1.0) / {0})"), 0.4),
    _math("exp", np.exp, 0.7),
    _math("log", np.log, 0.8),
    _math("sin", np.sin, 1.0),
    _math("cos", np.cos, 1.0),
    _math("tanh", np.tanh, 1.3),
    ScalarOp(
        "maximum",
        np.maximum,
        2,
        {
            "b": "({0} | {1})",
            "i": "maximum({0}, {1})",
            "u": "maximum({0}, {1})",
            "f": "maximum({0}, {1})",
        },
        0.15,
    ),
    ScalarOp(
        "minimum",
        np.minimum,
        2,
        {
            "b": "({0} & {1})",
            "i": "minimum({0}, {1})",
            "u": "minimum({0}, {1})",
            "f": "minimum({0}, {1})",
        },
        0.15,
    ),
    ScalarOp("equal", np.equal, 2, _everywhere("({0} == {1})"), commutative=True),
    ScalarOp("not_equal", np.not_equal, 2, _everywhere("({0} != {1})"), commutative=True),
    ScalarOp("less", np.less, 2, _everywhere("({0} < {1})")),
    ScalarOp("less_equal", np.less_equal, 2, _everywhere("({0} <= {1})")),
    ScalarOp("greater", np.greater, 2, _everywhere("({0} > {1})")),
    ScalarOp("greater_equal", np.greater_equal, 2, _everywhere("({0} >= {1})")),
    ScalarOp("logical_and", np.logical_and, 2, {"b": "({0} & {1})"}, commutative=True),
    ScalarOp("logical_or", np.logical_or, 2, {"b": "({0} | {1})"}, commutative=True),
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
    ScalarOp("isnan", np.isnan, 1, _floating("({0} != {0})")),
    ScalarOp("select", None, 3, {"b": "select({0}, {1}, {2})"}, 0.15),
)
SCALAR_OPS: dict[str, ScalarOp] = {row.name: row for row in _ROWS}
UFUNC_ROWS: dict[np.ufunc, ScalarOp] = {row.ufunc: row for row in _ROWS if row.ufunc is not None}


@dataclass(frozen=True, eq=False)
class Combiner:
    """How a reduction merges two partial results.

    ``ordered`` tells for which dtype kinds the order of merging shows in the bits, so that it is
    the written-out order of `fusejit.ir.summation`; elsewhere any order gives the same result.
    """

    name: str
    ufunc: np.ufunc
    scalar_op: str
    identities: Mapping[str, Any] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()

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
)
COMBINERS: dict[str, Combiner] = {row.name: row for row in _COMBINERS}
