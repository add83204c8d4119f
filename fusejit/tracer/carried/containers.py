"""Containers that a loop or a conditional binds again: ``frontier = found``, ``streak = []``.

The list, dictionary or set of before is filled with the items of the new one. That is the new one
to a program that cannot tell them apart: only one name may lead to each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.ir.values import Value
from fusejit.tracer.carried.joined import Branches, Joined
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.unbound import Unbound
from fusejit.tracer.keyed.keyed_container import KeyedContainer
from fusejit.tracer.lists.aliases import Aliases, AliasSets, ContainersByKey
from fusejit.tracer.lists.comparisons import type_in_program
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.lists.nested_list import NestedList, NestedUses
from fusejit.tracer.lists.tables import long_tuple
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.locations import OWN, unsupported, user_frames
from fusejit.tracer.program.python_state import is_shared
from fusejit.tracer.source.jumps import is_result
from fusejit.tracer.strings.joined_text import JoinedText
from fusejit.tracer.values.live_out_arrays import LiveOutArrays

OWNED = (TracedList, KeyedContainer, JoinedText)
_REMEDY = "write {0} = {0}.copy() where it gets another name"


class CarriedContainer(Carried):
    """Memory for the content of the container that a name holds."""

    seen: Any

    @classmethod
    def of(cls, loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried | None:
        """Carry a name that an attempt has seen bound to another one; None for others."""
        if not isinstance(obj, OWNED) or not loop.decided("list buffer", name):
            return None
        may_be_another = loop.trace.owned(Aliases).may_be_another(obj)
        is_tuple = obj.python_type is tuple  # a copy of it is as good
        if not is_tuple and (may_be_another or is_shared(obj, name, loop.place_of(name))):
            _refuse(name)
        made: Any = obj.made_like((*loop.visit, name))
        made.take(obj)
        return cls(loop, name, obj, made)

    def widen(self, now: Any) -> None:
        """Require a container that no other name holds."""
        require_container(self.loop, self.name, self.seen, now)
        if now is not self.seen:
            _require_form_of(self.seen, now)

    def store(self, now: Any, behind: LiveOutArrays) -> None:
        """Store the content of another container."""
        if now is not self.seen:
            now = _by_itself(now)
            behind.moves += self.seen.moves_from(now)

    def left(self, results: Sequence[Value]) -> Any:
        """The container."""
        return self.seen


def require_container(loop: LoopRegion, name: str, before: Any, now: Any) -> None:
    """Require a container of the same kind under a name, which nothing else leads to."""
    loop.trace.owned(Displays).require_traced(loop.trace, now)
    if not before.is_like(now):
        loop.peel_or_refuse(name, before, now)
    if now is before or _may_be_copied(now):
        return
    is_carried = any(one.seen is now for one in loop.carried.values())
    is_from_before = now.key in loop.known_containers and not is_carried
    if is_from_before or loop.trace.owned(Aliases).may_be_another(now):
        _refuse(name)
    for other, held in loop.now.items():
        is_read = not isinstance(loop.carried[other], Unbound) or other in loop.live
        if held is now and other != name and is_read:
            _refuse(name)


def _may_be_copied(obj: Any) -> bool:
    """Whether a copy of it is made, or as good."""
    return isinstance(obj, NestedList) or type_in_program(obj) is tuple


def _by_itself(obj: Any) -> Any:
    """The container, or a copy of one in a list, or of a tuple of Python's."""
    if isinstance(obj, NestedList):
        return obj.as_own()
    return long_tuple(obj) if type(obj) is tuple else obj


def _require_form_of(container: Any, other: Any) -> None:
    """Have a container hold items of the form of another one's."""
    if type(other) is not tuple:
        container.require_form_of(other.pool if isinstance(other, NestedList) else other)
        return
    for item in other:
        container.require_form(item)


def _refuse(name: str) -> None:
    what = f"{name!r} is bound to a container that has another name, too, in a loop"
    raise unsupported(what, _REMEDY.format(name))


def begin_aliases(loop: LoopRegion) -> None:
    """Before the body: lists that an earlier iteration may have given away, or frozen."""
    aliases = loop.trace.owned(Aliases)
    loop.known_containers = frozenset(loop.trace.owned(ContainersByKey))
    for key, one in loop.trace.owned(ContainersByKey).items():
        if loop.decided("given", key, *loop.visit):
            aliases.give(one)
        if loop.decided("frozen", key, *loop.visit):
            aliases.freeze(one)
    loop.aliases = aliases.now


