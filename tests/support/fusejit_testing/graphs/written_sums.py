"""NumPy with the liberty that fusejit takes written out, so that programs compare bit by bit.

`numpy_as_written` is NumPy, except that extrema take 0.0 as larger than -0.0.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS


def _like(a: np.ndarray, bits: np.ndarray) -> Any:
    """``bits`` in the shape, with the strides and of the kind of NumPy's own result ``a``."""
    result = np.copy(a, order="K") if isinstance(a, np.ndarray) else np.empty((), bits.dtype)
    result[...] = np.asarray(bits).reshape(result.shape)
    return result if isinstance(a, np.ndarray) else result[()]


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
    maximum=_extremum("maximum"),
    minimum=_extremum("minimum"),
    max=_reduced_extremum("maximum"),
    min=_reduced_extremum("minimum"),
)
