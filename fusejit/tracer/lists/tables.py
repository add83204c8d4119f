"""Items of Python's in memory of the kernel: a loop over them need not be unrolled."""

from __future__ import annotations

from typing import Any

from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.lists.any_list import of_kind
from fusejit.tracer.lists.comparisons import type_in_program
from fusejit.tracer.lists.item_forms import ItemForm, NumberForm, form_of, has_lists
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


def is_lengthened(before: Any, now: Any) -> bool:
    """Whether a name held a tuple of numbers, and now holds a tuple of another length."""
    forms = map(form_of, before) if type(before) is tuple else (None,)
    return type_in_program(now) is tuple and all(isinstance(form, NumberForm) for form in forms)


def long_tuple(items: tuple[Any, ...]) -> Any:
    """A tuple of Python's, as one whose length only the kernel knows."""
    trace = current_trace()
    made = TracedList(trace, trace.visit(("tuple", current_location())))
    for item in items:
        made.append(item)
    return of_kind(made, tuple)


def table_of(items: Any, takes_arrays: bool = False) -> TracedList:
    """The items in memory of the kernel."""
    trace = current_trace()
    key = trace.visit(("table", current_location()))
    made = TracedList(trace, key, takes_arrays=takes_arrays)
    for item in items:
        made.append(item)
    return made
