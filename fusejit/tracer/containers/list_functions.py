"""Functions that make lists: ``sorted``, ``list``, ``a.tolist()``."""

from __future__ import annotations

from typing import Any

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.containers.new_containers import new_list
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.any_list import of_kind
from fusejit.tracer.lists.comparisons import type_in_program
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.program.unrolling import FREE_ITERATIONS
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer


def is_of_kernel(obj: Any) -> bool:
    """Whether an object is a container of the kernel, or what a loop over one runs over."""
    return isinstance(obj, TracedContainer) or (isinstance(obj, Items) and bool(obj.containers))


def is_written_out(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether it is ``sorted``, ``max`` or ``min`` of items that is traced as Python writes it."""
    if len(args) != 1 or not any(function is one for one in (sorted, max, min)):
        return False
    has_rows = isinstance(args[0], TracedArray) and args[0].ndim > 0
    return has_rows or isinstance(args[0], Items | TracedContainer)


@primitive(sorted, complex=True)
def _sorted(*args: Any, **kwargs: Any) -> Any:
    if not is_written_out(sorted, args):
        return NotImplemented
    items = args[0]
    if isinstance(items, TracedContainer) and kwargs.get("key") is None:
        items = items.in_any_order()
    return current_trace().inlined(list_methods.ordered, (items,), kwargs)


@primitive(list, complex=True)
def _list(*args: Any, **kwargs: Any) -> Any:
    items = args[0] if args else ()
    is_row = isinstance(items, TracedArray) and items.ndim == 1
    is_known = isinstance(items, Items | TracedContainer | range | tuple) or is_row
    if len(args) > 1 or kwargs or not is_known:
        return NotImplemented
    trace = current_trace()
    if is_of_kernel(items) or _is_long(items):
        return trace.inlined(list_methods.copied, args)
    return new_list(trace, items, is_changed=isinstance(items, Items))


@primitive(tuple, complex=True)
def _tuple(*args: Any, **kwargs: Any) -> Any:
    if len(args) != 1 or kwargs or not is_of_kernel(args[0]):
        return NotImplemented
    if type_in_program(args[0]) is tuple:
        return args[0]
    return of_kind(current_trace().inlined(list_methods.copied, args), tuple)


def _is_long(obj: Any) -> bool:
    """Whether it is an array whose list is the kernel's: Python's own is made for one length."""
    if not isinstance(obj, TracedArray):
        return False
    return obj.trace.decisions.hint(obj.extents[0]) > FREE_ITERATIONS


_LISTS_OF_RANK = (list_methods.number, list_methods.numbers, list_methods.rows_of_numbers)


def tolist(array: TracedArray) -> Any:
    """``a.tolist()``."""
    if array.ndim >= len(_LISTS_OF_RANK):
        raise needs_python("makes lists of an array of more than two dims", MOVE_OUTSIDE)
    return array.trace.inlined(_LISTS_OF_RANK[array.ndim], (array,))
