"""The columns of a list of objects of one of the user's classes, of which kernels read attributes.

Each object of the list has a number, the same one wherever it stands in it. A row of columns has
the attributes of one object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter, countOf, itemgetter
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.columns.list_columns import ListClass

_I64 = np.dtype(np.int64)


@dataclass(frozen=True, slots=True)
class ObjectsClass:
    """The lists of objects that one variant serves.

    Attributes
    ----------
    kind : type
        The class.
    names : tuple of str
        Of the attributes that kernels read or write.
    own_names : frozenset of str
        Of all attributes that the objects may have of their own.
    rows : ListClass
        Of the tuples of their attributes.
    """

    nanoseconds = 100
    kind: type
    names: tuple[str, ...]
    own_names: frozenset[str]
    rows: ListClass

    @property
    def type(self) -> type:
        """Of what is read."""
        return list

    @property
    def levels(self) -> tuple[tuple[np.dtype, ...], ...]:
        """The dtypes of the columns: the numbers of the items, then attributes."""
        return ((_I64,), *self.rows.levels)

    def columns(self, items: Sequence[Any]) -> tuple[Any, ...] | None:
        """The columns of a list, and behind them its distinct objects; None for other lists."""
        if countOf(map(type, items), self.kind) != len(items):
            return None
        objects = {id(obj): obj for obj in items}
        places = {address: place for place, address in enumerate(objects)}
        numbers = np.fromiter((places[id(obj)] for obj in items), np.int64, len(items))
        distinct = [*objects.values()]
        if not own_names(self.kind, distinct) <= self.own_names:
            return None
        try:
            columns = self.rows.columns([*attributes_of(self.kind, self.names, distinct)])
        except (KeyError, AttributeError):
            return None
        return None if columns is None else (numbers, *columns, distinct)


def attributes_of(
    kind: type, names: Sequence[str], objects: Iterable[Any]
) -> Iterator[tuple[Any, ...]]:
    """The attributes of each object that it has of its own.

    Raises
    ------
    KeyError, AttributeError
        If one lacks an attribute.
    """
    in_slots = has_slots_alone(kind)
    get: Any = (attrgetter if in_slots else itemgetter)(*names)
    found = map(get, objects if in_slots else map(vars, objects))
    return ((one,) for one in found) if len(names) == 1 else found


def own_names(kind: type, objects: Iterable[Any]) -> set[str]:
    """The names of all attributes in the dictionaries of objects."""
    return set() if has_slots_alone(kind) else set().union(*map(vars, objects))


def has_slots_alone(kind: type) -> bool:
    """Whether objects of a class have slots for their attributes, and no dictionaries."""
    return kind.__dictoffset__ == 0
