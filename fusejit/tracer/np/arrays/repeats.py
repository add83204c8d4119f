"""``tile`` and ``repeat``: a copy with broadcast axes between the others, then merged."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.reshape_functions import require_elements, reshape_method
from fusejit.tracer.indexing.view_functions import normalize_axis, with_leading_axes
from fusejit.tracer.ops.elementwise_op import array_of_number, copy_of
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number, as_affine
from fusejit.tracer.values.traced_primitives import primitive_of


def _count(number: Any, name: str) -> AffineExpr:
    """A number of repetitions, which is not negative."""
    if isinstance(number, TracedArray):
        what = f"np.{name} by an element of an array has a size that depends on the data"
        raise unsupported(what, "pass the number of repetitions as a Python int")
    count = as_affine(number, "TypeError: {0!r} is not a number of repetitions")
    if not current_trace().decisions.nonnegative(count, "a number of repetitions"):
        raise numpy_raises("ValueError: repeats may not contain negative values.")
    return count


def _spread(array: TracedArray, axes: list[int | AffineExpr], shape: list[Any]) -> TracedArray:
    """A copy of shape ``shape`` of a view whose axes are axes of the array (int) or new ones."""
    extents = tuple(array.extents[a] if isinstance(a, int) else a for a in axes)
    place = {a: k for k, a in enumerate(axes) if isinstance(a, int)}
    results = tuple(AffineExpr.dim(place[k]) for k in range(array.ndim))
    spread = array.view(IndexingMap(len(axes), results), extents)
    fresh = copy_of(spread, array.dtype, None, "repeat", Kind.ARRAY)
    result: TracedArray = reshape_method(fresh, tuple(shape))
    return result


@primitive_of("A reps", np.tile, complex=True)
def tile(A: Any, reps: Any) -> Any:
    """``np.tile``: the whole array again and again along each axis."""
    array = array_from(A)
    is_one = isinstance(reps, SymbolicNumber | TracedArray) or not np.iterable(reps)
    given = [reps] if is_one else list(reps)  # NumPy's tuple(reps), of members of a Flag too
    counts = [_count(r, "tile") for r in given]
    decisions = array.trace.decisions
    rank = array.ndim
    array = with_leading_axes(array_of_number(array), len(counts))
    counts = [AffineExpr.const(1)] * (array.ndim - len(counts)) + counts
    once = [decisions.equal(c, 1, "an axis that is not tiled") for c in counts]
    if all(once):
        copied = copy_of(array, array.dtype, array.sorted_order(), "copy", Kind.ARRAY)
        return copied.as_view() if array.ndim > rank else copied
    require_elements(array)  # or NumPy repeats nothing, and hands out the array itself
    axes: list[int | AffineExpr] = []
    for k, count in enumerate(counts):
        axes += [k] if once[k] else [count, k]
    times: list[Any] = [affine_number(array.trace, c) for c in counts]
    shape = [size * count for size, count in zip(array.shape, times, strict=True)]
    return _spread(array, axes, shape)


@primitive_of("a repeats", np.repeat, complex=True)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """``np.repeat`` by one number: each element several times."""
    if isinstance(repeats, list | tuple | np.ndarray | TracedArray):
        what = "np.repeat with a number of its own for each element is not traced"
        raise unsupported(what, "repeat outside the decorated function")
    count = _count(repeats, "repeat")
    array = with_leading_axes(array_of_number(array_from(a)), 1)
    if axis is None:
        array, axis = PRIMITIVES[np.ravel](array), 0
    at = normalize_axis(axis, array.ndim)
    axes: list[int | AffineExpr] = list(range(array.ndim))
    axes.insert(at + 1, count)
    shape: list[Any] = list(array.shape)
    shape[at] = shape[at] * affine_number(array.trace, count)
    return _spread(array, axes, shape).as_owner()
