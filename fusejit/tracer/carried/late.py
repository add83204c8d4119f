"""Names after a loop that only its body binds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.carried.containers import OWNED
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.records import record_of
from fusejit.tracer.carried.regions import extents_are_captured, is_array, is_untraced_value
from fusejit.tracer.carried.unbound import ONLY_INSIDE, only_inside
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.lists.item_parts import request_pools
from fusejit.tracer.ops.number_values import (
    number_value,
    number_values,
    of_values,
    types_of_values,
    zero,
)
from fusejit.tracer.ops.union_types import is_value, type_of
from fusejit.tracer.program.locations import is_of_program
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.live_out_arrays import LiveOutArrays
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.undefined import UNDEFINED, Undefined


class Late(Carried):
    """A name after the loop that held nothing before it.

    Parameters
    ----------
    loop : LoopRegion
    name : str
    now : object
        What it holds at the end of the body.
    """

    def __init__(self, loop: LoopRegion, name: str, now: Any) -> None:
        super().__init__(loop, name, UNDEFINED, UNDEFINED)
        self.now = now

    def left(self, results: Sequence[Value]) -> Any:
        """The very object."""
        return self.now


class LateNumber(Late):
    """A number of the last iteration."""

    def hand_on(self, now: Any) -> list[Value]:
        """The number, and its tag."""
        return [*number_values(now, type_of(now))]

    def carry_zeros(self) -> None:
        """Zeros, which nothing reads."""
        type_ = type_of(self.now)
        labels = (self.name, f"{self.name}_as")
        for label, own in zip(labels, types_of_values(type_), strict=False):
            self.iter_args.append(self.loop.iter_arg(label, own, number_value(zero(own), own)))

    def left(self, results: Sequence[Value]) -> Any:
        """The number."""
        return of_values(self.loop.trace, type_of(self.now), results)


class LateInteger(Late):
    """An integer that the number of the iteration tells."""

    def left(self, results: Sequence[Value]) -> Any:
        """The integer of the last iteration."""
        made = self.loop.last_of(self.now)
        left = [made.affine] if isinstance(made, SymbolicNumber) and made.affine else []
        is_seen = all(map(self.loop.trace.locals.is_visible, left))
        return made if is_seen else Undefined(self.name, ONLY_INSIDE)


class LateArray(Late):
    """An array of the last iteration: a view of an array from before the loop, or a copy."""

    is_copied = False  # whether it may be an object that was there before the loop
    has_object = False  # whether the number of that object is carried

    def hand_on(self, now: Any) -> list[Value]:
        """The number of the object that the array is."""
        if not self.has_object:
            return []
        return [number_value(self.loop.origins.number(now), (Kind.PYTHON, I64))]

    def carry_zeros(self) -> None:
        """A zero, which nothing reads."""
        if self.has_object:
            start = number_value(0, (Kind.PYTHON, I64))
            label = f"object_of_{self.name}"
            self.iter_args.append(self.loop.iter_arg(label, (Kind.PYTHON, I64), start))

    def left(self, results: Sequence[Value]) -> Any:
        """The array, where the last iteration has it."""
        loop, now = self.loop, self.now
        if self.has_object:
            loop.origins.note_left(self.name, TracedArray.of_value(loop.trace, results[-1]))
        symbols = {} if loop.last is None else {loop.symbol: loop.last}
        mapped = tuple(e.substitute(symbols=symbols) for e in now.map.results)
        extents = tuple(e.substitute(symbols=symbols) for e in now.extents)
        if not all(map(loop.trace.locals.is_visible, (*mapped, *extents))):
            return Undefined(self.name, ONLY_INSIDE)
        if (mapped, extents) == (now.map.results, now.extents):
            return now  # the very object: it is not another part in each iteration
        made = TracedArray(now.storage, IndexingMap(now.map.num_dims, mapped), extents)
        _take_on(made, now)
        return loop.last_views.setdefault(id(now), made)  # two names may have one object


class LateContainer(Late):
    """A container that each iteration makes: its memory holds the items of the last one."""

    def left(self, results: Sequence[Value]) -> Any:
        """The container, which is there after the loop as well."""
        self.now.home = self.loop.trace.block
        return self.now


def late_of(
    loop: LoopRegion, name: str, now: Any, names: Mapping[str, Any], behind: LiveOutArrays
) -> Late:
    """Find the kind of a name that holds ``now`` at the end of the body, beside ``names``."""
    if not loop.runs and not loop.is_sure(name, loop.before(name)):
        loop.allow_missing({name: now})
        return Late(loop, name, only_inside(name, partial(_expect_to_run, loop)))
    if isinstance(now, SymbolicNumber) and now.affine is not None:
        return LateInteger(loop, name, now)
    if is_value(now):
        return LateNumber(loop, name, now)
    if is_array(now) and (storage := behind.find(now.storage)) is not None:
        return LateArray(loop, name, _object_after(loop, now, storage, names))
    if is_array(now) and extents_are_captured(loop.trace, now.storage.extents):
        if loop.is_loop_buffer(now.storage.root):  # what it held before this iteration
            loop.require_trips(2)
        made = LateArray(loop, name, _object_after(loop, now, behind.copy(now.storage), names))
        made.is_copied = loop.origins.may_be_another(now)
        made.has_object = made.is_copied and loop.origins.is_tracked()
        return made
    if record_of(now) is not None and not loop.decided("record", name):
        loop.decide(True, "record", name)
    request_pools(loop.trace, now)
    loop.trace.owned(Displays).try_traced(loop.trace, now)
    if isinstance(now, OWNED) and now.home is loop.trace.block:
        return LateContainer(loop, name, now)
    if isinstance(now, TracedContainer) and not is_of_program(name):
        return Late(loop, name, now)  # what is returned was there before
    is_result = not is_of_program(name) and Undefined.is_unbound(now)  # of no `return` so far
    return Late(loop, name, now if is_result or is_untraced_value(now) else only_inside(name))


def _expect_to_run(loop: LoopRegion) -> None:
    """Trace again with a check that the loop runs: a name is read that only its body binds."""
    if not loop.is_recursion and not loop.decided("runs"):
        loop.decide(True, "runs")


def _object_after(
    loop: LoopRegion, array: TracedArray, storage: Storage, names: Mapping[str, Any]
) -> TracedArray:
    """The object that is ``array`` after the loop, where ``storage`` has its elements."""
    if array.storage is storage:
        return array
    for name, loop_buffer in loop.buffers.items():
        if names[name] is array and loop_buffer.storage is storage:
            return loop_buffer
    for name, other in loop.late.items():
        if isinstance(other, LateArray) and names[name] is array:
            return other.now  # type: ignore[no-any-return]
    result = TracedArray(storage, array.map, array.extents)
    _take_on(result, array)
    return result


def _take_on(view: TracedArray, array: TracedArray) -> None:
    """Give one array the access, class and view flag of another."""
    view.access = array.access
    view.is_view = array.is_view
    view.is_ndarray = array.is_ndarray
