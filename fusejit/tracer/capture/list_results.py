"""Lists of kernels as results: the memory that the launcher makes them from, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from fusejit.ir.results import ItemColumns, TupleColumns
from fusejit.tracer.lists.aliases import is_shared_pool
from fusejit.tracer.lists.array_items import COPY_IT
from fusejit.tracer.lists.item_forms import ItemForm, ListForm, Place, TupleForm
from fusejit.tracer.lists.item_parts import leaves
from fusejit.tracer.lists.nested_list import NestedList
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.values.array import TracedArray

IN_ANOTHER = "returns a list that is in another one, too", "return a copy"


def memory_of(items: TracedList) -> tuple[TracedArray, ...]:
    """The memory that a result is made from, in the order of `result_columns`."""
    if any(column.storage.are_known for column in items.columns):
        items.leave_to_python("returns a list of arrays that have other names, too", COPY_IT)
    found: list[TracedArray] = []
    for first, leaf in () if items.form is None else leaves(items.form):
        columns = items.columns[first : first + len(leaf.types())]
        if isinstance(leaf, ListForm):
            start, length, _, *identity = columns
            pool = items.pools[first]
            columns = (start, length, pool.length_number(), *identity, *memory_of(pool))
        found += columns
    return tuple(found)


def result_columns(items: TracedList, place: Place) -> ItemColumns | None:
    """How the launcher makes its items."""
    pools = iter(items.pools.values())

    def of(form: ItemForm) -> ItemColumns:
        if isinstance(form, ListForm):
            pool = next(pools)
            return form.columns_with(lambda next_place: result_columns(pool, next_place), place)
        if isinstance(form, TupleForm):
            return TupleColumns(form.type, tuple(map(of, form.parts)))
        return form.columns(place)

    return None if items.form is None else of(items.form)


def require_one_place(nested: Sequence[NestedList], made: Container[int]) -> None:
    """Leave a list to Python that is returned by itself, and in a list that is ``made``, too."""
    pools = Counter(id(one.pool) for one in nested)
    for one in nested:
        has_other = pools[id(one.pool)] > 1 or (len(nested) > 1 and is_shared_pool(one.pool))
        if id(one.owner) in made or has_other:
            one.leave_to_python(*IN_ANOTHER)
