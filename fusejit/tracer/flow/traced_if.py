"""Conditionals: decided while tracing, or traced as one `Cond` of the graph.

::

    _c = _st.if_(x > 0, ('y',), (...))
    if _c.is_traced: _c.then(locals())
    if _c.taken:
        y = ...
    if _c.is_traced: (y,) = _c.otherwise(locals())
    if _c.other:
        y = ...
    if _c.is_traced: (y,) = _c.result(locals())
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from fusejit.ir.ops import Block, Cond
from fusejit.ir.types import Kind
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace, current_trace, running_trace
from fusejit.tracer.carried.attributes import Attribute
from fusejit.tracer.carried.chosen_results import ChosenResult, OnlyResult, may_be_chosen
from fusejit.tracer.carried.containers import OWNED, JoinedContainer, join_aliases, joined_container
from fusejit.tracer.carried.held_arrays import is_held
from fusejit.tracer.carried.joined import (
    Branches,
    Joined,
    JoinedArray,
    JoinedNumber,
    JoinedObject,
    Same,
)
from fusejit.tracer.carried.prefix_buffers import JoinedRows, PrefixBuffers
from fusejit.tracer.carried.records import are_records, take_apart
from fusejit.tracer.carried.regions import Region, RegionNames, describe, is_array, same_object
from fusejit.tracer.carried.tuple_parts import flag_of, is_tuple_as, item_at, items_of, part_of
from fusejit.tracer.lists.aliases import Aliases, AliasSets
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.lists.item_parts import request_pools
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.np.elementwise.ufuncs import operator_call
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, truth_of
from fusejit.tracer.ops.origins import are_tracked
from fusejit.tracer.ops.traced_text import OF_TEXT, is_string
from fusejit.tracer.ops.union_types import has_type, is_value, joined, narrowed, type_of
from fusejit.tracer.program.callables import CONSTANT_TYPES, is_user_function
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import OWN, current_span, needs_python, user_frames
from fusejit.tracer.source.jumps import is_result
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.undefined import Undefined
from fusejit.tracer.values.union_scalar import OptionalTuple, TypeTest, TypeTests, is_union_scalar


class TracedIf(Region):
    """One ``if`` at one place of the trace."""

    def __init__(
        self, trace: Trace, key: tuple[Any, ...], condition: Any, about: RegionNames
    ) -> None:
        super().__init__(trace, key, about)
        truth = decide(condition)
        self.is_traced = isinstance(truth, TracedArray)
        self.predicate = as_kernel_number(truth) if self.is_traced else None
        self.taken = self.is_traced or truth
        self.other = self.is_traced or not truth
        self._then: dict[str, Any] = {}
        self._now: dict[str, Any] = {}
        self._starts: dict[str, TracedList] = {}  # for new lists of both branches
        self._then_block: Block | None = None
        self._prefix_buffers = PrefixBuffers(self)
        self._aliases = AliasSets()  # before the conditional, then after its first block

    def type_test(self) -> TypeTest | None:
        """What the condition says of the type of a number in the block that is open."""
        assert self.predicate is not None
        test: TypeTest | None = self.trace.owned(TypeTests).get(self.predicate.value())
        return test if test is None or self._then_block is None else test.negated()

    def then(self, names: Mapping[str, Any]) -> None:
        """Begin the first block."""
        assert self.predicate is not None
        self.predicate.value()
        self._before = {name: self.look_up(names, name) for name in self.names}
        self._starts = {
            name: TracedList(
                self.trace, (*self.trace.visit((self.key, self.location)), name, "start")
            )
            for name, held in self._before.items()
            if self.decided("list start", name) and Undefined.is_unbound(held)
        }
        self._aliases = self.trace.owned(Aliases).now
        self.open(Block())

    def write(self, attribute: Attribute, before: Any) -> Any:
        """Note what an attribute holds that is about to be written; returns what it held before."""
        name = self.name_of(attribute)
        if name is None:
            frames = user_frames()
            name = self.name_attribute(attribute, frames[0].f_locals if frames else {})
            self._before[name] = before
        return self._before[name]

    def _held(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """What the names hold at the end of a block; the objects hold what they held before."""
        names = self.with_attributes(names)
        held = {name: self.look_up(names, name) for name in self.names}
        self.hand_out(self._before)
        return held

    def otherwise(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """End the first block and begin the second; what the names held before both."""
        self._then = self._held(names)
        self._prefix_buffers.open(self._then, self._before)
        self._then_block = self.close()
        aliases = self.trace.owned(Aliases)
        self._aliases, aliases.now = aliases.now, self._aliases
        self.open(Block())
        return tuple(self._before[name] for name in self._written)

    def result(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """End the second block; what the names hold after both."""
        self._now = self._held(names)
        self._then = {name: self._then.get(name, self._before[name]) for name in self.names}
        held = self.join(self._then, self._now, names)
        self.hand_out(held)
        return tuple(held[name] for name in self._written)

    def condition_here(self) -> TracedArray:
        """The condition under which the block runs that is being traced."""
        assert self.predicate is not None
        holds = as_kernel_number(self.predicate, Kind.SCALAR, BOOL)
        if self._then_block is None:
            return holds
        opposite: TracedArray = operator_call(np.logical_not, (holds,))
        return opposite

    # -- joining ----------------------------------------------------------------------------------
    def join(
        self, left: dict[str, Any], right: dict[str, Any], names: Mapping[str, Any]
    ) -> dict[str, Any]:
        """One object for each name, whichever block has run; the op is made."""
        assert self._then_block is not None
        assert self.predicate is not None
        blocks = self._then_block, self.trace.block
        sides = self._without_tuples(left, right)
        self._allow_missing(*sides)
        kinds: dict[str, Joined] = {}
        seen: dict[tuple[int, int], Joined] = {}
        for name in sides[0]:
            pair = sides[0][name], sides[1][name]
            branches = Branches(self.trace, name, pair, blocks)
            one = self._joined(branches, names, self._has_two_names(name, sides))
            is_array_ = isinstance(one, JoinedArray)  # the same one for names of the same objects
            kinds[name] = seen.setdefault((id(pair[0]), id(pair[1])), one) if is_array_ else one
        contents = [*dict.fromkeys(kinds.values())]
        arrays = [one for one in contents if isinstance(one, JoinedArray)]
        lists = [one for one in contents if isinstance(one, JoinedContainer)]
        aliases = self.trace.owned(Aliases)
        aliases.now = join_aliases(lists, (self._aliases, aliases.now))
        counts = self._prefix_buffers.count([o for o in contents if isinstance(o, JoinedRows)])
        objects = [*map(JoinedObject, arrays)] if are_tracked(self.trace) else []
        entries: list[Joined] = [*contents, *counts, *objects]
        other_yields = [one.hand_on(1) for one in entries]
        else_block = self.close()
        else_block.yields = tuple(itertools.chain.from_iterable(other_yields))
        self.trace.blocks.append(self._then_block)
        yields = [one.hand_on(0) for one in entries]
        self._then_block.yields = tuple(itertools.chain.from_iterable(yields))
        self.trace.blocks.pop()
        for value, other in zip(self._then_block.yields, else_block.yields, strict=True):
            if value.type.rank > 1 and value.order != other.order:  # strides of the result show it
                raise Fallback("the order of axes in memory depends on a condition")
        op = Cond(
            results=tuple(map(self.result_of, else_block.yields)),
            predicate=self.predicate.value(),
            then_block=self._then_block,
            else_block=else_block,
        )
        self.emit(op)
        left_over = iter(op.results)
        results = {
            one: [next(left_over) for _ in own] for one, own in zip(entries, yields, strict=True)
        }
        made = {one: one.join(results[one]) for one in (*counts, *objects, *contents)}
        for first, second in itertools.combinations(arrays, 2):
            pairs = zip(first.sides, second.sides, strict=True)
            if any(_share_memory(pair, blocks) for pair in pairs):
                why = "one of two views of one array, depending on a condition"
                made[first].storage.note_copied(made[second].storage, True, why)
                made[second].storage.note_copied(made[first].storage, True, why)
        held = {name: made[one] for name, one in kinds.items()}
        return {name: self.put_together(name, held) for name in left}

    def _has_two_names(self, name: str, sides: tuple[dict[str, Any], dict[str, Any]]) -> bool:
        """Whether a branch has given a container two names that are read later."""
        return any(
            isinstance(side[name], TracedContainer)
            and any(side[n] is side[name] for n in self.live - {name} if n in side)
            for side in sides
        )

    def _joined(self, branches: Branches, names: Mapping[str, Any], has_two_names: bool) -> Joined:
        """What joins the objects that a name holds in either branch."""
        name, pair = branches.name, branches.sides
        if same_object(self.trace, *pair):
            is_one = pair[0] is pair[1] or not is_array(pair[0])
            return Same(branches, pair[0] if is_one else pair[0].one_of_two(pair[1]))
        if any(isinstance(obj, Undefined) for obj in pair):
            return self._joined_with_none(branches, names)
        if all(map(has_type, pair)) and not all(isinstance(obj, OWNED) for obj in pair):
            type_ = joined(*pair)
            if type_ is not None:
                return JoinedNumber(branches, type_)
        elif all(map(is_array, pair)) and self._is_alike(*pair):
            return JoinedArray(self._told(branches, names))
        elif self._prefix_buffers.is_cut(name, *pair):
            return self._prefix_buffers.put(self._told(branches, names))
        place = self.place_of(name)
        before = self._starts.get(name, self._before.get(name))
        lists = joined_container(branches, before, name in self.live, place)
        if lists is not None and not has_two_names:
            return lists
        if Undefined.is_unbound(before) and all(self._is_new_list(obj) for obj in pair):
            self.decide(True, "list start", name)
        if all(map(is_string, pair)):
            return JoinedNumber(branches, OF_TEXT)
        if are_records(*pair) and not self.decided("record", name):
            self.decide(True, "record", name)
        self._request_pools(name, *pair)
        is_returned = self.location.inlined_from is None and is_result(name, OWN)
        if is_returned and may_be_chosen(branches):
            return ChosenResult(branches)
        return _untold(branches, f"is {' or '.join(map(describe, pair))}, depending on a condition")

    def _allow_missing(self, left: dict[str, Any], right: dict[str, Any]) -> None:
        """Have attributes that one branch alone gives to an object be missing or not."""
        pairs = {name: (left[name], right[name]) for name in left if name in self._attributes}
        found = {}
        for name, (one, other) in pairs.items():
            if Undefined.is_unbound(one) is not Undefined.is_unbound(other):
                found[name] = other if Undefined.is_unbound(one) else one
        self.allow_missing(found)

    def _joined_with_none(self, branches: Branches, names: Mapping[str, Any]) -> Joined:
        """What joins the object of one branch with none of the other."""
        missing = [obj for obj in branches.sides if isinstance(obj, Undefined)]
        if len(missing) == 2:
            unknown = (obj for obj in missing if not Undefined.is_unbound(obj))
            return Same(branches, next(unknown, missing[0]))
        known = next(obj for obj in branches.sides if not isinstance(obj, Undefined))
        self._request_pools(branches.name, known)
        if self.is_sure(branches.name, missing[0]):
            if is_value(known):
                return JoinedNumber(branches, type_of(known))
            if known is None or isinstance(known, str) or self._is_around(known):
                return Same(branches, known)  # where there is none, nothing reads it
            self.trace.owned(Displays).try_traced(self.trace, known)
            if isinstance(known, TracedList) and known.home in branches.blocks:
                self._require_list_before(branches.name)
            if may_be_chosen(branches._replace(sides=(known, None))):
                return OnlyResult(branches, known)
            is_visible = self.trace.locals.is_visible_around
            if is_array(known) and all(map(is_visible, known.extents)):
                return JoinedArray(self._told(branches, names))
        return _untold(branches, "is not defined in both branches")

    def _request_pools(self, name: str, *objects: Any) -> None:
        """Have objects have numbers that are told apart after the conditional."""
        if name in self.live or name in self._attributes:
            for obj in objects:
                request_pools(self.trace, obj)

    def _is_new_list(self, obj: Any) -> bool:
        """Whether it is a list that a branch has made."""
        blocks = self._then_block, self.trace.block
        return isinstance(obj, TracedList) and obj.python_type is list and obj.home in blocks

    def _require_list_before(self, name: str) -> None:
        """Have the recursion that the conditional is in begin with a list under a name."""
        for region in reversed(self.trace.regions):
            if getattr(region, "is_recursion", False) and region.key[0] == self.key[0]:
                region.require_list(name)

    def _told(self, branches: Branches, names: Mapping[str, Any]) -> Branches:
        """The branches, and whether copies of their arrays can be told from them."""
        known = (self._is_known_as(branches.name, obj, names) for obj in branches.sides)
        return branches._replace(is_shared=tuple(not is_known for is_known in known))

    def _is_known_as(self, name: str, obj: Any, names: Mapping[str, Any]) -> bool:
        """Whether only one name has held an array, so that its change is nobody else's."""
        was_there = obj is self._before.get(name)
        if self.location.inlined_from is not None or not was_there:
            return False
        if not is_array(obj):
            return True
        root = obj.storage.root
        sides = (names, self._then, self._now)
        return not any(is_held(self.trace, held, name, root) for held in sides)

    def _without_tuples(
        self, left: dict[str, Any], right: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both sides, with tuples of one length taken apart: each item is joined by itself."""
        sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        for name in left:
            pair: tuple[Any, ...] = (left[name], right[name])
            if self.decided("record", name) and not any(o is None for o in pair):
                parts_of = [take_apart(o, self._carried_attributes()) for o in pair]
                pair = tuple(o if r is None else r for o, r in zip(pair, parts_of, strict=True))
            self._take_apart(sides, name, pair)
        return sides

    def _take_apart(
        self, sides: tuple[dict[str, Any], dict[str, Any]], name: str, pair: tuple[Any, ...]
    ) -> None:
        """What a name holds in either block, by its parts if it is a tuple in both, or None."""
        shown = next((items_of(o) for o in pair if items_of(o) is not None), None)
        if shown is None or not all(is_tuple_as(o, shown) for o in pair):
            for side, obj in zip(sides, pair, strict=True):
                side[name] = obj
            return
        may_be_none = any(o is None or isinstance(o, OptionalTuple) for o in pair)
        for place, part in enumerate(self.name_parts(name, shown, may_be_none=may_be_none)):
            self._take_apart(sides, part, tuple(part_of(o, place) for o in pair))
        for side, obj in zip(sides, pair if may_be_none else (), strict=False):
            side[flag_of(name)] = obj if isinstance(obj, Undefined) else item_at(obj, "?")

    def _is_around(self, obj: Any) -> bool:
        """Whether an object is an array that was made before the conditional."""
        if not is_array(obj) or not self.trace.is_open(obj.storage.home):
            return False
        is_inside = obj.storage.home in (self._then_block, self.trace.block)
        place = (*obj.map.results, *obj.extents)
        return not is_inside and all(map(self.trace.locals.is_visible_around, place))

    def _is_alike(self, left: TracedArray, right: TracedArray) -> bool:
        canonical = self.trace.decisions.canonical
        shapes = [list(map(canonical, a.extents)) for a in (left, right)]
        return left.dtype == right.dtype and shapes[0] == shapes[1]


def _untold(branches: Branches, why: str) -> Joined:
    """What a name holds of which only Python can tell what it is, by running this."""
    return Same(branches, Undefined(branches.name, why, span=current_span()))


def _share_memory(objects: tuple[Any, Any], inside: tuple[Block, Block]) -> bool:
    """Whether objects of a block are views of one array that the block has made."""
    if not all(map(is_array, objects)):
        return False
    roots = {obj.storage.root for obj in objects}
    return len(roots) == 1 and roots.pop().home in inside


def decide(condition: Any) -> Any:
    """The truth of a condition: a bool if it is known here, else a number of the kernel."""
    if isinstance(condition, TracedArray) and not condition.ndim:
        return truth_of(condition)
    condition = narrowed(condition)
    if isinstance(condition, OptionalTuple):
        if is_asked_for_truth(condition.items):
            raise needs_python("asks for the truth of an object or None", "ask whether it is None")
        return condition.tag if condition.items else False
    if is_union_scalar(condition) or isinstance(condition, TracedContainer):
        return truth_of(condition)
    if isinstance(condition, SymbolicNumber):
        decisions = condition.trace.decisions
        is_inner = condition.trace.block is not condition.trace.graph.block
        try:
            with decisions.without_assumptions() if is_inner else nullcontext():
                return bool(condition)
        except Varies:
            return truth_of(condition)
    if is_asked_for_truth(condition):
        return decide(current_trace().inlined(_truth_of_object, (condition,)))
    return bool(condition)


def is_asked_for_truth(obj: Any) -> bool:
    """Whether a method of the user's tells the truth of an object."""
    if type(obj) in CONSTANT_TYPES or running_trace() is None:
        return False
    methods = (getattr(type(obj), name, None) for name in ("__bool__", "__len__"))
    return any(map(is_user_function, methods))


def _truth_of_object(obj: Any) -> Any:
    """``bool(obj)``, in the program: the method is traced."""
    return bool(obj)
