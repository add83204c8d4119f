"""NumPy with the two liberties that fusejit takes written out, so that programs compare bit by bit.

`numpy_as_written` is NumPy, except that float sums, means and variances add in the order of
`fusejit.ir.interpreter.summation` and that extrema take 0.0 as larger than -0.0.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from fusejit.ir.interpreter.summation import ordered_deviations_along, ordered_sum_along
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS


def _ordered(a: np.ndarray, axis: Any, dtype: np.dtype) -> np.ndarray:
    axes = range(a.ndim) if axis is None else list(np.atleast_1d(axis))
    total = a.astype(dtype)
    if not axes:
        return np.asarray(total + total.dtype.type(0))
    for at in sorted((int(x) % a.ndim for x in axes), reverse=True):
        total = ordered_sum_along(total, at)
    return total


def _like(a: np.ndarray, bits: np.ndarray) -> Any:
    """``bits`` in the shape, with the strides and of the kind of NumPy's own result ``a``."""
    result = np.copy(a, order="K") if isinstance(a, np.ndarray) else np.empty((), bits.dtype)
    result[...] = np.asarray(bits).reshape(result.shape)
    return result if isinstance(a, np.ndarray) else result[()]


def _sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    result = np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims)
    if result.dtype.kind != "f":
        return result
    return _like(result, _ordered(np.asarray(a), axis, result.dtype))


def _mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    result = np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims)
    a = np.asarray(a)
    total = _ordered(a, axis, result.dtype)
    count = np.int64(a.size // max(1, total.size))
    return _like(result, np.true_divide(total, count).astype(result.dtype))


def _var(a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    result = np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)
    a = np.asarray(a)
    axes = list(range(a.ndim)) if axis is None else list(np.atleast_1d(axis))
    if len(axes) == 1 and (a.ndim == 1 or axes[0] % a.ndim < a.ndim - 1):
        squares = ordered_deviations_along(a.astype(result.dtype), axes[0])
    else:
        mean = _mean(a, axis, result.dtype, keepdims=True)
        squares = _ordered(np.square(a - mean), axis, result.dtype)
    count = a.size // max(1, squares.size) - ddof
    return _like(result, np.true_divide(squares, count).astype(result.dtype))


def _std(a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    return np.sqrt(_var(a, axis, dtype, ddof, keepdims))


def _extremum(name: str) -> Any:
    row = SCALAR_OPS[name]

    def extremum(a: Any, b: Any) -> Any:
        plain = row.ufunc(a, b)  # type: ignore[misc]
        if plain.dtype.kind != "f":
            return plain
        operands = (np.asarray(a).astype(plain.dtype), np.asarray(b).astype(plain.dtype))
        return _like(plain, row.evaluate(operands, plain.dtype))

    return extremum


def _reduced_extremum(name: str) -> Any:
    take, pair = getattr(np, name[:3]), _extremum(name)

    def reduce(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        plain = take(a, axis=axis, keepdims=keepdims)
        a = np.asarray(a)
        axes = tuple(range(a.ndim)) if axis is None else tuple(np.atleast_1d(axis) % a.ndim)
        if a.dtype.kind != "f" or not a.size or not axes:
            return plain
        moved = np.moveaxis(a, axes, range(len(axes)))
        moved = moved.reshape(-1, *moved.shape[len(axes) :])
        result = moved[0]
        for row in moved[1:]:
            result = pair(result, row)
        return _like(plain, np.asarray(result + result.dtype.type(0)))

    return reduce


class _NumPyAsWritten(SimpleNamespace):
    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


numpy_as_written = _NumPyAsWritten(
    sum=_sum,
    mean=_mean,
    var=_var,
    std=_std,
    maximum=_extremum("maximum"),
    minimum=_extremum("minimum"),
    max=_reduced_extremum("maximum"),
    min=_reduced_extremum("minimum"),
)
