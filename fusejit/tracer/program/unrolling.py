"""How much of a graph Python's own data may become: loops traced one by one, items of containers.

A loop over a list, a text or a generator, and one that cannot be traced, is unrolled while it is
short. Beyond that Python runs it: the graph would be large, and made for this one number of
iterations. A list or dictionary from outside is read item by item, each an input with its checks;
one of many items is Python's too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fusejit.ir.raw_reads import is_a
from fusejit.tracer.program.active_trace import active_trace
from fusejit.tracer.program.callables import is_named_tuple
from fusejit.tracer.program.locations import for_program, needs_python

FREE_ITERATIONS = 16  # a loop of so many may have a long body
OPS_OF_MANY = 100  # ops and inputs of a loop with more iterations
OPS_OF_FEW = 400  # of any loop
MAX_ITEMS = 64  # of a container from outside, with those of the containers in it
MAX_ATTRIBUTE_ITEMS = 1024  # the same of one in an attribute, which loops read by their length
NUMBERS_PER_ARRAY = 16
MAX_PER_PART = 16  # the same of one that a segment is given: it may grow from call to call


class UnrollBudget:
    """What the iterations of one loop have added to the graph so far."""

    def __init__(self, trace: Any) -> None:
        self._trace = trace
        self._start = trace.num_traced()
        self._iterations = 0

    def is_spent(self) -> bool:
        """Whether the loop has grown too long for another iteration."""
        added = self._trace.num_traced() - self._start
        return bool(added > (OPS_OF_FEW if self._iterations < FREE_ITERATIONS else OPS_OF_MANY))

    def spend(self) -> None:
        """Before another iteration: end the trace if the loop has grown too long."""
        if self._trace.is_bounded and self.is_spent():
            loop = f"a loop of more than {self._iterations} iterations"
            what = f"{loop} is too long to be compiled iteration by iteration"
            raise needs_python(what, "loop over a range or an array that it does not change")
        self._iterations += 1


def within_budget(iterable: Iterable[Any]) -> Iterable[Any]:
    """The items of what a comprehension of the program runs over, as many as may be unrolled."""
    trace = active_trace()
    return iterable if trace is None else _budgeted(native_iter(iterable), UnrollBudget(trace))


@for_program
def native_iter(iterable: Iterable[Any]) -> Iterator[Any]:
    """What a loop of the program takes items from."""
    return iter(iterable)


def _budgeted(items: Iterator[Any], budget: UnrollBudget) -> Iterator[Any]:
    for item in items:
        budget.spend()
        yield item


def is_large_attribute(container: Any) -> bool:
    """Whether a list, tuple or dictionary that an object holds has too many items.

    An array takes as long to compile as many numbers.
    """
    left, pending, seen = MAX_ATTRIBUTE_ITEMS, [container], {id(container)}
    while pending and left >= 0:
        one = pending.pop()
        if len(one) > left:
            return True
        left -= len(one)
        for item in one.values() if type(one) is dict else one:
            if is_a(item, np.ndarray):
                left -= NUMBERS_PER_ARRAY - 1
            elif type(item) in (list, tuple, dict) and id(item) not in seen:
                seen.add(id(item))
                pending.append(item)
    return left < 0


def is_large(container: Any, *, is_segment: bool) -> bool:
    """Whether a list, tuple or dictionary has too many items to be inputs of a graph."""
    left = MAX_PER_PART if is_segment else MAX_ITEMS
    pending = [container]
    while pending and left >= 0:
        one = pending.pop()
        if type(one) in (list, tuple, dict) or is_named_tuple(one):
            left -= len(one)
            pending += [] if left < 0 else one.values() if type(one) is dict else one
    return left < 0
