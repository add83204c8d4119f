"""``np.linalg.norm``, but for those that need singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import normalize_axis
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc
from fusejit.tracer.np.reductions.over_axes import max_of, min_of, sum_of
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import F64
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive_of("x", np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.linalg.norm``: ``sqrt(sum(x * x))``, or sums and extrema of magnitudes.

    Source: ``numpy.linalg._linalg.norm``.
    """
    array = array_from(x)
    if array.dtype.kind != "f":
        array = astype(array, F64)
    rank = array.ndim
    if axis is None:
        is_2_norm = ord is None or (ord in ("f", "fro") and rank == 2) or (ord == 2 and rank == 1)
        if is_2_norm:
            return _kept(_root_of_squares(array, None, keepdims), keepdims)
        axes: tuple[int, ...] = tuple(range(rank))
    else:
        given = axis if isinstance(axis, tuple) else (axis,)
        axes = tuple(normalize_axis(a, rank) for a in given)
    if len(axes) == 1:
        return _of_vectors(array, ord, axes[0], keepdims)
    if len(axes) == 2 and axes[0] != axes[1]:
        return _of_matrices(array, ord, axes, keepdims)
    raise numpy_raises("ValueError: Improper number of dimensions to norm.")


def _root_of_squares(array: TracedArray, axes: Any, keepdims: Any) -> TracedArray:
    squares = apply_ufunc(np.multiply, (array, array))
    return apply_ufunc(np.sqrt, (sum_of(squares, axes, None, None, bool(keepdims)),))


def _of_vectors(array: TracedArray, ord: Any, axis: int, keepdims: Any) -> TracedArray:
    keep = bool(keepdims)
    if ord is None or ord == 2:
        return _root_of_squares(array, axis, keep)
    if isinstance(ord, str):
        raise numpy_raises(f"ValueError: Invalid norm order '{ord}' for vectors")
    if ord == 0:
        counted = astype(apply_ufunc(np.not_equal, (array, 0)), array.dtype)
        return sum_of(counted, axis, None, None, keep)
    size = apply_ufunc(np.absolute, (array,))
    if ord in (np.inf, -np.inf):
        return (max_of if ord > 0 else min_of)(size, axis, None, keep)
    if ord == 1:
        return sum_of(size, axis, None, None, keep)
    powers = astype(apply_ufunc(np.power, (size, ord)), size.dtype, copy=False)
    total = sum_of(powers, axis, None, None, keep)  # NumPy's `size **= ord` keeps the dtype
    return apply_ufunc(np.power, (total, np.reciprocal(ord, dtype=array.dtype)))


def _of_matrices(array: TracedArray, ord: Any, axes: tuple[int, ...], keepdims: Any) -> TracedArray:
    if ord in (None, "fro", "f"):
        return _kept(_root_of_squares(array, axes, keepdims), keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        what = f"np.linalg.norm of matrices with ord={ord!r} needs singular values"
        raise unsupported(what, MOVE_OUTSIDE)
    summed, other = axes if ord in (1, -1) else axes[::-1]
    size = apply_ufunc(np.absolute, (array,))
    totals = sum_of(size, summed, None, None, True)
    extremum = (max_of if ord > 0 else min_of)(totals, other, None, True)
    if keepdims:
        return _kept(extremum, keepdims)
    index = tuple(0 if k in axes else slice(None) for k in range(array.ndim))
    norms: TracedArray = extremum[index]
    return norms.as_owner() if norms.ndim else norms


def _kept(norms: TracedArray, keepdims: Any) -> TracedArray:
    """NumPy reshapes what it has computed, if dims are kept."""
    return norms.as_view() if keepdims else norms
