"""What an op means, by a Python loop over its points: it shares nothing with the compiler.

The subscripts and the values of a case are Python text. At each point all values are computed of
NumPy's numbers, then all outputs are written.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fusejit_testing.structured.op_case import OpCase


def results_by_points(case: OpCase, dims: Sequence[str]) -> list[np.ndarray]:
    """The results of a call without a flaw; ``dims`` is the order of the domain."""
    outputs = [_start(case, k) for k in range(len(case.results))]
    scope: dict[str, Any] = {"np": np, **_FUNCTIONS, **case.names}
    arrays = {n: _Padded(np.asarray(v)) for n, v in case.arguments.items()}
    scope |= arrays | dict(zip("OPQ", outputs, strict=False))
    steps = [compile(value, "<value>", "eval") for _, value in case.values]
    operands = {
        o.name: compile(f"({o.subscripts},)" if o.axes else "()", "<at>", "eval")
        for o in case.operands
    }
    is_generic = not case.is_formula
    for point in itertools.product(*(range(case.sizes[d]) for d in dims)):
        scope |= dict(zip(dims, point, strict=True))
        _FUNCTIONS["index"].point = scope
        if is_generic:
            elements = {n.lower(): scope[n][eval(at, scope)] for n, at in operands.items()}
            scope |= elements
        values = [eval(step, scope) for step in steps]
        for output, name, (combiner, _), value in zip(
            outputs, "OPQ", case.values, values, strict=False
        ):
            where = eval(operands[name], scope)
            number = np.asarray(value).astype(output.dtype)[()]
            output[where] = _merge(combiner, output[where], number)
    return outputs


def _merge(combiner: str, own: Any, number: Any) -> Any:
    """What an output becomes."""
    if combiner in ("", "own"):
        return number
    if combiner.startswith("np."):
        return getattr(np, combiner[3:])(own, number)
    if combiner in ("and", "or"):
        return getattr(np, f"logical_{combiner}")(own, number)
    return {"add": np.add, "multiply": np.multiply, **_FUNCTIONS}[combiner](own, number)


def _start(case: OpCase, at: int) -> np.ndarray:
    operand = case.outputs[at]
    given = case.arguments.get(operand.name, case.numbers[at])
    if given is not None:
        return np.array(np.broadcast_to(given, operand.shape), dtype=operand.dtype)
    return np.full(operand.shape, _identity(case.values[at][0], operand.dtype), operand.dtype)


def _identity(combiner: str, dtype: np.dtype) -> Any:
    """What merging leaves as it is."""
    kind = dtype.kind
    if combiner in ("", "own", "add", "or"):
        return 0
    if combiner in ("multiply", "and"):
        return 1
    is_max = "max" in combiner
    if kind == "b":
        return not is_max
    if kind == "f":
        return -np.inf if is_max else np.inf
    if "unsigned" in combiner and kind == "i":
        return 0 if is_max else -1
    return np.iinfo(dtype).min if is_max else np.iinfo(dtype).max


class _Padded(np.ndarray):
    """An array with ``x.at(i, j, outside=v)``."""

    def __new__(cls, array: np.ndarray) -> _Padded:
        return array.view(cls)

    def __getitem__(self, where: Any) -> Any:
        where = where if isinstance(where, tuple) else (where,)
        assert all(0 <= k < n for k, n in zip(where, self.shape, strict=True)), where
        return np.asarray(self)[where]

    def at(self, *where: int, outside: Any) -> Any:
        """The element, or ``outside``."""
        if all(0 <= k < n for k, n in zip(where, self.shape, strict=True)):
            return self[where]
        return self.dtype.type(outside)


# ------------------------------------------------------------------------------ names of formulas
def _cast(dtype: Any, x: Any) -> Any:
    return np.asarray(x).astype(dtype)[()]


def _cast_unsigned(dtype: Any, x: Any) -> Any:
    source, target = np.asarray(x), np.dtype(dtype)
    if "b" in (source.dtype.kind, target.kind):
        return _cast(dtype, x)
    if source.dtype.kind == "i":
        source = source.view(f"u{source.itemsize}")
    if target.kind == "i":
        return source.astype(f"u{target.itemsize}").view(target)[()]
    return source.astype(target)[()]


def _as_unsigned(function: Any) -> Any:
    def called(a: Any, b: Any) -> Any:
        if np.asarray(a).dtype.kind == "b":
            return function(a, b)
        dtype = np.asarray(a).dtype
        wide = [np.asarray(x).astype(dtype).view(f"u{dtype.itemsize}") for x in (a, b)]
        return np.asarray(function(*wide)).view(dtype)[()]

    return called


def _divide(a: Any, b: Any) -> Any:
    if np.asarray(a).dtype.kind not in "iu":
        return a / b
    dtype = np.asarray(a).dtype
    quotient = 0 if b == 0 else abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1)
    return np.asarray(quotient & (2 ** (8 * dtype.itemsize) - 1), np.uint64).astype(dtype)[()]


def _round(x: Any) -> Any:
    whole = np.trunc(x)
    return whole + np.copysign(1, x) if abs(x - whole) >= 0.5 else whole


def _where(condition: Any, a: Any, b: Any) -> Any:
    chosen: np.ndarray = np.asarray(np.where(condition, a, b))
    return chosen[()]


class _Index:
    point: Mapping[str, int] = {}

    def __call__(self, expression: Any) -> Any:
        value = eval(expression, dict(self.point)) if isinstance(expression, str) else expression
        return np.int64(value)


def _erf(x: Any) -> Any:
    import math

    return np.asarray(x).dtype.type(math.erf(x))


_FUNCTIONS: dict[str, Any] = {
    "cast": _cast,
    "cast_unsigned": _cast_unsigned,
    "const": lambda dtype, number: np.asarray(number).astype(dtype)[()],
    "index": _Index(),
    "where": _where,
    "max": np.maximum,
    "min": np.minimum,
    "max_unsigned": _as_unsigned(np.maximum),
    "min_unsigned": _as_unsigned(np.minimum),
    "div": _divide,
    "div_unsigned": _as_unsigned(np.floor_divide),
    "sub": lambda a, b: a - b,
    "round": _round,
    "ceil": np.ceil,
    "rsqrt": lambda x: np.asarray(x).dtype.type(1) / np.sqrt(x),
    "reciprocal": lambda x: np.asarray(x).dtype.type(1) / x,
    "erf": _erf,
    "powf": np.power,
}
