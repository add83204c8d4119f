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

import functools
import itertools
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from fusejit.ir.ops import Block, Cond
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.flow.carried_values import Role, ValueOf
from fusejit.tracer.flow.prefix_buffers import PrefixBuffers
from fusejit.tracer.flow.regions import (
    Region,
    RegionNames,
    describe,
    flag_of,
    is_array,
    is_held,
    is_tuple,
    items_of,
    same_object,
)
from fusejit.tracer.np.elementwise.ufuncs import operator_call
from fusejit.tracer.ops.elementwise_op import full
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, is_number, truth_of
from fusejit.tracer.ops.number_values import number_values, of_values, types_of_values, zero
from fusejit.tracer.ops.origins import Origin, are_tracked, is_captured, number_of
from fusejit.tracer.ops.union_types import has_type, joined, narrowed, type_of
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import current_span
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, I64, Operand
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.undefined import ABSENT, Undefined
from fusejit.tracer.values.union_scalar import (
    NumberType,
    OptionalTuple,
    TypeTest,
    TypeTests,
    UnionType,
    is_union_scalar,
)


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
        self._then_block: Block | None = None
        self._sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})  # without tuples
        self._prefix_buffers = PrefixBuffers(self)

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
        self.open(Block())

    def otherwise(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """End the first block and begin the second; what the names held before both."""
        self._then = {name: self.look_up(names, name) for name in self.names}
        self._prefix_buffers.open(self._then, self._before)
        self._then_block = self.close()
        self.open(Block())
        return tuple(self._before.values())

    def result(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """End the second block; what the names hold after both."""
        self._now = {name: self.look_up(names, name) for name in self.names}
        return self.join(self._then, self._now, names)

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
    ) -> tuple[Any, ...]:
        """One object for each name, whichever block has run; the op is made."""
        assert self._then_block is not None
        assert self.predicate is not None
        all_names = list(left)
        left, right = self._sides = self._without_tuples(left, right)
        joined_names: dict[str, Any] = {}
        plans: list[tuple[ValueOf, NumberType | UnionType | None]] = []
        for name in left:
            pair = (left[name], right[name])
            if same_object(self.trace, *pair):
                is_one = pair[0] is pair[1] or not is_array(pair[0])
                joined_names[name] = pair[0] if is_one else pair[0].one_of_two(pair[1])
            elif all(isinstance(o, Undefined) for o in pair):
                unknown = (o for o in pair if not Undefined.is_unbound(o))
                joined_names[name] = next(unknown, pair[0])
            elif any(isinstance(o, Undefined) for o in pair):
                known = next(o for o in pair if not isinstance(o, Undefined))
                missing = next(o for o in pair if isinstance(o, Undefined))
                if not self.is_sure(name, missing):
                    joined_names[name] = self._untold(name, "is not defined in both branches")
                elif is_number(known) or is_union_scalar(known):
                    plans.append((ValueOf(name), type_of(known)))
                elif (
                    known is None
                    or isinstance(known, str)
                    or (is_array(known) and self._is_around(known))
                ):
                    joined_names[name] = known  # where there is none, nothing reads it
                elif is_array(known):
                    plans.append((ValueOf(name), None))
                else:
                    joined_names[name] = self._untold(name, "is not defined in both branches")
            elif all(map(has_type, pair)):
                type_ = joined(*pair)
                if type_ is None:
                    kinds = " or ".join(map(describe, pair))
                    joined_names[name] = self._untold(name, f"is {kinds}, depending on a condition")
                else:
                    plans.append((ValueOf(name), type_))
            elif all(map(is_array, pair)) and self._is_alike(*pair):
                plans.append((ValueOf(name), None))
            elif self._prefix_buffers.is_cut(name, *pair):
                self._prefix_buffers.put(name, right[name])
            else:
                kinds = " or ".join(map(describe, pair))
                joined_names[name] = self._untold(name, f"is {kinds}, depending on a condition")
        lengths = self._prefix_buffers.lengths(left, right)
        for number in lengths:
            plans.append((ValueOf(number, Role.ROWS), (Kind.PYTHON, I64)))
        sides: list[dict[ValueOf, Any]] = [
            {
                **{ValueOf(n): obj for n, obj in side.items()},
                **{ValueOf(n, Role.ROWS): lengths[n][k] for n in lengths},
            }
            for k, side in enumerate((left, right))
        ]
        arrays = [of.name for of, type_ in plans if type_ is None]
        equal_names = _equal_names(arrays, left, right)
        plans = [
            plan
            for plan in plans
            if plan[0].role is not Role.CONTENTS or plan[0].name not in equal_names
        ]
        arrays = [name for name in arrays if name not in equal_names]
        inside = (self._then_block, self.trace.block)
        objects: dict[str, list[TracedArray]] = {name: [] for name in arrays}
        numbers: list[dict[ValueOf, Any]] = [{}, {}]
        if are_tracked(self.trace):
            of_objects = [ValueOf(name, Role.OBJECT) for name in arrays]
            plans += [(of, (Kind.PYTHON, I64)) for of in of_objects]
            numbers[1] = self._which(right, arrays, objects, inside)
        other_yields = self._values(plans, {**sides[1], **numbers[1]})
        else_block = self.close()
        else_block.yields = other_yields
        self.trace.blocks.append(self._then_block)
        if are_tracked(self.trace):
            numbers[0] = self._which(left, arrays, objects, inside)
        self._then_block.yields = self._values(plans, {**sides[0], **numbers[0]})
        self.trace.blocks.pop()
        for one, other in zip(self._then_block.yields, else_block.yields, strict=True):
            if one.type.rank > 1 and one.order != other.order:  # the strides of the result show it
                raise Fallback("the order of axes in memory depends on a condition")
        results = tuple(map(self.result_of, else_block.yields))
        op = Cond(
            results=results,
            predicate=self.predicate.value(),
            then_block=self._then_block,
            else_block=else_block,
        )
        self.emit(op)
        left_over = iter(results)
        made: dict[ValueOf, Value] = {}
        for of, type_ in plans:
            values = [
                next(left_over) for _ in range(1 if type_ is None else len(types_of_values(type_)))
            ]
            made[of] = values[0]
            if of.role is Role.CONTENTS:
                self._note_known(values[0], left[of.name], right[of.name])
            if isinstance(type_, UnionType):
                joined_names[of.name] = of_values(self.trace, type_, values)
        note_copy = functools.partial(self._note_copy, names=names)
        joined_names.update(self._prefix_buffers.joined((left, right), made, note_copy))
        for (name, role), value in made.items():
            if role is not Role.CONTENTS or name in joined_names:
                continue
            storage = Storage.of_value(self.trace, value)
            for obj in (left[name], right[name]):
                self._note_copy(storage, name, obj, names)
            array = joined_names[name] = TracedArray.whole(storage, value.kind)
            told = [o for o in (left[name], right[name]) if not isinstance(o, Undefined)]
            array.is_view = bool(told) and all(getattr(o, "is_view", False) for o in told)
            array.is_ndarray = bool(told) and all(getattr(o, "is_ndarray", False) for o in told)
            if storage.copied_from and name in objects:
                which = made.get(ValueOf(name, Role.OBJECT))
                storage.origin = Origin(array, tuple(objects[name]))
                if which is not None:
                    storage.origin.which = TracedArray.of_value(self.trace, which)
        for pair in itertools.combinations(arrays, 2):
            if any(_share_memory([side[n] for n in pair], inside) for side in (left, right)):
                why = "one of two views of one array, depending on a condition"
                for name, equal_name in (pair, pair[::-1]):
                    joined_names[name].storage.note_copied(
                        joined_names[equal_name].storage, True, why
                    )
        joined_names.update(
            {name: joined_names[equal_name] for name, equal_name in equal_names.items()}
        )
        return tuple(self.put_together(name, joined_names) for name in all_names)

    @staticmethod
    def _untold(name: str, why: str) -> Undefined:
        """What a name holds of which only Python can tell what it is, by running this."""
        return Undefined(name, why, span=current_span())

    def _note_known(self, value: Value, *sides: Any) -> None:
        """Note an int that is one of several that each call knows before its kernels run."""
        known: list[Any] = []
        for side in sides:
            is_given = isinstance(side, SymbolicNumber) and side.affine is not None
            if type(side) is int or (is_given and not side.is_local):
                known.append(side)
            elif isinstance(side, TracedArray) and side.storage.value is not None:
                known += self.trace.chosen_from.get(side.storage.value, (None,))
            else:
                return
        if not any(number is None for number in known):
            self.trace.chosen_from[value] = tuple(known)

    def _without_tuples(
        self, left: dict[str, Any], right: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both sides, with tuples of one length taken apart: each item is joined by itself."""
        sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        for name in left:
            pair = (left[name], right[name])
            shown = next((items_of(o) for o in pair if items_of(o) is not None), None)
            may_be_none = any(o is None or isinstance(o, OptionalTuple) for o in pair)
            for side, obj in zip(sides, pair, strict=True):
                if shown is None or not all(_is_like(o, shown) for o in pair):
                    side[name] = obj
                elif isinstance(obj, Undefined):
                    side.update(dict.fromkeys(self.taken_apart(name, shown, may_be_none), obj))
                elif obj is None:
                    parts = self.taken_apart(name, shown, may_be_none)
                    side.update(dict.fromkeys(parts, ABSENT) | {flag_of(name): False})
                else:
                    side.update(self.taken_apart(name, obj, may_be_none))
        return sides

    def _values(
        self,
        plans: list[tuple[ValueOf, NumberType | UnionType | None]],
        objects: dict[ValueOf, Any],
    ) -> tuple[Value, ...]:
        values: list[Value] = []
        for of, type_ in plans:
            obj = objects[of]
            if type_ is None:
                values.append(self._array_value(of.name, obj))
            else:
                values += number_values(zero(type_) if isinstance(obj, Undefined) else obj, type_)
        return tuple(values)

    def _is_around(self, array: Any) -> bool:
        """Whether an array was made before the conditional."""
        return self.trace.is_open(array.storage.home) and array.storage.home not in (
            self._then_block,
            self.trace.block,
        )

    def _which(
        self,
        side: Mapping[str, Any],
        arrays: list[str],
        objects: dict[str, list[TracedArray]],
        inside: tuple[Block, Block],
    ) -> dict[ValueOf, Any]:
        """For each array that is joined, which of the objects that were there before it is."""

        def known(obj: TracedArray, found: list[TracedArray]) -> int | None:
            home = obj.storage.root.home
            if home in inside or not self.trace.is_open(home):
                return None
            if not any(obj is other for other in found):
                found.append(obj)
            return 1 + next(k for k, other in enumerate(found) if other is obj)

        return {
            ValueOf(name, Role.OBJECT): number_of(
                side[name], functools.partial(known, found=objects[name]), self.trace
            )
            if is_array(side[name])
            else 0
            for name in arrays
        }

    def _array_value(self, name: str, obj: Any) -> Value:
        if not isinstance(obj, Undefined):
            value: Value = obj.value()
            return value
        other = next(side[name] for side in self._sides if is_array(side[name]))
        literal = Operand(other.dtype, literal=np.zeros((), other.dtype)[()])
        return full(other.extents, literal, other.dtype, other.storage.order).value()

    def _is_alike(self, left: TracedArray, right: TracedArray) -> bool:
        canonical = self.trace.decisions.canonical
        shapes = [list(map(canonical, a.extents)) for a in (left, right)]
        return left.dtype == right.dtype and shapes[0] == shapes[1]

    def _note_copy(self, copy: Storage, name: str, obj: Any, names: Mapping[str, Any]) -> None:
        """A choice between arrays is a copy, where NumPy has one of them itself."""
        if not isinstance(obj, TracedArray) or not is_array(obj):
            return
        copy.is_chosen = True
        root = obj.storage.root
        if not self.trace.is_open(obj.storage.home):  # made in a block, perhaps itself a choice
            for base in root.copied_from:
                if self.trace.is_open(base.home):
                    copy.note_copied(base, root.may_leave, root.copied_why)
            return
        is_own = obj.path is None and not is_captured(root)
        if root.buffer is None and root.origin is None and self._is_known_as(name, obj, names):
            return
        why = "one of two arrays, depending on a condition"
        is_whole = obj.is_whole or root.is_all_of(obj.map, obj.extents)
        copy.note_copied(root, is_own and is_whole, why)

    def _is_known_as(self, name: str, obj: TracedArray, names: Mapping[str, Any]) -> bool:
        """Whether only one name has held an array, so that its change is nobody else's."""
        root = obj.storage.root
        if self.location.inlined_from is not None or self._before.get(name) is not obj:
            return False
        return not any(is_held(held, name, root) for held in (names, self._then, self._now))


def _is_like(obj: Any, other: Any) -> bool:
    """Whether an object is a tuple of the same form, or whatever a name holds that is not bound."""
    if isinstance(obj, Undefined) or obj is None:
        return True
    obj = items_of(obj) or obj
    if not is_tuple(other):
        return not is_tuple(obj)
    is_same_kind = type(obj) is type(other) and len(obj) == len(other)
    return is_same_kind and all(map(_is_like, obj, other))


def _equal_names(
    names: list[str], left: Mapping[str, Any], right: Mapping[str, Any]
) -> dict[str, str]:
    """Names that hold the same object as another one, whichever block has run."""
    first: dict[tuple[int, int], str] = {}
    found = {name: first.setdefault((id(left[name]), id(right[name])), name) for name in names}
    return {name: equal_name for name, equal_name in found.items() if name != equal_name}


def _share_memory(objects: list[Any], inside: tuple[Block, Block]) -> bool:
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
        return condition.tag if condition.items else False
    if is_union_scalar(condition):
        return truth_of(condition)
    if isinstance(condition, SymbolicNumber):
        decisions = condition.trace.decisions
        is_inner = condition.trace.block is not condition.trace.graph.block
        try:
            with decisions.without_assumptions() if is_inner else nullcontext():
                return bool(condition)
        except Varies:
            return truth_of(condition)
    return bool(condition)
