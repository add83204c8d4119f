"""The lists that the text of a function makes: Python's, unless a loop was seen to change them."""

from __future__ import annotations

from typing import Any

from fusejit.tracer.builder.trace import running_trace
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.displays import Display, Displays
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.kernel_numbers import is_number, needs_kernel
from fusejit.tracer.program.locations import current_location


def displayed(place: tuple[Any, ...], items: list[Any]) -> list[Any] | TracedList:
    """The list of a display."""
    trace = running_trace()
    if trace is None:
        return items
    key = trace.visit(("list", *place, current_location()))
    if trace.table.get((key, "list")) is not True:
        trace.owned(Displays).note(Display(items, key, trace.block))
        return items
    made = TracedList(trace, key)
    for item in items:
        made.append(item)
    return made


def repeated(place: tuple[Any, ...], items: Any, count: Any) -> Any:
    """``[x, y] * count``: Python's list, unless the count is known only in the kernel."""
    trace = running_trace()
    if trace is None or type(items) is not list:
        return items * count
    key = trace.visit(("repeated", *place, current_location()))
    known = trace.table.get((key, "list"))
    if known is None and type(count) is not int and (trace.regions or needs_kernel(count)):
        known = trace.table[key, "list"] = True
    if known is not True or not is_number(count):
        made = items * count
        if type(made) is list:
            trace.owned(Displays).note(Display(made, key, trace.block))
        return made
    filled = TracedList(trace, key)
    if len(items) == 1:
        filled.fill(items[0], count)
    else:
        trace.inlined(list_methods.extended, (filled, items))
        filled = trace.inlined(list_methods.repeated, (filled, count))
    return filled
