"""Conditionals: decided while tracing, or staged as one `Cond` of the graph.

::

    _c = _st.if_(x > 0, ('y',), (...))
    if _c.staged: _c.then(locals())
    if _c.taken:
        y = ...
    if _c.staged: (y,) = _c.otherwise(locals())
    if _c.other:
        y = ...
    if _c.staged: (y,) = _c.result(locals())
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Alloc, Block, Buffer, Cond, Value
from fusejit.ir.types import Kind, TensorType
from fusejit.tracer.array import TracedArray
from fusejit.tracer.changing_extents import rows
from fusejit.tracer.declined import Declined
from fusejit.tracer.elementwise import full
from fusejit.tracer.kernel_numbers import as_kernel_number, is_number, number_type, truth_of
from fusejit.tracer.number import TracedNumber
from fusejit.tracer.operands import I64, Operand
from fusejit.tracer.regions import (
    NumberType,
    Region,
    Undefined,
    describe,
    is_array,
    joined_type,
    number_value,
    same_object,
)
from fusejit.tracer.shapes import Extents, Varies
from fusejit.tracer.shrinking import (
    are_rows_of_one_kind,
    capacity,
    is_left_of,
    length_name,
    number_of_rows,
)
from fusejit.tracer.storage import Storage
from fusejit.tracer.trace import Trace


class StagedIf(Region):
    """One ``if`` at one place of the trace."""

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        condition: Any,
        names: tuple[str, ...],
        live: frozenset[str],
    ) -> None:
        super().__init__(trace, key, names, live)
        truth = decide(condition)
        self.staged = isinstance(truth, TracedArray)
        self.predicate = as_kernel_number(truth) if self.staged else None
        self.taken = self.staged or truth
        self.other = self.staged or not truth
        self._then: dict[str, Any] = {}
        self._now: dict[str, Any] = {}
        self._then_block: Block | None = None
        self._fronts: dict[str, TracedArray] = {}  # of names whose arrays are cut in one branch
        self._never_grow: set[str] = set()  # of those, what has no more rows than in front

    def then(self, names: Mapping[str, Any]) -> None:
        """Begin the first block."""
        assert self.predicate is not None
        self.predicate.value()
        self._before = {name: self.look_up(names, name) for name in self.names}
        self.open(Block())

    def otherwise(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """End the first block and begin the second; what the names held in front of both."""
        self._then = {name: self.look_up(names, name) for name in self.names}
        self._open_fronts()
        self._then_block = self.close()
        self.open(Block())
        return tuple(self._before.values())

    def result(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """End the second block; what the names hold behind both."""
        self._now = {name: self.look_up(names, name) for name in self.names}
        return self.join(self._then, self._now, names)

    # -- joining ----------------------------------------------------------------------------------
    def join(
        self, left: dict[str, Any], right: dict[str, Any], names: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """One object for each name, whichever block has run; the op is made."""
        assert self._then_block is not None
        assert self.predicate is not None
        joined: dict[str, Any] = {}
        plans: list[tuple[str, NumberType | None]] = []
        for name in left:
            pair = (left[name], right[name])
            if same_object(self.trace, *pair):
                is_one = pair[0] is pair[1] or not is_array(pair[0])
                joined[name] = pair[0] if is_one else pair[0].one_of_two()
            elif any(isinstance(o, Undefined) for o in pair):
                known = next((o for o in pair if not isinstance(o, Undefined)), None)
                missing = next(o for o in pair if isinstance(o, Undefined))
                if not self.is_sure(name, missing):
                    joined[name] = Undefined(name, "is not defined in both branches")
                elif is_number(known):
                    plans.append((name, number_type(known)))
                elif is_array(known) and self._is_around(known):
                    joined[name] = known  # where there is none, nothing reads it
                elif is_array(known):
                    plans.append((name, None))
                else:
                    joined[name] = Undefined(name, "is not defined in both branches")
            elif all(map(is_number, pair)):
                type_ = joined_type(*map(number_type, pair))
                if type_ is None:
                    kinds = " or ".join(map(describe, pair))
                    joined[name] = Undefined(name, f"is {kinds}, depending on a condition")
                else:
                    plans.append((name, type_))
            elif all(map(is_array, pair)) and self._is_alike(*pair):
                plans.append((name, None))
            elif self._is_cut(name, *pair):
                self.trace.store(
                    rows(self._fronts[name], right[name].extents).memory(), right[name].value()
                )
            else:
                kinds = " or ".join(map(describe, pair))
                joined[name] = Undefined(name, f"is {kinds}, depending on a condition")
        lengths = self._lengths(left, right)
        for number in lengths:
            plans.append((length_name(number), (Kind.PYTHON, I64)))
        sides = [
            {**side, **{length_name(n): lengths[n][k] for n in lengths}}
            for k, side in enumerate((left, right))
        ]
        other_yields = self._values(plans, sides[1])
        else_block = self.close()
        else_block.yields = other_yields
        self.trace.blocks.append(self._then_block)
        self._then_block.yields = self._values(plans, sides[0])
        self.trace.blocks.pop()
        for one, other in zip(self._then_block.yields, else_block.yields, strict=True):
            if one.type.rank > 1 and one.order != other.order:  # the strides of the result show it
                raise Declined("the order of axes in memory depends on a condition")
        results = tuple(map(self.result_of, else_block.yields))
        op = Cond(
            results=results,
            predicate=self.predicate.value(),
            then_block=self._then_block,
            else_block=else_block,
        )
        self.emit(op)
        made = dict(zip([name for name, _ in plans], results, strict=True))
        joined.update(self._join_fronts(left, right, names, made))
        for (name, _), value in zip(plans, results, strict=True):
            if name not in left:
                continue
            storage = Storage.of_value(self.trace, value)
            for obj in (left[name], right[name]):
                self._note_copy(storage, name, obj, names)
            joined[name] = TracedArray.whole(storage, value.kind)
        return tuple(joined[name] for name in left)

    # -- arrays that are cut ----------------------------------------------------------------------
    def _open_fronts(self) -> None:
        """Memory for arrays that one branch cuts; the first branch puts its rows there."""
        for name in self.names:
            array = self._then[name]
            if not self.decided("cut", name) or not is_array(array):
                continue
            size = capacity(array)
            if size is None or array.storage.order is not None:
                continue
            extents = (size, *array.extents[1:])
            front = self._fronts[name] = TracedArray.whole(
                Storage.of_buffer(self.trace, self._memory(array.dtype, extents))
            )
            self.trace.store(rows(front, array.extents).memory(), array.value())
            if is_left_of(self._before[name], array):
                self._never_grow.add(name)

    def _memory(self, dtype: np.dtype, extents: Extents) -> Buffer:
        """Memory that is there in front of the conditional."""
        trace = self.trace
        extents = tuple(map(trace.decisions.canonical, extents))
        type_ = TensorType(dtype, extents)
        buffer = Buffer(trace.unique_name("c0"), type_, trace.new_alias_class())
        trace.graph.buffers.append(buffer)
        alloc = Alloc(buffer=buffer)
        alloc.location = self.location
        trace.append(alloc, trace.blocks[-2])
        return buffer

    def _is_cut(self, name: str, left: Any, right: Any) -> bool:
        """Whether an array is cut in one branch, and there is memory for either form of it."""
        if name in self._fronts:
            return is_left_of(self._fronts[name], right)
        if are_rows_of_one_kind(left, right) and self.decided("cut", name) is None:
            self.decide(True, "cut", name)
        return False

    def _lengths(self, left: dict[str, Any], right: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """How many rows there are in either branch, once for arrays that are equally long."""
        seen: dict[tuple[AffineExpr, AffineExpr], str] = {}
        found: dict[str, tuple[Any, Any]] = {}
        self._together: dict[str, str] = {}
        canonical = self.trace.decisions.canonical
        for name in self._fronts:
            if not is_left_of(self._before[name], right[name]):
                self._never_grow.discard(name)
            if is_left_of(self._fronts[name], right[name]):
                pair = canonical(left[name].extents[0]), canonical(right[name].extents[0])
                first = self._together[name] = seen.setdefault(pair, name)
                found[first] = (self.trace.number(pair[0]), self.trace.number(pair[1]))
        return found

    def _join_fronts(
        self,
        left: dict[str, Any],
        right: dict[str, Any],
        names: Mapping[str, Any],
        made: dict[str, Value],
    ) -> dict[str, TracedArray]:
        """The rows that the branch which has run has left of arrays."""
        joined: dict[str, TracedArray] = {}
        lengths: dict[str, AffineExpr] = {}
        decisions = self.trace.decisions
        for name, first in self._together.items():
            front = self._fronts[name]
            if first not in lengths:
                value = made[length_name(first)]
                lengths[first] = number_of_rows(self.trace, value, front.extents[0])
                if name in self._never_grow:
                    before = self._before[name].extents[0]
                    decisions.assume_nonnegative(before - lengths[first])
            assert front.storage.buffer is not None
            storage = Storage.of_buffer(self.trace, front.storage.buffer)
            storage.front = (lengths[first], *front.extents[1:])
            for obj in (left[name], right[name]):
                self._note_copy(storage, name, obj, names)
            joined[name] = rows(TracedArray.whole(storage), storage.front)
        return joined

    def _values(
        self, plans: list[tuple[str, NumberType | None]], names: dict[str, Any]
    ) -> tuple[Value, ...]:
        values = []
        for name, type_ in plans:
            obj = names[name]
            if type_ is None:
                values.append(self._array_value(name, obj))
            else:
                zero = {"b": False, "f": 0.0}.get(type_[1].kind, 0)
                values.append(number_value(zero if isinstance(obj, Undefined) else obj, type_))
        return tuple(values)

    def _is_around(self, array: Any) -> bool:
        """Whether an array was made in front of the conditional."""
        return self.trace.is_open(array.storage.home) and array.storage.home not in (
            self._then_block,
            self.trace.block,
        )

    def _array_value(self, name: str, obj: Any) -> Value:
        if not isinstance(obj, Undefined):
            value: Value = obj.value()
            return value
        other = self._then[name] if is_array(self._then[name]) else self._now[name]
        literal = Operand(other.dtype, literal=np.zeros((), other.dtype)[()])
        return full(self.trace, other.extents, literal, other.dtype, other.storage.order).value()

    def _is_alike(self, left: TracedArray, right: TracedArray) -> bool:
        canonical = self.trace.decisions.canonical
        shapes = [list(map(canonical, a.extents)) for a in (left, right)]
        return left.dtype == right.dtype and shapes[0] == shapes[1]

    def _note_copy(self, copy: Storage, name: str, obj: Any, names: Mapping[str, Any]) -> None:
        """A choice between arrays is a copy, where NumPy has one of them itself."""
        if not isinstance(obj, TracedArray) or not is_array(obj):
            return
        if not self.trace.is_open(obj.storage.home):
            return
        root = obj.storage.root
        is_own = obj.path is None and (root.buffer is None or root.buffer.origin is None)
        if root.buffer is None and self._is_known_as(name, obj, names):
            return
        why = "one of two arrays, depending on a condition"
        is_whole = obj.is_whole or root.is_all_of(obj.map, obj.extents)
        copy.note_copied(root, is_own and is_whole, why)

    def _is_known_as(self, name: str, obj: TracedArray, names: Mapping[str, Any]) -> bool:
        """Whether only one name has held an array, so that its change is nobody else's."""
        root = obj.storage.root
        if self.location.inlined_from is not None or self._before.get(name) is not obj:
            return False
        others = [held for other, held in names.items() if other != name]
        return not any(_holds(held, root) for held in others)


def _holds(held: Any, storage: Storage) -> bool:
    if isinstance(held, list | tuple | dict):
        return any(_holds(o, storage) for o in (held.values() if isinstance(held, dict) else held))
    return isinstance(held, TracedArray) and held.storage.root is storage


def decide(condition: Any) -> Any:
    """The truth of a condition: a bool if it is known here, else a number of the kernel."""
    if isinstance(condition, TracedArray) and not condition.ndim:
        return truth_of(condition)
    if isinstance(condition, TracedNumber):
        try:
            return bool(condition)
        except Varies:
            return truth_of(condition)
    return bool(condition)
