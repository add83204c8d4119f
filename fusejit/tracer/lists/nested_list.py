"""`NestedList`: a list in a list.

The items of all lists of a list stand in one more list, its *pool*. Each has a part of it, with
some room behind its items; one that outgrows its part is moved to the end of the pool, where it has
twice the room. What a program calls ``rows[i]`` is the place ``i`` of ``rows``, wherever that is.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.kernel_indices import affine_index, bound_number, scalar
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.aliases import Aliases, ListIdentities, is_shared_pool, share_pools
from fusejit.tracer.lists.any_list import AnyList, of_kind
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.lists.item_forms import IDENTITIES, ListForm, has_lists
from fusejit.tracer.ops.kernel_numbers import arithmetic, as_kernel_number
from fusejit.tracer.program.python_state import is_shared
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.symbolic_number import affine_number, as_affine

_START, _LENGTH, _ROOM, _IDENTITY = range(4)
LEAST_ROOM = 4  # of a new list


class ListOfLists(Protocol):
    """The interface of a list that holds lists: see `fusejit.tracer.lists.traced_list`."""

    trace: Trace
    key: tuple[Any, ...]
    num_moves: int

    @property
    def pools(self) -> Mapping[int, Any]:
        """The lists of the items of its lists, by the first column of each."""

    def holds_lists(self) -> bool:
        """Whether its items are lists, which may change."""

    def field(self, field: int, at: AffineExpr, kind: Kind) -> Value:
        """A number of the list at a place."""

    def store_field(self, field: int, at: AffineExpr, value: Value) -> None:
        """Store such a number."""

    def refuse(self, what: str, remedy: str) -> NoReturn:
        """Leave to Python what is done."""


class NestedUses(list[tuple["NestedList", tuple[Any, ...]]]):
    """Lists in lists that loops use and have found before them, with the regions around a use."""

    def require_places(self, loop: Any) -> None:
        """At the end of a loop: another iteration must find them where they were.

        Those that an iteration has found itself, another one finds again.
        """
        for one, regions in self:
            is_found_again = one.home is one.trace.block or not one.trace.is_open(one.home)
            if not is_found_again and any(region is loop for region in regions):
                one.require_place()


class NestedList(AnyList):
    """The list at a place of another one.

    Parameters
    ----------
    owner : ListOfLists
        The list that it is in.
    at : AffineExpr
        The place.
    """

    def __init__(self, owner: ListOfLists, at: AffineExpr, first: int = 0) -> None:
        self.trace, self.key = owner.trace, owner.key
        self.home = self.trace.block
        self.owner, self.at = owner, at
        self.pool: Any = owner.pools[first]
        self._num_moves = self._moved().num_moves

    @property
    def num_changes(self) -> int:  # type: ignore[override]
        """Of the length of any list of the owner."""
        changes: int = self.pool.num_changes
        return changes

    def _moved(self) -> Any:
        """The list that counts when another list may be where this one was."""
        return self.owner

    def note_moved(self) -> None:
        """Note that another list may be where one of its lists was."""
        self.pool.note_moved()

    def may_be_another(self) -> bool:
        """Whether another list of the trace may be the same object: one found at its place."""
        return True

    def require_place(self) -> None:
        """Leave a list to Python whose place another one may have by now."""
        if self._num_moves != self._moved().num_moves:
            what = "uses a list of a list from before lists were moved in it"
            self.refuse(what, "ask for it again: row = rows[i]")

    def _use(self) -> ListOfLists:
        self.require_place()
        if self.trace.is_repeated_since(self.home):
            self.trace.owned(NestedUses).append((self, tuple(self.trace.regions)))
        return self.owner

    def _value(self, field: int) -> Value:
        return self._use().field(field, self.at, Kind.PYTHON)

    def _field(self, field: int) -> AffineExpr:
        """A number of its part, at this place of the program."""
        trace, value = self.trace, self._value(field)
        key = ("field", field, value)
        known = trace.locals.find_bound(key)
        if known is None or not trace.locals.is_visible(known):
            known = bound_number(trace, value, AffineExpr.const(0), None)
            trace.locals.note_bound(key, known)
        return known

    def _set_field(self, field: int, number: AffineExpr) -> None:
        self._use().store_field(field, self.at, number_of(self.trace, number))

    def length(self) -> AffineExpr:
        """The number of items at this place of the program."""
        return self._field(_LENGTH)

    def set_length(self, length: AffineExpr) -> None:
        """Have it hold that many items."""
        self._require_own()
        self._set_field(_LENGTH, length)
        self.pool.num_changes += 1

    def require_room(self, length: AffineExpr) -> None:
        """Move it to the end of the pool, if its part is full."""
        self.trace.inlined(_make_room, (self, affine_number(self.trace, length)))

    def is_full(self, length: Any) -> Any:
        """Whether its part is full with so many items."""
        return length >= affine_number(self.trace, self._field(_ROOM))

    def move(self, room: Any) -> None:
        """Move it to the end of the pool, where it has so much room."""
        pool = self.pool
        end, start, length = pool.length(), self._field(_START), self.length()
        last = end + as_affine_number(room)
        pool.require_room(last - 1)
        pool.copy_items(pool, start, end, length)
        pool.note_moved()
        pool.set_length(last)
        self._set_field(_START, end)
        self._set_field(_ROOM, as_affine_number(room))

    def _require_own(self) -> None:
        """Leave a list to Python that changes, and may be in another list, too."""
        if is_shared_pool(self.pool):
            what = "changes a list that may be in another list, too"
            self.refuse(what, "put a copy into that: rows.append(row[:])")

    def load(self, at: AffineExpr) -> Any:
        """The item at a place where there is one."""
        self._use()
        return self.pool.load(self._field(_START) + at)

    def store(self, at: AffineExpr, item: Any) -> None:
        """Store an item at a place where there is room."""
        self._require_own()
        self._use()
        self.pool.store(self._field(_START) + at, item)

    def put_into(self, pool: Any) -> tuple[AffineExpr, ...]:
        """Where it starts in a pool, with its length and room.

        In another one than its own that is a copy. Nobody may change it from then on.
        """
        start, length = self._field(_START), self.length()
        if self.python_type is list:
            share_pools(self.pool, pool)
        if pool is self.pool:
            return start, length, length
        end = pool.length()
        pool.require_room(end + length - 1)
        pool.copy_items(self.pool, start, end, length)
        pool.set_length(end + length)
        return end, length, length

    def taken(self) -> Any:
        """A copy, which nobody may change if another list may have it, too."""
        made = self.copied()
        if is_shared_pool(self.pool):
            self.trace.owned(Aliases).freeze(made)
        return made

    def as_own(self) -> Any:
        """A copy for another name, which may be read as long as nobody changes either."""
        made = self.copied()
        if self.python_type is list:
            self.trace.owned(Aliases).freeze(made, self.pool.shared)
        return made

    def copied(self) -> Any:
        """A new list, or tuple, of its items."""
        return of_kind(self.trace.inlined(list_methods.copied, (self,)), self.python_type)

    def identity(self) -> AffineExpr:
        """Which list it is, wherever a copy of it stands."""
        return self._field(_IDENTITY)

    def as_array(self, dtype: np.dtype | None = None) -> TracedArray:
        """``np.array(xs)``."""
        made: TracedArray = self.copied().as_array(dtype)
        return made


class ListOrEmpty(NestedList):
    """What ``d.get(key, [])`` finds: a list in a list, or an empty one. Nothing may change it.

    Parameters
    ----------
    owner : ListOfLists
        The list that it is in.
    at : number
        The place; -1 if there is none.
    """

    def __init__(self, owner: ListOfLists, at: Any) -> None:
        zero_or_one = as_kernel_number(at >= 0, Kind.PYTHON, I64)
        super().__init__(owner, as_affine_number(arithmetic(np.maximum, at, 0)))
        self._is_there = zero_or_one

    def length(self) -> AffineExpr:
        """The number of items at this place of the program."""
        there = affine_number(self.trace, super().length())
        return as_affine_number(arithmetic(np.multiply, there, self._is_there))

    def _require_own(self) -> NoReturn:
        what = "changes the list that a dict has under a key, or another one if there is none"
        self.refuse(what, "ask for it with d.setdefault(key, [])")


class ListOrEmptyTuple(ListOrEmpty):
    """What ``d.get(key, ())`` finds. Nothing may ask for its class."""

    @property
    def python_type(self) -> NoReturn:  # type: ignore[override]
        """Refuse to tell which one it is."""
        what = (
            "asks whether what a dict has under a key is a list, or the tuple () if there is none"
        )
        self.refuse(what, "run over it, or ask for it with d.get(key, [])")


def put_list(owner: ListOfLists, at: AffineExpr, item: Any, first: int = 0) -> None:
    """Store a list at a place of another one: a copy, if that cannot be told.

    ``first`` is the first of its columns.
    """
    trace, pool = owner.trace, owner.pools[first]
    if isinstance(item, NestedList):
        _require_to_put(owner, item)
        places = item.put_into(pool)
    else:
        places = _put_new(owner, pool, item)
    fields = dict(zip((_START, _LENGTH, _ROOM), places, strict=True))
    if IDENTITIES in trace.table:
        is_old = isinstance(item, NestedList)
        fields[_IDENTITY] = item.identity() if is_old else trace.owned(ListIdentities).new(trace)
    for field, number in fields.items():
        owner.store_field(first + field, at, number_of(trace, number))


def swap_lists(owner: Any, left: AffineExpr, right: AffineExpr) -> None:
    """Exchange two lists of another one: each has its part of the pool still."""
    fields = range(len(ListForm().types()))
    kept = [[owner.number_at(field, at, Kind.PYTHON) for field in fields] for at in (right, left)]
    for at, numbers in zip((left, right), kept, strict=True):
        for field, number in enumerate(numbers):
            owner.store_field(field, at, number)
    owner.note_moved()


def _put_new(owner: ListOfLists, pool: Any, item: Any) -> tuple[AffineExpr, ...]:
    """Put the items of a list that is in no other one at the end of a pool."""
    trace, end = owner.trace, pool.length()
    if type(item) is tuple:
        count = room = AffineExpr.const(len(item))
    elif type(item) is list:
        if not trace.owned(Displays).knows(item):
            owner.refuse("puts a list from outside into a list", "put a copy into it: xs[:]")
        if is_shared(item, ""):  # who changes it would change this one
            trace.owned(Displays).require_traced(trace, item)
        count = AffineExpr.const(len(item))
        room = AffineExpr.const(max(len(item), LEAST_ROOM))
    else:
        _require_to_put(owner, item)
        room = count = item.length()
    pool.require_room(end + room - 1)
    if type(item) in (list, tuple):
        for k, one in enumerate(item):
            pool.store(end + k, one)
    else:
        pool.copy_items(item, AffineExpr.const(0), end, count)
        if item.python_type is list and is_shared(item, ""):
            _note_put(owner, pool, item)
    pool.set_length(end + room)
    return end, count, room


def _note_put(owner: ListOfLists, pool: Any, item: Any) -> None:
    """Note that a name leads to a list that has been put into another one, or into its tuples.

    Those of tuples never change: the name may be read as long as it does not change, either.
    """
    if owner.holds_lists():
        owner.trace.owned(Aliases).give(item)
    else:
        owner.trace.owned(Aliases).freeze(item, pool.shared)


def _require_to_put(owner: ListOfLists, item: Any) -> None:
    """Leave a list to Python that cannot be put into another one."""
    if not item.is_own and not is_in_own_pool(item):
        owner.refuse("puts a list of another one into a list", "put a copy into it: xs[:]")
    if has_lists(_form_of_items(item)):  # they are in a pool of its own
        owner.refuse("puts a list of lists into a list", "put tuples of them into it")
    if owner.trace.owned(Aliases).may_be_another(item):
        what = "puts a list that another name may hold, too, into a list"
        owner.refuse(what, "put a copy into it: xs[:]")


def _form_of_items(item: Any) -> Any:
    """The form of the items of a list."""
    return item.pool.form if isinstance(item, NestedList) else item.form


def is_in_own_pool(item: Any) -> bool:
    """Whether it is a list in a list that the function has made."""
    if not isinstance(item, NestedList):
        return False
    pool = item.pool
    return getattr(pool, "shared", None) is not None and not pool.is_outside


def number_of(trace: Trace, number: AffineExpr) -> Value:
    """An integer as a value of the graph."""
    return scalar(trace, "field", I64, lambda builder, ref: ref(number))


def as_affine_number(number: Any) -> AffineExpr:
    """An integer as an affine expression, also where only the kernel knows it."""
    trace = getattr(number, "trace", None)
    local = None if trace is None else affine_index(trace, number)
    return as_affine(number) if local is None else local


def is_full(items, length):
    """Whether the part of a list is full with so many items."""


def move(items, room):
    """Move a list to the end of its pool, where it has so much room."""


def _make_room(items, length):
    if is_full(items, length):
        move(items, 2 * length + 4)


primitive(is_full)(NestedList.is_full)
primitive(move)(NestedList.move)
