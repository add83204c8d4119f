"""The forms that items of a list have, and the columns of memory that hold them.

A list of tuples ``(i, "buy", price)`` has a column of integers, one of the numbers of the strings
(`fusejit.ir.traced.Texts`), and one of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.results import (
    ArrayColumn,
    ItemColumns,
    ListColumns,
    NumberColumn,
    ObjectColumns,
    OptionalColumns,
    TextColumns,
    TupleColumns,
)
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.ops.number_values import (
    class_of,
    number_value,
    number_values,
    of_values,
    types_of_values,
    zero,
)
from fusejit.tracer.ops.traced_text import OF_CHARACTER, OF_TEXT
from fusejit.tracer.ops.union_types import OF_NONE, has_type, narrowed, type_of, union
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import is_tuple, tuple_of
from fusejit.tracer.values.operand_types import BOOL, I64
from fusejit.tracer.values.pooled_objects import PooledObjects, pooled
from fusejit.tracer.values.union_scalar import NumberType, OptionalTuple, UnionType

Place = Callable[[], int]
"""Gives the number of the graph's result that has the next column."""
_INT64 = range(-(2**63), 2**63)


class ItemForm:
    """The items of a list: the interface of all forms, which compare by what they hold."""

    def types(self) -> tuple[NumberType, ...]:
        """Kind and dtype of each column."""
        raise NotImplementedError

    def shapes(self, item: Any) -> tuple[Extents, ...]:
        """The extents of an item in each column."""
        return ((),) * len(self.types())

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
        """A number of either type; None may stand for a tuple."""
        if self == _NONE and isinstance(other, TupleForm | OptionalForm | ObjectForm):
            return other.joined(self)
        if isinstance(other, NumberForm):
            both = self.type if self == other else union(self.type, other.type)
            has_types = self == other or isinstance(both, UnionType) or both == OF_TEXT
            return NumberForm(both) if both is not None and has_types else None  # of complex ones
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
class ArrayForm(ItemForm):
    """An array: see `fusejit.tracer.lists.array_items`, which says when a copy may stand for it."""

    dtype: np.dtype
    rank: int

    def types(self) -> tuple[NumberType, ...]:
        """Of the elements."""
        return ((Kind.ARRAY, self.dtype),)

    def shapes(self, item: Any) -> tuple[Extents, ...]:
        """Those of the array."""
        return (item.extents,)

    def joined(self, other: ItemForm) -> ItemForm | None:
        """Such an array."""
        return self if self == other else None

    def values(self, item: Any) -> tuple[Value, ...]:
        """Its elements."""
        return (item.value(),)

    def item(self, trace: Trace, values: Sequence[Value]) -> Any:
        """The array."""
        return TracedArray.of_value(trace, values[0])

    def columns(self, place: Place) -> ArrayColumn:
        """One column of arrays."""
        return ArrayColumn(place())


