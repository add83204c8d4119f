"""The parts of tuples that are items of lists: numbers, arrays, objects and lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.lists.item_forms import ItemForm, TupleForm
from fusejit.tracer.ops.union_types import narrowed
from fusejit.tracer.values.containers import is_tuple, tuple_of
from fusejit.tracer.values.pooled_objects import PooledObjects
from fusejit.tracer.values.union_scalar import OptionalTuple


def leaves(form: ItemForm, first: int = 0) -> Iterator[tuple[int, ItemForm]]:
    """The forms of the parts of a tuple, and of the tuples in it, with the first column of each."""
    if not isinstance(form, TupleForm):
        yield first, form
        return
    for part in form.parts:
        yield from leaves(part, first)
        first += len(part.types())


def parts_of(form: ItemForm, item: Any) -> Iterator[Any]:
    """What an item holds for each of the `leaves` of its form."""
    if not isinstance(form, TupleForm):
        yield item
        return
    for part, one in zip(form.parts, narrowed(item), strict=True):
        yield from parts_of(part, one)


def item_of(form: ItemForm, part: Iterator[Any]) -> Any:
    """The item of a form of what it holds for each of the `leaves`."""
    if not isinstance(form, TupleForm):
        return next(part)
    return tuple_of(form.type, [item_of(one, part) for one in form.parts])


def request_pools(trace: Trace, item: Any) -> None:
    """Have the objects that an item is made of have numbers, if they may."""
    if isinstance(item, OptionalTuple):
        item = item.items
    for one in item if is_tuple(item) else (item,):
        if is_tuple(one):
            request_pools(trace, one)
        else:
            trace.owned(PooledObjects).request(trace, one)
