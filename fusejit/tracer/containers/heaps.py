"""``heapq`` on lists that kernels change, as its own source in Python has it (``Lib/heapq.py``)."""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.lists.comparisons import comes_before
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import contains_traced


def _push(heap, item):
    heap.append(item)
    at = len(heap) - 1
    while at > 0 and comes_before(item, heap[(at - 1) >> 1], False):
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = item


def _sift(heap, start):
    """Move the item at ``start`` down to a leaf, then up again to its place."""
    end, at, item = len(heap), start, heap[start]
    child = 2 * at + 1
    while child < end:
        if child + 1 < end and not comes_before(heap[child], heap[child + 1], False):
            child += 1
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    while at > start and comes_before(item, heap[(at - 1) >> 1], False):
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = item


def _pop(heap):
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    sift(heap, 0)
    return first


def _replace(heap, item):
    if len(heap) == 0:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    sift(heap, 0)
    return first


def _push_pop(heap, item):
    if len(heap) > 0 and comes_before(heap[0], item, False):
        first = heap[0]
        heap[0] = item
        sift(heap, 0)
        return first
    return item


def _heapify(heap):
    for k in range(len(heap) // 2):
        sift(heap, len(heap) // 2 - 1 - k)


def sift(heap, start):
    """See `_sift`, which is traced in its place."""


@primitive(sift)
def _sifted(heap: Any, start: Any) -> Any:
    return current_trace().inlined(_sift, (heap, start))


def _traced(function: Callable[..., Any], as_python: Callable[..., Any]) -> None:
    """A function of `heapq` on a list of the kernel."""

    @primitive(function, complex=True)
    def call(heap: Any, *items: Any) -> Any:
        trace = current_trace()
        if not isinstance(heap, TracedContainer):
            if contains_traced([heap, *items]):
                trace.owned(Displays).require_traced(trace, heap)
            trace.owned(Displays).change(trace, heap)
            return NotImplemented
        return trace.inlined(as_python, (heap, *items))

    call.__name__ = function.__name__


_traced(heapq.heappush, _push)
_traced(heapq.heappop, _pop)
_traced(heapq.heapreplace, _replace)
_traced(heapq.heappushpop, _push_pop)
_traced(heapq.heapify, _heapify)