@dataclass(frozen=True, slots=True)
class TupleForm(ItemForm):
    """A tuple, whose items have forms of their own."""

    type: type
    parts: tuple[ItemForm, ...]

    def types(self) -> tuple[NumberType, ...]:
        """Of all parts."""
        return tuple(one for part in self.parts for one in part.types())

    def shapes(self, item: Any) -> tuple[Extents, ...]:
        """Those of all parts."""
        pairs = zip(self.parts, narrowed(item), strict=True)
        return tuple(shape for part, one in pairs for shape in part.shapes(one))

    def joined(self, other: ItemForm) -> ItemForm | None:
        """Such a tuple of items of both forms; perhaps None."""
        if isinstance(other, OptionalForm) or other == _NONE:
            return None if has_held(self) else OptionalForm(self).joined(other)
        if isinstance(other, ListForm):
            return other.joined(self)
        if not isinstance(other, TupleForm) or other.type is not self.type:
            return None
        if len(other.parts) != len(self.parts):
            return None if has_held(self) or has_held(other) else ListForm(tuple)
        parts = [one.joined(more) for one, more in zip(self.parts, other.parts, strict=True)]
        return None if None in parts else TupleForm(self.type, tuple(p for p in parts if p))

    def values(self, item: Any) -> tuple[Value, ...]:
        """Those of all parts."""
        item = narrowed(item)
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
class OptionalForm(ItemForm):
    """A tuple or an object, or None."""

    item_form: TupleForm | ObjectForm

    def types(self) -> tuple[NumberType, ...]:
        """Whether it is a tuple, and those of the tuple."""
        return ((Kind.PYTHON, BOOL), *self.item_form.types())

    def joined(self, other: ItemForm) -> ItemForm | None:
        """Such a tuple of items of both forms, or None."""
        if other == _NONE:
            return self
        item = other.item_form if isinstance(other, OptionalForm) else other
        both = self.item_form.joined(item)
        return OptionalForm(both) if isinstance(both, TupleForm | ObjectForm) else None

    def values(self, item: Any) -> tuple[Value, ...]:
        """Whether there is a tuple, and its values; of None, zeros that nothing reads."""
        item = narrowed(item)
        is_there: Any = item is not None
        if isinstance(item, OptionalTuple):
            is_there, item = item.tag, item.items
        tag = number_value(is_there, (Kind.PYTHON, BOOL))
        if item is None:
            types = self.item_form.types()
            return (tag, *(number_value(zero(type_), type_) for type_ in types))
        return (tag, *self.item_form.values(item))

    def item(self, trace: Trace, values: Sequence[Value]) -> Any:
        """The tuple, or None."""
        tag, *rest = values
        return OptionalTuple(TracedArray.of_value(trace, tag), self.item_form.item(trace, rest))

    def columns(self, place: Place) -> OptionalColumns:
        """One of bools, and those of the tuple."""
        return OptionalColumns(place(), self.item_form.columns(place))


class TextSource:
    """What makes strings of parts of the code points of a list from outside.

    Attributes
    ----------
    string : callable
        ``string(start, length)``.
    """

    string: Callable[[TracedArray, TracedArray], Any]


@dataclass(frozen=True, slots=True)
class TextForm(ItemForm):
    """A string of a list from outside, as a part of the code points of all."""

    source: TextSource

    def types(self) -> tuple[NumberType, ...]:
        """Where it begins, and how many characters it has."""
        return ((Kind.PYTHON, I64),) * 2

    def joined(self, other: ItemForm) -> ItemForm | None:
        """A string of the same list."""
        return self if self == other else None

    def item(self, trace: Trace, values: Sequence[Value]) -> Any:
        """The string."""
        return self.source.string(*(TracedArray.of_value(trace, value) for value in values))

    def columns(self, place: Place) -> TextColumns:
        """Two columns."""
        return TextColumns(place(), place())


def with_source(form: ItemForm, source: TextSource) -> ItemForm:
    """The form of items of a list from outside, whose strings are parts of its code points."""
    if isinstance(form, TupleForm):
        return TupleForm(form.type, tuple(with_source(part, source) for part in form.parts))
    if isinstance(form, OptionalForm):
        item = with_source(form.item_form, source)
        return OptionalForm(item) if isinstance(item, TupleForm) else form
    is_text = isinstance(form, NumberForm) and form.type in (OF_TEXT, OF_CHARACTER)
    return TextForm(source) if is_text else form


def has_texts(form: ItemForm) -> bool:
    """Whether items have strings that are parts of code points."""
    if isinstance(form, OptionalForm):
        return has_texts(form.item_form)
    if isinstance(form, TupleForm):
        return any(map(has_texts, form.parts))
    return isinstance(form, TextForm)


IDENTITIES = (("list identities",), "has")
"""The decision that lists in lists are numbered: some may stand in several places."""


