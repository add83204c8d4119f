"""Lists that a loop or a conditional binds again: ``frontier = found``, ``streak = []``.

The list of before is filled with the items of the new one. That is the new list to a program that
cannot tell them apart: only one name may lead to each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.ir.values import Value
from fusejit.tracer.carried.joined import Branches, Joined
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.unbound import Unbound
from fusejit.tracer.lists.aliases import Aliases, AliasSets
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.lists.nested_list import NestedUses
from fusejit.tracer.lists.traced_list import ListsByKey, TracedList
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.program.python_state import is_shared
from fusejit.tracer.values.live_out_arrays import LiveOutArrays

_REMEDY = "write {0} = {0}.copy() where it gets another name"


class CarriedList(Carried):
    """Memory for the items of the list that a name holds."""

    seen: TracedList

    @classmethod
    def of(cls, loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried | None:
        """Carry a name that an attempt has seen bound to another list; None for others."""
        if not isinstance(obj, TracedList) or not loop.decided("list buffer", name):
            return None
        if is_shared(obj, name) or loop.trace.owned(Aliases).may_be_another(obj):
            _refuse(name)
        made = TracedList(loop.trace, (*loop.visit, name))
        made.take(obj)
        return cls(loop, name, obj, made)

    def widen(self, now: Any) -> None:
        """Require a list that no other name holds."""
        require_list(self.loop, self.name, self.seen, now)
        if now is not self.seen:
            self.seen.require_form_of(now)

    def store(self, now: Any, behind: LiveOutArrays) -> None:
        """Store the items of another list."""
        if now is not self.seen:
            behind.moves += self.seen.moves_from(now)

    def left(self, results: Sequence[Value]) -> Any:
        """The list."""
        return self.seen


def require_list(loop: LoopRegion, name: str, before: TracedList, now: Any) -> None:
    """Require a list of the same kind under a name, which nothing else leads to."""
    loop.trace.owned(Displays).require_traced(loop.trace, now)
    if not isinstance(now, TracedList):
        loop.peel_or_refuse(name, before, now)
    if now is before:
        return
    is_carried = any(one.seen is now for one in loop.carried.values())
    is_from_before = now.key in loop.known_lists and not is_carried
    if is_from_before or loop.trace.owned(Aliases).may_be_another(now):
        _refuse(name)
    for other, held in loop.now.items():
        is_read = not isinstance(loop.carried[other], Unbound) or other in loop.live
        if held is now and other != name and is_read:
            _refuse(name)


def _refuse(name: str) -> None:
    what = f"{name!r} is bound to a list that has another name, too, in a loop"
    raise unsupported(what, _REMEDY.format(name))


def begin_aliases(loop: LoopRegion) -> None:
    """Before the body: lists that an earlier iteration may have given away, or frozen."""
    aliases = loop.trace.owned(Aliases)
    loop.known_lists = frozenset(loop.trace.owned(ListsByKey))
    for key, one in loop.trace.owned(ListsByKey).items():
        if loop.decided("given", key):
            aliases.give(one)
        if loop.decided("frozen", key):
            aliases.freeze(one)
    loop.aliases = aliases.now


def settle_aliases(loop: LoopRegion) -> None:
    """At the end of the body: require that the next iteration may begin like this one."""
    trace = loop.trace
    trace.owned(NestedUses).require_places()
    aliases = trace.owned(Aliases)
    for name, one in loop.carried.items():
        if isinstance(one, CarriedList) and loop.now[name] is not one.seen:
            aliases.renew(one.seen)
    for what, now, before in (
        ("given", aliases.now.given, loop.aliases.given),
        ("frozen", aliases.now.frozen, loop.aliases.frozen),
    ):
        for key in now - before:
            if trace.owned(ListsByKey)[key].home is not trace.block:
                loop.decide(True, what, key)


class JoinedList(Joined):
    """The list from before the conditional; a branch with another list stores the items in it."""

    def __init__(self, branches: Branches, target: TracedList) -> None:
        super().__init__(branches)
        self.target = target

    def other(self, side: int) -> TracedList | None:
        """The list whose items the one from before takes in a branch."""
        obj: TracedList = self.sides[side]
        return None if obj is self.target else obj

    def hand_on(self, side: int) -> list[Value]:
        """Nothing; the items are stored."""
        other = self.other(side)
        if other is not None:
            self.target.take(other)
        return []

    def join(self, results: Sequence[Value]) -> Any:
        """The list."""
        return self.target


def joined_list(branches: Branches, before: Any, is_read: bool) -> JoinedList | None:
    """Join the lists of two branches; None if the program could tell them apart."""
    displays = branches.trace.owned(Displays)
    lists = [obj for obj in branches.sides if isinstance(obj, TracedList)]
    if lists or is_read:
        for obj in branches.sides:
            displays.try_traced(branches.trace, obj)
    if len(lists) < 2 or not isinstance(before, TracedList):
        return None
    others = [obj for obj in branches.sides if obj is not before]
    if before.home in branches.blocks or is_shared(before, branches.name):
        return None
    if any(o.home in branches.blocks and is_shared(o, branches.name) for o in others):
        return None
    loops = (getattr(region, "items", None) for region in branches.trace.regions)
    if any(before is one for items in loops if items is not None for one in items.containers):
        return None  # the loop goes on over the list of before
    for obj in others:
        before.require_form_of(obj)
    return JoinedList(branches, before)


def join_aliases(joined: Sequence[JoinedList], sides: tuple[AliasSets, AliasSets]) -> AliasSets:
    """The lists that are given away or frozen after a conditional."""
    targets = {one.target.key for one in joined}
    found = list(sides)
    for one in joined:
        for side, block in enumerate(one.branches.blocks):
            other = one.other(side)
            if other is None:
                continue
            if other.key in targets:
                what = f"{one.name!r} exchanges lists under a condition"
                raise unsupported(what, "copy them: a, b = b[:], a[:]")
            found[side] = found[side].without(one.target)
            has_other_name = other.home is not block or other.key in found[side].frozen
            if has_other_name:
                both = frozenset((other.key, one.target.key))
                found[side] = found[side]._replace(frozen=found[side].frozen | both)
    return found[0].joined(found[1])
