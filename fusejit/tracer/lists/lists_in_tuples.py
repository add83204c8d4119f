"""`ListInTuple`: a list in a tuple that is the item of a list, as in ``queue.append((n, path))``.

Its items stand in a pool of the list that has the tuple, where nothing changes them: the program
may put ``path + [n]`` into another tuple, but not append to ``path``. So the tuple may move, and be
taken out of the list, while a name still holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from fusejit.ir.affine import AffineExpr
from fusejit.ir.values import Value
from fusejit.tracer.lists.nested_list import ListOfLists, NestedList
from fusejit.tracer.values.array import TracedArray


class ListInTuple(NestedList):
    """The list in a tuple that is the item of another list. Nothing may change it.

    So it is where it was when the tuple was asked for, wherever the tuple is now.

    Parameters
    ----------
    owner : ListOfLists
        The list that has the tuple.
    at : AffineExpr
        The place of the tuple.
    kind : type
        ``list``, or ``tuple``.
    first : int
        The first column of the list.
    values : sequence of Value
        What the columns have there.
    """

    def __init__(
        self, owner: ListOfLists, at: AffineExpr, kind: type, first: int, values: Sequence[Value]
    ) -> None:
        super().__init__(owner, at, first)
        self.python_type, self.first = kind, first
        self._numbers = [TracedArray.of_value(self.trace, value) for value in values]

    def hold(self) -> list[TracedArray]:
        """Its numbers, for a region that carries it: its items must stay where they are."""
        self._use()
        self.pool.is_held = True
        return self._numbers

    def _moved(self) -> Any:
        return self.pool

    def _value(self, field: int) -> Value:
        self._use()
        value: Value = self._numbers[field].value()
        return value

    def taken(self) -> Any:
        """The list itself: it is where it was."""
        return self

    def set_length(self, length: AffineExpr) -> None:
        """Refuse to change it."""
        self._require_own()

    def require_room(self, length: AffineExpr) -> None:
        """Refuse to change it."""
        self._require_own()

    def _require_own(self) -> NoReturn:
        what = "changes a list in a tuple of a list"
        self.refuse(what, "put a longer one into another tuple: (n, path + [n])")
