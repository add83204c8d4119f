"""The forms that items of a list have, and the columns of memory that hold them.

A list of tuples ``(i, "buy", price)`` has a column of integers, one of the numbers of the strings
(`fusejit.ir.traced.Texts`), and one of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.traced import ItemColumns, NumberColumn, TupleColumns
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.ops.number_values import class_of, number_values, of_values, types_of_values
from fusejit.tracer.ops.union_types import has_type, type_of, union
from fusejit.tracer.values.containers import is_tuple, tuple_of
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.union_scalar import NumberType, UnionType

Place = Callable[[], int]
"""Gives the number of the graph's result that has the next column."""
_INT64 = range(-(2**63), 2**63)


class ItemForm:
    """The items of a list: the interface of all forms, which compare by what they hold."""

    def types(self) -> tuple[NumberType, ...]:
        """Kind and dtype of each column."""
        raise NotImplementedError

    def joined(self, other: ItemForm) -> ItemForm | None:
        """The form that holds the items of both; None if there is none."""
        raise NotImplementedError

    def values(self, item: Any) -> tuple[Value, ...]:
        """An item as values of the current block, one for each column."""
        raise NotImplementedError

    def item(self, trace: Trace, values: Sequence[Value]) -> Any:
        """The item that is made of values."""
        raise NotImplementedError

    def columns(self, place: Place) -> ItemColumns:
        """How the launcher makes items of the graph's results."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class NumberForm(ItemForm):
    """A number or a string, perhaps of one of several types; None is such a type."""

    type: NumberType | UnionType

    def types(self) -> tuple[NumberType, ...]:
        """Of the number, and of its tag if it has one."""
        return types_of_values(self.type)

    def joined(self, other: ItemForm) -> ItemForm | None:
        """A number of either type."""
        if isinstance(other, NumberForm):
            both = self.type if self == other else union(self.type, other.type)
            has_types = self == other or isinstance(both, UnionType)  # complex ones lose theirs
            return NumberForm(both) if both is not None and has_types else None
        return None

    def values(self, item: Any) -> tuple[Value, ...]:
        """The number, and its tag."""
        return number_values(item, self.type)

    def item(self, trace: Trace, values: Sequence[Value]) -> Any:
        """The number."""
        return of_values(trace, self.type, values)

    def columns(self, place: Place) -> NumberColumn:
        """One column, and one of tags."""
        own = self.type
        types = own.types if isinstance(own, UnionType) else (own,)
        made = tuple(None if t is None else class_of(t) for t in types)
        return NumberColumn(place(), made, place() if isinstance(own, UnionType) else None)


@dataclass(frozen=True, slots=True)
class TupleForm(ItemForm):
    """A tuple, whose items have forms of their own."""

    type: type
    parts: tuple[ItemForm, ...]

    def types(self) -> tuple[NumberType, ...]:
        """Of all parts."""
        return tuple(one for part in self.parts for one in part.types())

    def joined(self, other: ItemForm) -> ItemForm | None:
        """Such a tuple of items of both forms."""
        if not isinstance(other, TupleForm) or other.type is not self.type:
            return None
        if len(other.parts) != len(self.parts):
            return None
        parts = [one.joined(more) for one, more in zip(self.parts, other.parts, strict=True)]
        return None if None in parts else TupleForm(self.type, tuple(p for p in parts if p))

    def values(self, item: Any) -> tuple[Value, ...]:
        """Those of all parts."""
        pairs = zip(self.parts, item, strict=True)
        return tuple(value for part, one in pairs for value in part.values(one))

    def item(self, trace: Trace, values: Sequence[Value]) -> Any:
        """The tuple."""
        items, at = [], 0
        for part in self.parts:
            end = at + len(part.types())
            items.append(part.item(trace, values[at:end]))
            at = end
        return tuple_of(self.type, items)

    def columns(self, place: Place) -> TupleColumns:
        """Those of all parts."""
        return TupleColumns(self.type, tuple(part.columns(place) for part in self.parts))


@dataclass(frozen=True, slots=True)
class ListForm(ItemForm):
    """A list: see `fusejit.tracer.lists.nested_list`, which reads and stores such items."""

    def types(self) -> tuple[NumberType, ...]:
        """Where its items are in the pool, how many, and how many there is room for."""
        return ((Kind.PYTHON, I64),) * 3

    def joined(self, other: ItemForm) -> ItemForm | None:
        """A list."""
        return self if isinstance(other, ListForm) else None


def form_of(item: Any) -> ItemForm | None:
    """The form of an item; None if no column can hold it."""
    if type(item) is int and item not in _INT64:
        return None
    if has_type(item):
        return NumberForm(type_of(item))
    if type(item) is list or getattr(item, "python_type", None) is list:
        return ListForm()
    if not is_tuple(item):
        return None
    parts = [*map(form_of, item)]
    if any(part is None or isinstance(part, ListForm) for part in parts):
        return None
    return TupleForm(type(item), tuple(p for p in parts if p))
