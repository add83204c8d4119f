"""``bisect`` on lists that kernels change, as its source in Python has it (``Lib/bisect.py``)."""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.lists.comparisons import comes_before
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import contains_traced


def _left(items, x, lo=0, hi=None):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(items)
    while lo < hi:
        middle = (lo + hi) // 2
        if comes_before(items[middle], x, False):
            lo = middle + 1
        else:
            hi = middle
    return lo


def _right(items, x, lo=0, hi=None):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(items)
    while lo < hi:
        middle = (lo + hi) // 2
        if comes_before(x, items[middle], False):
            hi = middle
        else:
            lo = middle + 1
    return lo


def _insert_left(items, x, lo=0, hi=None):
    items.insert(bisect.bisect_left(items, x, lo, hi), x)


def _insert_right(items, x, lo=0, hi=None):
    items.insert(bisect.bisect_right(items, x, lo, hi), x)


def _traced(function: Callable[..., Any], as_python: Callable[..., Any]) -> None:
    """A function of `bisect` on a list of the kernel."""

    @primitive(function, complex=True)
    def call(items: Any, x: Any, *more: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        is_known = isinstance(items, TracedContainer | TracedArray)
        if not is_known or "key" in kwargs:
            if contains_traced([items, x, *more]):
                trace.owned(Displays).require_traced(trace, items)
            if function in (bisect.insort_left, bisect.insort_right):
                trace.owned(Displays).change(trace, items)
            return NotImplemented
        return trace.inlined(as_python, (items, x, *more), kwargs)

    call.__name__ = function.__name__


_traced(bisect.bisect_left, _left)
_traced(bisect.bisect_right, _right)
_traced(bisect.insort_left, _insert_left)
_traced(bisect.insort_right, _insert_right)
