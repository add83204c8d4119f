"""Slices whose step only the kernel knows: ``x[p::p]`` in a loop over ``p``.

No affine map has a step that varies, so the elements are picked by an array of integers, as by
``x[np.arange(p, len(x), p)]``. NumPy has a view here. Two things make up for the difference: a copy
is not read after a store into the array, and what is stored into all of a copy
(``x[p::p] -= y``) is stored into the array at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing import gathers
from fusejit.tracer.indexing.basic import integer
from fusejit.tracer.indexing.gathers import gather, mark_within_bounds, pick, scatter
from fusejit.tracer.indexing.kernel_indices import (
    affine_index,
    bound_number,
    clamped,
    counted,
    require_positive,
    scalar,
)
from fusejit.tracer.ops.elementwise_op import emit_elementwise
from fusejit.tracer.ops.stores import require_writeable
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray

_WHAT = "a slice whose step differs between iterations, beside other indices than slices"


def getitem(array: TracedArray, index: tuple[Any, ...]) -> TracedArray:
    """``array[index]``: a copy that stands for NumPy's view."""
    integers = _integers(array, index)
    picked = pick(array, index, integers)
    result = gather(array, picked, "strided")
    result.storage.note_copied(array.storage.root, may_leave=False, why="a strided view")
    result.storage.copy_source = _CopySource(array, integers, picked)
    return result


def setitem(array: TracedArray, index: tuple[Any, ...], value: Any) -> None:
    """``array[index] = value``."""
    require_writeable(array)
    integers = _integers(array, index)
    places = (
        value.storage.copy_source if isinstance(value, TracedArray) and value.is_whole else None
    )
    if places is not None and places.are(array, integers):
        return  # `x[i] += y` stores into x[i] first and then assigns it to itself
    gathers.setitem(array, index, integers, value)


class KnownProgressions(dict[Any, TracedArray]):
    """Places of the slices of one trace whose step only the kernel knows."""


class _CopySource:
    """Where the elements of a copy come from."""

    def __init__(self, array: TracedArray, integers: list[TracedArray | None], picked: Any) -> None:
        self.array, self.integers, self.picked = array, integers, picked

    def are(self, array: TracedArray, integers: list[TracedArray | None]) -> bool:
        """Whether the same elements of the same array are picked by another index."""
        same = array.storage is self.array.storage and array.map == self.array.map
        return same and all(a is b for a, b in zip(integers, self.integers, strict=True))

    def store(self, copy: TracedArray, value: TracedArray) -> None:
        """Store into the copy what NumPy stores into the view, and into the array as well."""
        require_writeable(self.array)
        storage = copy.storage
        storage.require_unchanged_base()
        scatter(self.array, self.picked, value)
        storage.replace(value.value())
        storage.note_copied(self.array.storage.root, may_leave=False)


def _integers(array: TracedArray, index: tuple[Any, ...]) -> list[TracedArray | None]:
    """For the slice with the step the integers that it stands for, None for the other items."""
    trace = array.trace
    steps = [affine_index(trace, i.step) if isinstance(i, slice) else None for i in index]
    if sum(s is not None for s in steps) > 1 or not all(isinstance(i, slice) for i in index):
        raise unsupported(_WHAT, "write x[::p] first, then the other indices")
    if len(index) > array.ndim:
        return [None] * len(index)  # NumPy raises, and so does what resolves the rest
    return [
        None if s is None else _progression(trace, i, s, array.extents[k])
        for k, (i, s) in enumerate(zip(index, steps, strict=True))
    ]


def _progression(trace: Trace, item: slice, step: AffineExpr, size: AffineExpr) -> TracedArray:
    """``np.arange`` of the indices; the step must be positive.

    Source: ``PySlice_AdjustIndices`` of CPython.
    """
    size = trace.decisions.canonical(size)
    start, stop = (_bound_of(trace, b) for b in (item.start, item.stop))
    key = ("strided", start, stop, step, size)
    known = trace.owned(KnownProgressions).get(key)
    if known is not None and trace.is_open(known.storage.home):
        return known
    require_positive(trace, step)
    Ref = Callable[[AffineExpr], int]

    def bound_or(default: Any, builder: PayloadBuilder, ref: Ref, bound: AffineExpr | None) -> int:
        if bound is None:
            return ref(AffineExpr.of(default))
        return clamped(builder, ref, bound, size, 0, size)

    def first(builder: PayloadBuilder, ref: Ref) -> int:
        return bound_or(0, builder, ref, start)

    def length(builder: PayloadBuilder, ref: Ref) -> int:
        ends = [bound_or(size, builder, ref, stop), bound_or(0, builder, ref, start)]
        return counted(builder, builder.op("subtract", ends, I64), ref(step))

    zero = AffineExpr.const(0)
    begin = bound_number(trace, scalar(trace, "start", I64, first), zero, size)
    count = bound_number(trace, scalar(trace, "length", I64, length), zero, size)

    def place(builder: PayloadBuilder, refs: list[int]) -> int:
        along = builder.op("multiply", [builder.index(AffineExpr.dim(0)), builder.index(step)], I64)
        return builder.op("add", [along, builder.index(begin)], I64)

    made = emit_elementwise("arange", [], [], I64, place, extents=(count,), order=None)
    mark_within_bounds(trace, made, size)
    trace.progressions.add(made.value())
    trace.owned(KnownProgressions)[key] = made
    return made


def _bound_of(trace: Trace, bound: Any) -> AffineExpr | None:
    if bound is None:
        return None
    known = affine_index(trace, bound)
    return integer(bound) if known is None else known