@dataclass(frozen=True, slots=True)
class ListForm(ItemForm):
    """A list, or a tuple whose length only the kernel knows.

    See `fusejit.tracer.lists.nested_list`, which reads and stores such items.
    """

    type: type = list

    def types(self) -> tuple[NumberType, ...]:
        """Where its items are in the pool, how many, how many there is room for; its identity."""
        return ((Kind.PYTHON, I64),) * (4 if IDENTITIES in current_trace().table else 3)

    def joined(self, other: ItemForm) -> ItemForm | None:
        """A list, or such a tuple; one of numbers may be any tuple."""
        is_tuple_ = isinstance(other, TupleForm) and other.type is self.type is tuple
        return self if self == other or (is_tuple_ and not has_held(other)) else None

    def columns_with(
        self, items: Callable[[Place], ItemColumns | None], place: Place
    ) -> ListColumns:
        """Two columns and a length, and the identities; ``items`` has those of their items."""
        spans = place(), place(), place()
        identities = place() if IDENTITIES in current_trace().table else None
        return ListColumns(*spans, items(place), identities, self.type)


@dataclass(frozen=True, slots=True)
class ObjectForm(ItemForm):
    """An object of a class: its number in the pool of that class."""

    type: type

    def types(self) -> tuple[NumberType, ...]:
        """Of the number."""
        return ((Kind.PYTHON, I64),)

    def joined(self, other: ItemForm) -> ItemForm | None:
        """An object of the same class; perhaps None."""
        if isinstance(other, OptionalForm) or other == _NONE:
            return OptionalForm(self).joined(other)
        return self if self == other else None

    def values(self, item: Any) -> tuple[Value, ...]:
        """The number."""
        trace = current_trace()
        number = trace.owned(PooledObjects).number_to_keep(trace, narrowed(item))
        return (number_value(number, (Kind.PYTHON, I64)),)

    def item(self, trace: Trace, values: Sequence[Value]) -> Any:
        """An object that stands for it."""
        number = TracedArray.of_value(trace, values[0])
        return trace.owned(PooledObjects).at(self.type, number)

    def columns(self, place: Place) -> ObjectColumns:
        """One column."""
        return ObjectColumns(self.type, place())


def has_arrays(form: ItemForm | None) -> bool:
    """Whether items have arrays."""
    return form is not None and any(kind is Kind.ARRAY for kind, _ in form.types())


def has_lists(form: ItemForm | None) -> bool:
    """Whether items are lists, or tuples that hold some."""
    parts = form.parts if isinstance(form, TupleForm) else ()
    return isinstance(form, ListForm) or any(map(has_lists, parts))


def has_held(form: ItemForm | None) -> bool:
    """Whether items have arrays or lists."""
    return has_arrays(form) or has_lists(form)


def has_objects(form: ItemForm | None) -> bool:
    """Whether items have objects with numbers."""
    if isinstance(form, TupleForm):
        return any(map(has_objects, form.parts))
    return isinstance(form.item_form if isinstance(form, OptionalForm) else form, ObjectForm)


_NONE = NumberForm(OF_NONE)


def form_of(item: Any) -> ItemForm | None:
    """The form of an item; None if no column can hold it."""
    if type(item) is int and item not in _INT64:
        return None
    if isinstance(item, OptionalTuple):
        item = narrowed(item)
    if has_type(item):
        return NumberForm(type_of(item))
    if type(item) is list or getattr(item, "python_type", None) in (list, tuple):
        return ListForm(getattr(item, "python_type", list))
    if isinstance(item, OptionalTuple):
        form = form_of(item.items)
        return OptionalForm(form) if isinstance(form, TupleForm | ObjectForm) else None
    if pooled(item) is not None:
        return ObjectForm(type(item))
    if isinstance(item, TracedArray) and item.kind is Kind.ARRAY and item.ndim:
        return ArrayForm(item.dtype, item.ndim)
    if not is_tuple(item):
        return None
    parts = [*map(form_of, item)]
    made = None if None in parts else TupleForm(type(item), tuple(p for p in parts if p))
    return None if has_arrays(made) and has_lists(made) else made
