"""The columns of a list of objects of one of the user's classes: their attributes, for kernels.

Each object has a number, the same one wherever it stands in the list. A row of columns has the
attributes of one object. Nothing here asks for ``__dict__``: an object that has been asked for it
is three times as slow in Python ever after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import attrgetter, countOf, is_
from types import MethodType
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field
from fusejit.ir.columns.list_columns import ListClass

_I64 = np.dtype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ObjectsClass:
    """The lists of objects that one variant serves.

    Attributes
    ----------
    kind : type
        The class.
    names : tuple of str
        The attributes that kernels read or write.
    rows : ListClass
        The tuples of these attributes.
    not_own : set of str
        The attributes that the program has found in the class or nowhere: no object has its own.
    """

    nanoseconds = 100
    kind: type
    names: tuple[str, ...]
    rows: ListClass
    not_own: set[str] = field(default_factory=set)

    @property
    def type(self) -> type:
        """The class of the list."""
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
        if not all(have_none_of_their_own(self.kind, name, distinct) for name in self.not_own):
            return None
        try:
            columns = self.rows.columns([*attributes_of(self.names, distinct)])
        except AttributeError:
            return None
        return None if columns is None else (numbers, *columns, distinct)


def attributes_of(names: Sequence[str], objects: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """The attributes of each object.

    Raises
    ------
    AttributeError
        If an object lacks an attribute.
    """
    found = map(attrgetter(*names), objects)
    return ((one,) for one in found) if len(names) == 1 else found


def have_none_of_their_own(kind: type, name: str, objects: Sequence[Any]) -> bool:
    """Whether objects have what their class has under a name, if anything, and nothing else."""
    if not hasattr(kind, name):
        return not any(map(hasattr, objects, repeat(name)))
    held: Any = getattr(kind, name)
    is_method = any(isinstance(getattr(one, name, None), MethodType) for one in objects[:1])
    expected = getattr(held, "__func__", held) if is_method else held
    get = attrgetter(f"{name}.__func__" if is_method else name)
    try:
        return all(map(is_, map(get, objects), repeat(expected)))
    except AttributeError:  # one has a function of its own instead of the method
        return False
