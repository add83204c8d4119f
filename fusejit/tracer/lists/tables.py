"""Items of Python's in memory of the kernel: a loop over them need not be unrolled."""

from __future__ import annotations

from typing import Any

from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.lists.item_forms import ItemForm, form_of, has_lists
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.locations import current_location

_LONGEST = 256  # each item is stored by an op of its own


def has_one_form(items: Any) -> bool:
    """Whether an object is a list or tuple, not a long one, of numbers or of alike tuples."""
    if type(items) not in (list, tuple) or not 0 < len(items) <= _LONGEST:
        return False
    form: ItemForm | None = form_of(items[0])
    for item in items:
        other = form_of(item)
        form = None if form is None or other is None else form.joined(other)
    return form is not None and not has_lists(form)


def table_of(items: Any, takes_arrays: bool = False) -> TracedList:
    """The items in memory of the kernel."""
    trace = current_trace()
    key = trace.visit(("table", current_location()))
    made = TracedList(trace, key, takes_arrays=takes_arrays)
    for item in items:
        made.append(item)
    return made
