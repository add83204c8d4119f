"""Differences of neighbours: ``diff``, ``ediff1d``, ``gradient``, ``trapezoid``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import broadcast_to, normalize_axes, normalize_axis
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.arrays.joins import concatenate
from fusejit.tracer.np.arrays.like_functions import empty_like
from fusejit.tracer.np.arrays.parts import new_array, section, store
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc
from fusejit.tracer.np.reductions.over_axes import NO_VALUE, sum_of
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, F64, operand_of
from fusejit.tracer.values.traced_primitives import primitive_of


def along(array: TracedArray, axis: int, item: Any) -> TracedArray:
    """``array[.., item, ..]``, the item being that of one axis."""
    return array[(slice(None),) * axis + (item, Ellipsis)]


@primitive_of("a prepend append", np.diff, complex=True)
def diff(
    a: Any, n: Any = 1, axis: Any = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> Any:
    """``np.diff``: ``a[i + 1] - a[i]``, ``n`` times over; of bools ``!=``."""
    times = operator.index(n)
    if not times:
        return a
    if times < 0:
        raise numpy_raises("ValueError: order must be non-negative")
    array = array_from(a)
    if not array.ndim:
        raise numpy_raises("ValueError: diff requires input that is at least one dimensional")
    at = normalize_axis(axis, array.ndim)
    ends = [None if e is NO_VALUE else _end(array, at, e) for e in (prepend, append)]
    combined = [x for x in (ends[0], array, ends[1]) if x is not None]
    if len(combined) > 1:
        array = concatenate(combined, at)
    ufunc: np.ufunc = np.not_equal if array.dtype == BOOL else np.subtract
    for _ in range(times):
        pair = along(array, at, slice(1, None)), along(array, at, slice(None, -1))
        array = apply_ufunc(ufunc, pair)
    return array


def _end(array: TracedArray, axis: int, values: Any) -> TracedArray:
    end = array_from(values)
    if end.ndim:
        return end
    shape = list(array.shape)
    shape[axis] = 1
    return broadcast_to(end, tuple(shape))


@primitive_of("ary to_end to_begin", np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """``np.ediff1d``: differences of the flattened array, with numbers in front and behind."""
    ravel = PRIMITIVES[np.ravel]
    flat = ravel(array_from(ary))
    if to_end is None and to_begin is None:
        return apply_ufunc(np.subtract, (flat[1:], flat[:-1]))
    if flat.dtype == BOOL:
        raise numpy_raises("TypeError: numpy boolean subtract")
    ends: list[TracedArray | None] = []
    for values in (to_begin, to_end):
        if values is None:
            ends.append(None)
            continue
        array = array_from(values)
        if not np.can_cast(array.dtype, flat.dtype, "same_kind"):
            raise numpy_raises("TypeError: dtype of an end must be compatible with input `ary`")
        ends.append(ravel(array))
    middle = apply_ufunc(np.subtract, (flat[1:], flat[:-1]))
    parts = [x for x in (ends[0], middle, ends[1]) if x is not None]
    trace = flat.trace
    starts = [trace.decisions.canonical(flat.extents[0] * 0)]
    for part in parts:
        starts.append(starts[-1] + part.extents[0])
    result = new_array((starts[-1],), flat.dtype)
    for start, part in zip(starts, parts, strict=False):
        store(section(result, 0, start, part.extents[0]), part)
    return result


@primitive_of("f varargs", np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """``np.gradient``: central differences, one-sided ones at the ends; uniform spacing.

    Source: ``numpy.lib._function_base_impl.gradient``.
    """
    array = array_from(f)
    axes = normalize_axes(axis, array.ndim)
    if isinstance(axis, tuple):
        axes = tuple(normalize_axis(a, array.ndim) for a in axis)
    spacings = _spacings(varargs, len(axes))
    if edge_order not in (1, 2):
        raise numpy_raises("ValueError: 'edge_order' greater than 2 not supported")
    dtype = array.dtype if array.dtype.kind == "f" else F64
    if array.dtype.kind in "iu":
        array = astype(array, F64)
    results = [
        _gradient(array, a, dx, edge_order, dtype) for a, dx in zip(axes, spacings, strict=True)
    ]
    return results[0] if len(axes) == 1 else tuple(results)


def _spacings(varargs: tuple[Any, ...], count: int) -> list[Any]:
    if any(operand_of(v).extents for v in varargs):
        what = "np.gradient with coordinates is not traced: NumPy looks whether they are uniform"
        raise unsupported(what, "pass the spacing as a number, or write the differences out")
    if not varargs:
        return [1.0] * count
    if len(varargs) == 1:
        return list(varargs) * count
    if len(varargs) != count:
        raise numpy_raises("TypeError: invalid number of arguments")
    return list(varargs)


def _gradient(array: TracedArray, axis: int, dx: Any, edge_order: int, dtype: np.dtype) -> Any:
    decisions = array.trace.decisions
    if not decisions.nonnegative(array.extents[axis] - (edge_order + 1), "enough elements"):
        raise numpy_raises("ValueError: Shape of array too small to calculate a gradient")

    def at(item: Any) -> Any:
        return along(array, axis, item)

    out = empty_like(array, dtype=dtype)
    inner = (at(slice(2, None)) - at(slice(None, -2))) / (2.0 * dx)
    if edge_order == 1:
        first = (at(1) - at(0)) / dx
        last = (at(-1) - at(-2)) / dx
    else:
        first = (-1.5 / dx) * at(0) + (2.0 / dx) * at(1) + (-0.5 / dx) * at(2)
        last = (0.5 / dx) * at(-3) + (-2.0 / dx) * at(-2) + (1.5 / dx) * at(-1)
    for item, value in ((slice(1, -1), inner), (0, first), (-1, last)):
        out[(slice(None),) * axis + (item,)] = value
    return out


@primitive_of("y x dx", np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """``np.trapezoid``: ``sum_i (x[i + 1] - x[i]) (y[i + 1] + y[i]) / 2``."""
    array = array_from(y)
    at = normalize_axis(axis, array.ndim)
    width = dx
    if x is not None:
        points = array_from(x)
        if points.ndim == 1:
            width = diff(points)
            index = tuple(slice(None) if k == at else None for k in range(array.ndim))
            width = width[index]
        else:
            width = diff(points, axis=axis)
    ends = along(array, at, slice(1, None)), along(array, at, slice(None, -1))
    pairs: Any = apply_ufunc(np.add, ends)
    return sum_of(width * pairs / 2.0, at)
