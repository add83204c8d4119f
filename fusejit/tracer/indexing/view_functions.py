"""Views that move no data: permuted and flipped axes, new axes, broadcasts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.types import Kind
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.creation import array_from, shape_argument
from fusejit.tracer.ops.elementwise_op import copy_of, require_extents
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.broadcasting import broadcast, broadcast_map
from fusejit.tracer.values.operand_types import operand_of, represented_type


def array_operand(obj: Any) -> TracedArray:
    """The array that a function is given; a Python number as a 0-d array, as NumPy takes it."""
    operand = operand_of(obj)
    if operand.array is not None:
        return operand.array
    made = array_from(obj)
    is_weak = isinstance(operand.token, type) and not issubclass(operand.token, np.generic)
    return made if is_weak else copy_of(made, made.dtype, None, "copy", Kind.SCALAR)


def array_of_scalar(array: TracedArray) -> TracedArray:
    """What NumPy makes of its own scalars before it looks at the shape."""
    if array.kind is Kind.SCALAR:
        return copy_of(array, array.dtype, None, "copy", Kind.ARRAY)
    return array


def with_leading_axes(array: TracedArray, rank: int) -> TracedArray:
    """The array with axes of length 1 in front, to be of this rank at least."""
    missing = rank - array.ndim
    return array[(None,) * missing + (Ellipsis,)] if missing > 0 else array


def target_operand(obj: Any) -> TracedArray:
    """The array that a function stores into: it is one, or NumPy raises."""
    array = operand_of(obj).array
    if array is not None and array.kind is Kind.ARRAY:
        return array
    if issubclass(represented_type(obj), np.generic):  # some functions store into it in vain
        raise needs_python("stores into a number", "store into an array of one number")
    raise numpy_raises("TypeError: the argument to be changed is no array")


def normalize_axis(axis: Any, rank: int) -> int:
    """An axis counted from the first; falls back where NumPy raises AxisError."""
    try:
        index = operator.index(axis)
    except TypeError as error:
        raise numpy_raises(error) from error
    if not -rank <= index < rank:
        raise numpy_raises(f"AxisError: axis {index} is out of bounds for rank {rank}")
    return index % rank


def normalize_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """``axis=`` of a reduction: None, an int or a tuple of ints, as a sorted tuple.

    A 0-d array has an axis 0 here (``PyArray_ConvertMultiAxis`` of NumPy lets it through).
    """
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, bool | np.bool_) or (isinstance(axis, tuple) and bool in map(type, axis)):
        raise numpy_raises("TypeError: an integer is required for the axis")
    if not rank and not isinstance(axis, tuple):
        normalize_axis(axis, 1)
        return ()
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = [normalize_axis(a, rank) for a in given]
    if len(set(axes)) != len(axes):
        raise numpy_raises("ValueError: duplicate value in 'axis'")
    return tuple(sorted(axes))


def permuted(array: TracedArray, axes: tuple[int, ...]) -> TracedArray:
    """Axis ``i`` of the result is axis ``axes[i]`` of the array."""
    if array.kind is Kind.SCALAR:
        return array
    where = {a: i for i, a in enumerate(axes)}
    return array.view(
        IndexingMap.permutation([where[a] for a in range(array.ndim)]),
        tuple(array.extents[a] for a in axes),
    )


@primitive(np.transpose, complex=True)
def transpose(a: Any, axes: Any = None) -> TracedArray:
    """``np.transpose``: the axes permuted, reversed by default."""
    array = array_operand(a)
    if axes is None:
        return permuted(array, tuple(range(array.ndim))[::-1])
    given = [normalize_axis(x, array.ndim) for x in axes]
    if sorted(given) != list(range(array.ndim)):
        raise numpy_raises("ValueError: axes don't match array")
    return permuted(array, tuple(given))


@primitive(np.matrix_transpose, complex=True)
def matrix_transpose(x: Any) -> TracedArray:
    """The last two axes exchanged."""
    return swapaxes(x, -1, -2)


@primitive(np.swapaxes, complex=True)
def swapaxes(a: Any, axis1: Any, axis2: Any) -> TracedArray:
    """``np.swapaxes``."""
    array = array_operand(a)
    axes = list(range(array.ndim))
    first, second = (normalize_axis(x, array.ndim) for x in (axis1, axis2))
    axes[first], axes[second] = axes[second], axes[first]
    return permuted(array, tuple(axes))


@primitive(np.moveaxis, complex=True)
def moveaxis(a: Any, source: Any, destination: Any) -> TracedArray:
    """``np.moveaxis``."""
    array = array_operand(a)

    def listed(axis: Any) -> list[int]:
        is_one = isinstance(axis, TracedArray) and not axis.ndim  # an element
        given = (
            [*axis] if hasattr(type(axis), "__iter__") and not is_one else [axis]
        )  # a range, too
        return [normalize_axis(x, array.ndim) for x in given]

    sources, destinations = listed(source), listed(destination)
    if len(sources) != len(destinations):
        raise numpy_raises("ValueError: `source` and `destination` must have the same length")
    order = [n for n in range(array.ndim) if n not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return permuted(array, tuple(order))


@primitive(np.expand_dims, complex=True)
def expand_dims(a: Any, axis: Any) -> TracedArray:
    """``np.expand_dims``: new axes of length 1."""
    array = array_operand(a)
    given = axis if isinstance(axis, tuple | list) else (axis,)
    rank = array.ndim + len(given)
    new = {normalize_axis(x, rank) for x in given}
    index = tuple(None if k in new else slice(None) for k in range(rank))
    return array[index]


@primitive(np.squeeze, complex=True)
def squeeze(a: Any, axis: Any = None) -> TracedArray:
    """``np.squeeze``: drop axes of length 1."""
    array = array_operand(a)
    decisions = array.trace.decisions
    if axis is None:
        axes = [k for k, e in enumerate(array.extents) if decisions.equal(e, 1, "a squeezed axis")]
    else:
        axes = list(normalize_axes(axis, array.ndim))
        for k in axes:
            if not decisions.equal(
                array.extents[k], 1, "a squeezed axis has length 1", or_raises=True
            ):
                raise numpy_raises("ValueError: cannot select an axis to squeeze out")
    if not axes:
        return array  # the very object, as in NumPy
    index = tuple(0 if k in axes else slice(None) for k in range(array.ndim))
    return array[(*index, Ellipsis)]


@primitive(np.broadcast_to, complex=True)
def broadcast_to(array: Any, shape: Any, subok: Any = False) -> TracedArray:
    """``np.broadcast_to``: a read-only view."""
    source = array_operand(array)
    trace = current_trace()
    extents = shape_argument(shape)
    if source.ndim > len(extents):
        raise numpy_raises("ValueError: input operand has more dimensions than allowed")
    require_extents(broadcast(trace.decisions, [extents, source.extents]), extents)
    result = source.view(broadcast_map(trace.decisions, source.extents, extents), extents)
    result.access = WriteAccess.READ_ONLY
    return result


def kept_axes_map(rank: int, reduced: tuple[int, ...]) -> IndexingMap:
    """From an index of a ``keepdims`` result to one of the result without the reduced axes."""
    kept = [AffineExpr.dim(a) for a in range(rank) if a not in reduced]
    return IndexingMap(rank, tuple(kept))


# ------------------------------------------------------------------------------- flips, new axes
@primitive(np.flip, complex=True)
def flip(m: Any, axis: Any = None) -> TracedArray:
    """``np.flip``: axes run backwards."""
    array = array_operand(m)
    axes = normalize_axes(tuple(axis) if isinstance(axis, list) else axis, array.ndim)
    backwards = slice(None, None, -1)
    return array[tuple(backwards if k in axes else slice(None) for k in range(array.ndim))]


@primitive(np.flipud, complex=True)
def flipud(m: Any) -> TracedArray:
    """``np.flipud``: the first axis runs backwards."""
    array = array_operand(m)
    if not array.ndim:
        raise numpy_raises("ValueError: Input must be >= 1-d.")
    return array[::-1, ...]


@primitive(np.fliplr, complex=True)
def fliplr(m: Any) -> TracedArray:
    """``np.fliplr``: the second axis runs backwards."""
    array = array_operand(m)
    if array.ndim < 2:
        raise numpy_raises("ValueError: Input must be >= 2-d.")
    return array[:, ::-1]


@primitive(np.rot90, complex=True)
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> TracedArray:
    """``np.rot90``: rotate in the plane of two axes, by quarters of a turn."""
    array = array_operand(m)
    given = tuple(axes)
    if len(given) != 2:
        raise numpy_raises("ValueError: len(axes) must be 2.")
    first, second = (normalize_axis(a, array.ndim) for a in given)
    if first == second:
        raise numpy_raises("ValueError: Axes must be different.")
    quarters = operator.index(k) % 4
    if quarters == 0:
        return array[:]
    if quarters == 2:
        return flip(flip(array, first), second)
    order = list(range(array.ndim))
    order[first], order[second] = second, first
    if quarters == 1:
        return permuted(flip(array, second), tuple(order))
    return flip(permuted(array, tuple(order)), second)


@primitive(np.rollaxis, complex=True)
def rollaxis(a: Any, axis: Any, start: Any = 0) -> TracedArray:
    """``np.rollaxis``: an axis moved before another one."""
    array = array_operand(a)
    at = normalize_axis(axis, array.ndim)
    before = operator.index(start)
    before += array.ndim if before < 0 else 0
    if not 0 <= before <= array.ndim:
        raise numpy_raises("AxisError: start is out of bounds")
    before -= at < before
    if at == before:
        return array[...]
    order = [k for k in range(array.ndim) if k != at]
    order.insert(before, at)
    return permuted(array, tuple(order))


def _at_least(arrays: tuple[Any, ...], index_of: Callable[[int], Any]) -> Any:
    made = []
    for obj in arrays:
        array = array_of_scalar(array_operand(obj))
        index = index_of(array.ndim)
        made.append(array if index is None else array[index])
    return made[0] if len(made) == 1 else tuple(made)


_AT_LEAST_2D: dict[int, Any] = {0: (None, None), 1: (None,)}
_AT_LEAST_3D: dict[int, Any] = {
    0: (None, None, None),
    1: (None, slice(None), None),
    2: (slice(None), slice(None), None),
}


@primitive(np.atleast_1d, complex=True)
def atleast_1d(*arys: Any) -> Any:
    """``np.atleast_1d``: the array itself unless it is 0-d."""
    return _at_least(arys, {0: (None,)}.get)


@primitive(np.atleast_2d, complex=True)
def atleast_2d(*arys: Any) -> Any:
    """``np.atleast_2d``: new axes in front."""
    return _at_least(arys, _AT_LEAST_2D.get)


@primitive(np.atleast_3d, complex=True)
def atleast_3d(*arys: Any) -> Any:
    """``np.atleast_3d``: a new last axis for rank 2, one on both sides for rank 1."""
    return _at_least(arys, _AT_LEAST_3D.get)


def same_view(left: TracedArray, right: TracedArray) -> bool:
    """Whether two arrays show the same elements of one storage."""
    canonical = left.trace.decisions.canonical
    return (
        left.storage is right.storage
        and left.map == right.map
        and list(map(canonical, left.extents)) == list(map(canonical, right.extents))
    )
