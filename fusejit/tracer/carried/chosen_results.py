"""What a function returns where its branches return things of several kinds.

``return None`` or ``return path`` of the traced function itself: nothing reads what is returned but
the launcher, which is told which of the two it is. So both branches hand on numbers, zeros where
there are none; a container has its own memory, which is there after the conditional.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.carried.containers import OWNED
from fusejit.tracer.carried.joined import Branches, Joined, JoinedNumber, Same
from fusejit.tracer.carried.records import list_record
from fusejit.tracer.lists.lists_in_tuples import ListInTuple
from fusejit.tracer.ops.union_types import is_value, type_of
from fusejit.tracer.program.callables import CONSTANT_TYPES
from fusejit.tracer.program.locations import is_of_program
from fusejit.tracer.values.containers import is_tuple, tuple_of
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.undefined import UNDEFINED
from fusejit.tracer.values.union_scalar import Choice, OptionalTuple

_Maker = Callable[[Any], Any]
"""Makes an object of what its parts are after the conditional, which it finds under the parts."""


def may_be_chosen(branches: Branches) -> bool:
    """Whether the program only returns what the name holds, and the launcher can make it."""
    return not is_of_program(branches.name) and all(map(_can_leave, branches.sides))


def _can_leave(obj: Any) -> bool:
    if is_tuple(obj):
        return all(map(_can_leave, obj))
    if isinstance(obj, Choice):
        return all(map(_can_leave, obj.objects))
    return is_value(obj) or isinstance(obj, (*CONSTANT_TYPES, *OWNED, ListInTuple, OptionalTuple))


def _kept(obj: Any, branches: Branches) -> Any:
    """A container of a branch, from here on one of the block around the conditional."""
    if isinstance(obj, OWNED) and obj.home in branches.blocks:
        obj.home = branches.trace.block
    return obj


class OnlyResult(Same):
    """What one branch returns, where nothing has been returned in the other."""

    def join(self, results: Sequence[Value]) -> Any:
        """The object."""
        return _kept(self._obj, self.branches)


class ChosenResult(Joined):
    """One of two objects of different kinds."""

    def __init__(self, branches: Branches) -> None:
        super().__init__(branches)
        places = branches._replace(sides=(False, True))
        self._which = JoinedNumber(places, (Kind.PYTHON, BOOL))
        self._parts: list[Joined] = []
        self._makers = [self._maker(side, obj) for side, obj in enumerate(self.sides)]

    def _maker(self, side: int, obj: Any) -> _Maker:
        parts = obj if is_tuple(obj) else list_record(obj)
        if parts is not None:
            makers = [self._maker(side, one) for one in parts]
            return lambda held: tuple_of(type(parts), [make(held) for make in makers])
        if isinstance(obj, Choice):
            tag = self._maker(side, obj.tag)
            choices = [self._maker(side, one) for one in obj.objects]
            return lambda held: Choice(tag(held), tuple(make(held) for make in choices))
        if isinstance(obj, OptionalTuple):
            return self._maker(side, Choice(obj.tag, (None, obj.items)))
        if isinstance(obj, (*CONSTANT_TYPES, *OWNED)):
            return lambda held: _kept(obj, self.branches)
        pair = (obj, UNDEFINED) if side == 0 else (UNDEFINED, obj)
        part = JoinedNumber(self.branches._replace(sides=pair), type_of(obj))
        self._parts.append(part)
        return lambda held: held[part]

    def hand_on(self, side: int) -> list[Value]:
        """Which side it is, and the numbers of both."""
        self._own = [one.hand_on(side) for one in (self._which, *self._parts)]
        return [value for own in self._own for value in own]

    def join(self, results: Sequence[Value]) -> Any:
        """The object of one of the sides."""
        left = iter(results)
        which, *parts = [[next(left) for _ in own] for own in self._own]
        held = {part: part.join(own) for part, own in zip(self._parts, parts, strict=True)}
        return Choice(self._which.join(which), tuple(make(held) for make in self._makers))