def settle_aliases(loop: LoopRegion) -> None:
    """At the end of the body: require that the next iteration may begin like this one."""
    trace = loop.trace
    trace.owned(NestedUses).require_places(loop)
    aliases = trace.owned(Aliases)
    for name, one in loop.carried.items():
        now = loop.now[name]
        if isinstance(one, CarriedContainer) and isinstance(now, NestedList):
            aliases.freeze(one.seen, now.pool.shared)
        elif isinstance(one, CarriedContainer) and now is not one.seen:
            aliases.renew(one.seen)
    for what, found, before in (
        ("given", aliases.now.given, loop.aliases.given),
        ("frozen", aliases.now.frozen, loop.aliases.frozen),
    ):
        for key in found - before:
            home = trace.owned(ContainersByKey)[key].home
            if home is not trace.block and trace.is_open(home):  # else made in this iteration
                loop.decide(True, what, key, *loop.visit)


class JoinedContainer(Joined):
    """The container from before the conditional; a branch with another stores its content in it."""

    def __init__(self, branches: Branches, target: Any) -> None:
        super().__init__(branches)
        self.target = target

    def other(self, side: int) -> Any:
        """The container whose content the one from before takes in a branch, or None."""
        obj = self.sides[side]
        return None if obj is self.target else obj

    def hand_on(self, side: int) -> list[Value]:
        """Nothing; the content is stored."""
        other = self.other(side)
        if other is not None:
            self.target.take(_by_itself(other))
        return []

    def join(self, results: Sequence[Value]) -> Any:
        """The container."""
        return self.target


def _has_other_name(container: Any, name: str) -> bool:
    """Whether the program may reach a container from before a conditional that ``name`` gets.

    If that is what the function is going to return, nobody reads the names of the function again:
    no flag stands for a ``return`` out of a ``try``.
    """
    frames = user_frames()
    is_returned = is_result(name, OWN) and frames
    return not is_returned or is_shared(container, frozenset(frames[0].f_locals))


def joined_container(
    branches: Branches, before: Any, is_read: bool, place: tuple[Any, str] | None
) -> JoinedContainer | None:
    """Join the containers of two branches; None if the program could tell them apart.

    ``place`` is the object and the name of an attribute that holds them, if it is no name.
    """
    displays = branches.trace.owned(Displays)
    is_tuple = isinstance(before, TracedList) and before.python_type is tuple
    kinds = (*OWNED, NestedList, *((tuple,) if is_tuple else ()))
    held = [obj for obj in branches.sides if isinstance(obj, kinds)]
    if held or is_read:
        for obj in branches.sides:
            displays.try_traced(branches.trace, obj)
    if len(held) < 2 or not isinstance(before, OWNED) or not all(map(before.is_like, held)):
        return None
    others = [obj for obj in branches.sides if obj is not before]
    if before.home in branches.blocks or is_shared(before, branches.name, place):
        return None
    new = [obj for obj in others if not _may_be_copied(obj) and obj.home in branches.blocks]
    if any(
        is_shared(obj, branches.name, place) and _has_other_name(obj, branches.name) for obj in new
    ):
        return None
    loops = (getattr(region, "items", None) for region in branches.trace.regions)
    if any(before is one for items in loops if items is not None for one in items.containers):
        return None  # the loop goes on over the list of before
    for obj in others:
        _require_form_of(before, obj)
    return JoinedContainer(branches, before)


def join_aliases(
    joined: Sequence[JoinedContainer], sides: tuple[AliasSets, AliasSets]
) -> AliasSets:
    """The containers that are given away or frozen after a conditional."""
    targets = {one.target.key for one in joined}
    found = list(sides)
    for one in joined:
        for side, block in enumerate(one.branches.blocks):
            other = one.other(side)
            if other is None:
                continue
            if type_in_program(other) is tuple:
                continue
            if isinstance(other, NestedList):
                both = frozenset((other.pool.shared.key, one.target.key))
                found[side] = found[side]._replace(frozen=found[side].frozen | both)
                continue
            if other.key in targets:
                what = f"{one.name!r} exchanges containers under a condition"
                raise unsupported(what, "copy them: a, b = b.copy(), a.copy()")
            found[side] = found[side].without(one.target)
            is_frozen = other.key in found[side].frozen
            if is_frozen or (other.home is not block and _has_other_name(other, one.name)):
                both = frozenset((other.key, one.target.key))
                found[side] = found[side]._replace(frozen=found[side].frozen | both)
    return found[0].joined(found[1])
