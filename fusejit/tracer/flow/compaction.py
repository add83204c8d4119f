"""``x[mask]`` as an array of its own inside a loop: the elements that are true, moved together.

The places of the true elements are found by a loop that is written out below and traced like one
of the program; how many there are is a symbol of the block. Arrays under one mask share both, and
what is read at the places is a gather like any other. Outside of loops NumPy makes the array, and
the launcher reads its size (`fusejit.tracer.host.host_call_tracing`).
"""

from __future__ import annotations

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.values import Value
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.shrinking import number_of_rows
from fusejit.tracer.host import host_call_tracing
from fusejit.tracer.indexing import gathers
from fusejit.tracer.indexing.gathers import mark_within_bounds
from fusejit.tracer.indexing.kernel_indices import between
from fusejit.tracer.np.arrays import mask_indices
from fusejit.tracer.ops.changing_extents import rows
from fusejit.tracer.ops.kernel_numbers import int_value, is_kernel_number
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.masked import is_same_value


class MaskIndices(list[tuple[Value, TracedArray]]):
    """Places of true elements, by mask, inside loops of one trace."""


def select(array: TracedArray, mask: TracedArray) -> TracedArray:
    """``array[mask]`` as an array of its own."""
    if not _is_in_loop(array.trace) or array.ndim != 1:
        return host_call_tracing.select(array, mask)
    return _take_true(array, mask)


def select_rows(array: TracedArray, mask: TracedArray) -> TracedArray:
    """``array[mask]`` for a mask of fewer axes, as an array of its own."""
    if not _is_in_loop(array.trace) or mask.ndim != 1:
        return array[mask_indices.positions(mask)]
    return _take_true(array, mask)


def _is_in_loop(trace: Trace) -> bool:
    return any(region.repeats for region in trace.regions)


def _take_true(array: TracedArray, mask: TracedArray) -> TracedArray:
    """The elements, or rows, where a mask of one axis is true."""
    trace = array.trace
    places = next(
        (p for m, p in trace.owned(MaskIndices) if is_same_value(trace, m, mask.value())), None
    )
    if places is None or not trace.is_open(places.storage.home):
        places = _true_indices(mask)
        trace.owned(MaskIndices).insert(0, (mask.value(), places))
    mark_within_bounds(trace, places, array.extents[0])
    behind = (slice(None),) * (array.ndim - 1)
    chosen = gathers.getitem(array, (places, *behind), [places, *(None for _ in behind)])
    return chosen


def _true_indices(mask: TracedArray) -> TracedArray:
    """The subscripts of the true elements of a mask, in order."""
    trace = mask.trace
    found, count = trace.inlined(_indices, (mask,))
    length = AffineExpr.const(0)
    if is_kernel_number(count):
        length = number_of_rows(trace, int_value(count), mask.extents[0])
    return rows(found, (length,))


def _indices(mask):  # type: ignore[no-untyped-def]
    found = np.empty(len(mask), np.int64)
    count = 0
    for i in range(len(mask)):
        found[between(count, 0, i)] = i  # the next true element takes the place of a false one
        count += int(mask[i])
    return found, count
