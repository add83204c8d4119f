"""`DictRow`: a dictionary in a dictionary from outside: ``graph[u][v]``, ``graph[u].items()``.

Each call puts the items of all inner dictionaries into one list, a part for each. Keys are looked
for one by one: the neighbours of a node are few. A program that changes one leaves all to Python.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# ruff: noqa: SIM110

from __future__ import annotations

from typing import Any, NoReturn

from fusejit.dataclass import replace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.keyed.keyed_container import KeyedContainer
from fusejit.tracer.lists.nested_list import NestedList
from fusejit.tracer.program.locations import MOVE_OUTSIDE
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer, add_methods
from fusejit.tracer.values.symbolic_number import as_affine


class DictRow(TracedContainer):
    """A dictionary that the program only reads.

    Parameters
    ----------
    owner : KeyedContainer
        The one that it is in.
    row : NestedList
        Its keys and values, in pairs.
    """

    python_type = dict
    keeps_size = True
    num_changes = 0

    def __init__(self, owner: KeyedContainer, row: NestedList) -> None:
        self.trace, self.owner, self.row = owner.trace, owner, row
        self.home = row.home

    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Start again with the dictionary that Python has."""
        self.owner.leave_to_python(what, remedy)

    def require_not(self, other: Any) -> None:
        """Leave it to Python which one it is."""
        if isinstance(other, DictRow):
            self.refuse("asks whether dictionaries of a dictionary are one")

    def methods(self) -> frozenset[str]:
        """Those of Python's dictionaries that are compiled."""
        return frozenset(("get", "keys", "values", "items"))

    def size(self) -> Any:
        """``len(d)``."""
        return self.row.size()

    def truth(self) -> TracedArray | bool:
        """Whether there are keys."""
        return self.row.truth()

    def contains(self, item: Any) -> Any:
        """``key in d``."""
        return self.trace.inlined(_contains, (self.row, item))

    def has_any(self) -> Any:
        """``any(d)``."""
        return self.trace.inlined(_has_any, (self.row,))

    def has_all(self) -> Any:
        """``all(d)``."""
        return self.trace.inlined(_has_all, (self.row,))

    def items(self) -> Items:
        """The items of a loop over the dictionary: its keys."""
        return self.keys()

    def keys(self) -> Items:
        """``d.keys()``."""
        return replace(self._part(0), contains=self.contains)

    def values(self) -> Items:
        """``d.values()``."""
        return self._part(1)

    def pairs(self) -> Items:
        """``d.items()``."""
        return Items(self.row.length(), self._pair, containers=(self,), follows=False)

    def _part(self, place: int) -> Items:
        def item(at: Any) -> Any:
            return self._pair(at)[place]

        return Items(self.row.length(), item, containers=(self,), follows=False)

    def _pair(self, at: Any) -> Any:
        return self.row.load(as_affine(at))

    def __getitem__(self, key: Any) -> Any:
        return self.trace.inlined(_getitem, (self.row, key))

    def user_attribute(self, name: str) -> Any:
        """``d.name`` in the user's program."""
        return self.pairs if name == "items" else super().user_attribute(name)


def _getitem(row, key):
    for own, value in row:
        if own == key:
            return value
    raise KeyError(key)


def _contains(row, key):
    for own, _ in row:
        if own == key:
            return True
    return False


def _has_any(row):
    for own, _ in row:
        if own:
            return True
    return False


def _has_all(row):
    for own, _ in row:
        if not own:
            return False
    return True


def get(d, key, default=None):
    """``d.get(key, default)``."""
    if key in d:
        return d[key]
    return default


add_methods(DictRow, {"get": get})
