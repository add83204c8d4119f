"""The columns of a container or a string from outside, which a call makes of its items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from operator import countOf, itemgetter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fusejit.dataclass import dataclass
from fusejit.ir.columns.number_reader import READ, OtherItems, read_numbers
from fusejit.ir.results import (
    CODE_POINTS,
    ItemColumns,
    ListColumns,
    NumberColumn,
    OptionalColumns,
    TextColumns,
    TupleColumns,
)

Column = npt.NDArray[Any]
READ_BY_CODE, READ_BY_PYTHON, FLAT = 5, 60, 15
"""Nanoseconds of an item that is read, or put into one list with others."""
_EXACT = 2.0**53
"""Integers up to here are the same numbers as floats."""


def points_of(text: str) -> Column:
    """The code points of a string."""
    return np.frombuffer(text.encode(CODE_POINTS, "surrogatepass"), np.uint32)


@dataclass(frozen=True, slots=True)
class TextClass:
    """Any string: its column has the code points."""

    type = str
    levels = ((np.dtype(np.uint32),),)
    nanoseconds = 1

    def columns(self, text: str) -> tuple[Column, ...]:
        """The column of a string."""
        return (points_of(text),)


@dataclass(frozen=True, slots=True)
class ListClass:
    """The lists that one variant serves: what their items are.

    Attributes
    ----------
    levels : tuple
        The dtypes of the columns; those of one level have one length. The code points of all
        strings are the last level.
    """

    type = list
    items: ItemColumns
    levels: tuple[tuple[np.dtype, ...], ...]

    @property
    def nanoseconds(self) -> int:
        """That a call takes for an item of a column, about."""
        return _nanoseconds(self.items)

    def columns(self, items: Sequence[Any]) -> tuple[Column, ...] | None:
        """The columns of a list; None if it holds other items."""
        strings = _Strings()
        try:
            dtypes = chain.from_iterable(self.levels)
            found = tuple(_columns(items, self.items, dtypes, strings))
            return (*found, points_of("".join(strings))) if strings else found
        except (OtherItems, OverflowError):
            return None


@dataclass(frozen=True, slots=True)
class DictClass:
    """The dictionaries that one variant serves: what their keys and values are.

    Attributes
    ----------
    has_dicts : bool
        Whether the values are dictionaries: columns have lists of their items.
    """

    type = dict
    nanoseconds = 60
    keys: ListClass
    values: ListClass
    has_dicts: bool = False

    @property
    def levels(self) -> tuple[tuple[np.dtype, ...], ...]:
        """The dtypes of the columns of the keys, and of those of the values."""
        return self.keys.levels + self.values.levels

    def columns(self, items: dict[Any, Any]) -> tuple[Column, ...] | None:
        """The columns of a dictionary; None if it holds other items."""
        rows = [*items.values()]
        if self.has_dicts != are_dicts(rows):
            return None
        keys = self.keys.columns([*items])
        values = self.values.columns([[*row.items()] for row in rows] if self.has_dicts else rows)
        return None if keys is None or values is None else keys + values


def are_dicts(items: Sequence[Any]) -> bool:
    """Whether all items are dictionaries, and there are any."""
    return bool(items) and countOf(map(type, items), dict) == len(items)


@dataclass(frozen=True, slots=True)
class SetClass:
    """The sets that one variant serves: what their keys are."""

    type = set
    nanoseconds = 60
    keys: ListClass

    @property
    def levels(self) -> tuple[tuple[np.dtype, ...], ...]:
        """The dtypes of the columns."""
        return self.keys.levels

    def columns(self, items: set[Any]) -> tuple[Column, ...] | None:
        """The columns of a set; None if it holds other keys."""
        return self.keys.columns([*items])


class ColumnsClass(Protocol):
    """What a call makes columns of: containers, strings, objects in lists."""

    @property
    def type(self) -> type:
        """Of these."""

    @property
    def nanoseconds(self) -> int:
        """That a call takes for an item of a column, about."""

    @property
    def levels(self) -> tuple[tuple[np.dtype, ...], ...]:
        """The dtypes of the columns; those of one level have one length."""

    def columns(self, items: Any) -> tuple[Any, ...] | None:
        """The columns; None if they cannot hold the items."""


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A step of a path: from a container or a string to one of its columns."""

    of: ColumnsClass
    place: int

    def __str__(self) -> str:
        return f"column {self.place}"

    def found_in(self, items: Any) -> Column:
        """The column of what the class serves."""
        found = self.of.columns(items)
        assert found is not None
        column: Column = found[self.place]
        return column


class _Strings(list[str]):
    """The strings of a list, which are put together."""

    size = 0

    def add(self, strings: Sequence[Any]) -> tuple[Column, Column]:
        """Where strings begin, and their lengths."""
        _require_type(strings, str)
        lengths = np.fromiter(map(len, strings), np.int64, len(strings))
        ends = lengths.cumsum()
        starts = ends - lengths + self.size
        self.append("".join(strings))
        self.size += len(self[-1])
        return starts, lengths


def _columns(
    items: Sequence[Any], form: ItemColumns, dtypes: Iterator[np.dtype], strings: _Strings
) -> Iterator[Column]:
    if isinstance(form, NumberColumn):
        yield from _numbers(items, form, dtypes)
    elif isinstance(form, TextColumns):
        for column in strings.add(items):
            yield column.astype(next(dtypes), copy=False)
    elif isinstance(form, TupleColumns):
        yield from _of_tuples(items, form, dtypes, strings)
    elif isinstance(form, OptionalColumns):
        yield np.array([item is not None for item in items], next(dtypes))
        nothing = _zero(form.item)
        own = [nothing if item is None else item for item in items]
        yield from _columns(own, form.item, dtypes, strings)
    elif isinstance(form, ListColumns) and form.item is not None:
        _require_type(items, list)
        lengths = [*map(len, items)]
        starts = [0, *accumulate(lengths)][: len(lengths)]
        yield np.array(starts, next(dtypes))
        yield np.array(lengths, next(dtypes))
        yield from _columns([*chain.from_iterable(items)], form.item, dtypes, strings)
    else:
        raise OtherItems


def _nanoseconds(form: ItemColumns) -> int:
    if isinstance(form, TupleColumns):
        return max(map(_nanoseconds, form.parts))
    if isinstance(form, ListColumns) and form.item is not None:
        return FLAT + _nanoseconds(form.item)
    is_read = isinstance(form, NumberColumn) and form.tags is None and form.types[0] in READ
    return READ_BY_CODE if is_read else READ_BY_PYTHON


def _of_tuples(
    items: Sequence[Any], form: TupleColumns, dtypes: Iterator[np.dtype], strings: _Strings
) -> Iterator[Column]:
    """The columns of the parts of tuples, which are made into lists where it has to be."""
    length, are_checked = len(form.parts), False
    for place, part in enumerate(form.parts):
        if isinstance(part, NumberColumn) and part.tags is None:
            dtype = next(dtypes)
            column = read_numbers(items, part.types[0], dtype, place, form.type, length)
            if column is not None:
                yield column
                continue
            dtypes = chain((dtype,), dtypes)
        if not are_checked:
            are_checked = True
            _require_type(items, form.type)
            if countOf(map(len, items), length) != len(items):
                raise OtherItems
        yield from _columns([*map(itemgetter(place), items)], part, dtypes, strings)


def _zero(form: ItemColumns) -> Any:
    """An item that nothing reads."""
    if isinstance(form, TupleColumns):
        parts = map(_zero, form.parts)
        return getattr(form.type, "_make", form.type)(parts)
    if isinstance(form, TextColumns):
        return ""
    kind = form.types[0] if isinstance(form, NumberColumn) else None
    return kind() if isinstance(kind, type) else None


def _require_type(items: Sequence[Any], kind: type) -> None:
    if countOf(map(type, items), kind) != len(items):
        raise OtherItems


def _numbers(
    items: Sequence[Any], form: NumberColumn, dtypes: Iterator[np.dtype]
) -> Iterator[Column]:
    dtype = next(dtypes)
    column = None if form.tags is not None else read_numbers(items, form.types[0], dtype)
    if column is not None:
        yield column
        return
    if form.tags is None and countOf(map(type, items), form.types[0]) == len(items):
        yield np.fromiter(items, dtype, len(items))
        return
    kinds = [None if item is None else type(item) for item in items]
    if form.tags is None or not {*kinds} <= {*form.types}:
        raise OtherItems
    yield np.array([0 if item is None else item for item in items], dtype)
    places = {kind: place for place, kind in enumerate(form.types)}
    yield np.array([places[kind] for kind in kinds], next(dtypes))
    whole = (int, np.integer)
    has_whole = any(isinstance(kind, type) and issubclass(kind, whole) for kind in places)
    is_rounded = dtype.kind == "f" and has_whole
    if is_rounded and any(isinstance(one, whole) and abs(int(one)) > _EXACT for one in items):
        raise OtherItems
