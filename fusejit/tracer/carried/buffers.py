"""`LoopBuffer`: an array that iterations bind again (``x = x + step``), carried as memory.

The memory is filled before the loop, the body finds it under the name, and what the name holds at
the end of the body is stored into it. Where NumPy may have the very object that was there before,
the number of that object is carried beside it (`fusejit.tracer.carried.loop_origins`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from fusejit.ir.types import Kind
from fusejit.ir.values import Value, View
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.regions import is_array, same_object
from fusejit.tracer.indexing.reshape_functions import is_contiguous, without_ones
from fusejit.tracer.ops.changing_extents import changing_extents
from fusejit.tracer.ops.number_values import number_value
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import is_of_program, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.live_out_arrays import LiveOutArrays
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.storage import Storage


class LoopBuffer(Carried):
    """Memory for an array that has the same extents in each iteration."""

    is_buffer = True
    has_object = False  # whether the number of an object is carried
    seen: TracedArray

    @classmethod
    def of(cls, loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried | None:
        """Carry a name that an attempt to trace has seen bound again; None for others."""
        if not is_array(obj) or not loop.decided("loop_buffer", name):
            return None
        loop.require_own_strides(obj)
        return cls(loop, name, obj, filled_buffer(loop, obj)).with_object(names)

    def with_object(self, names: Mapping[str, Any]) -> Self:
        """Carry which object it is, where that may show."""
        loop, before = self.loop, self.before
        is_ndarray = before.is_ndarray and loop.decided("not plain", self.name) is None
        self.seen.is_ndarray = is_ndarray
        number = loop.origins.enter(self.name, before, self.seen, names)
        if number is not None:
            self.has_object = True
            start = number_value(number, (Kind.PYTHON, I64))
            arg = loop.iter_arg(f"object_of_{self.name}", (Kind.PYTHON, I64), start)
            loop.origins.note_entry(self.name, TracedArray.of_value(loop.trace, arg.argument))
            self.iter_args.append(arg)
        return self

    def widen(self, now: Any) -> None:
        """Require an array of the same form that can be stored here."""
        loop, name = self.loop, self.name
        if same_object(loop.trace, self.seen, now):
            return
        if not is_array(now):
            loop.peel_or_refuse(name, self.seen, now)
        require_class(loop, name, self.seen, now)
        self.require_form(now)
        require_own_memory(loop, name, now)
        if self.seen.storage.num_stores:  # in place first, then bound again
            arrays = {n: o for n, o in loop.now.items() if is_array(o)}
            if not loop.peel_until_moved_on(name, arrays):  # to an array of the loop's own
                what = f"{name!r} is changed in place and bound again in one loop"
                raise unsupported(what, f"write {name} = {name}.copy() before the loop")

    def require_form(self, now: TracedArray) -> None:
        """Require the dtype and extents of what the body has found."""
        require_form(self.loop, self.name, self.seen, now)

    def hand_on(self, now: Any) -> list[Value]:
        """The number of the object that the array is."""
        if not self.has_object:
            return []
        return [number_value(self.loop.origins.number(now), (Kind.PYTHON, I64))]

    def store(self, now: Any, behind: LiveOutArrays) -> None:
        """Store the array at the end of the body."""
        if not same_object(self.loop.trace, self.seen, now):
            self.require_alike(now)
        behind.carry(self.seen, now)

    def require_alike(self, now: TracedArray) -> None:
        """Require an array whose copy shows nothing that NumPy's object does not."""
        if is_of_program(self.name):  # the result of a `return` ends the loop
            refuse_copy(self.loop, now.storage.root, self.seen.storage.root)
        for base in now.storage.root.columns():
            self.seen.storage.note_copied(base, now.storage.root.may_leave, now.storage.copied_why)
        self._require_order(now)
        self.seen.is_view = now.is_view

    def _require_order(self, array: TracedArray) -> None:
        """Require the memory layout of the previous array, because strides are observable."""
        loop, storage = self.loop, self.seen.storage
        loop.require_own_strides(array)
        order = array.storage.order if array.is_whole else array.sorted_order()
        if array.ndim > 1 and order != storage.order:
            loop.peel_first()
            raise Fallback("the order of axes in memory changes in a loop")
        if array.storage.has_gaps:
            storage.note_copied(array.storage.root, False, "a part that a loop carries")
        elif not array.is_whole and not loop.is_loop_buffer(array.storage.root):
            root = array.storage.root  # no one else sees an array that the body has made
            is_alone = loop.is_mine(root) and is_contiguous(without_ones(array))
            storage.note_copied(root, is_alone, "a view that a loop carries")

    def left(self, results: Sequence[Value]) -> Any:
        """The memory, with the array of the last iteration."""
        if self.has_object:
            number = TracedArray.of_value(self.loop.trace, results[-1])
            self.loop.origins.note_left(self.name, number)
        return self.seen


def filled_buffer(loop: LoopRegion, initial: TracedArray) -> TracedArray:
    """Make memory that holds an array before the loop."""
    buffer = loop.new_buffer(initial)
    value = initial.value()
    loop.trace.store(View.whole(buffer), value)
    return TracedArray.whole(Storage.of_buffer(loop.trace, buffer))


def require_class(loop: LoopRegion, name: str, before: TracedArray, now: TracedArray) -> None:
    """Decide that an array is of no certain class, where the iterations have several."""
    if before.is_ndarray and now.numpy_class is not np.ndarray:
        loop.decide(True, "not plain", name)


def require_form(loop: LoopRegion, name: str, before: TracedArray, now: TracedArray) -> None:
    """Require the same dtype and extents, or extents that the iteration's number tells."""
    decisions = loop.trace.decisions
    shapes = [list(map(decisions.canonical, a.extents)) for a in (before, now)]
    if shapes[0] != shapes[1] and loop.counts() and loop.decided("extents", name) is None:
        extents = changing_extents(loop.symbol, before, now)
        if extents is not None and (decisions.is_local(now.extents[0]) or loop.decided("peel")):
            loop.decide(extents, "extents", name)
    if before.dtype != now.dtype or shapes[0] != shapes[1]:
        loop.peel_first()
        texts = [
            f"{' x '.join(map(str, s))} {a.dtype}"
            for s, a in zip(shapes, (before, now), strict=True)
        ]
        what = f"{name!r} changes its shape or dtype in the loop ({texts[0]}, then {texts[1]})"
        raise unsupported(what, "keep it the same, or write into a larger array")


def require_own_memory(loop: LoopRegion, name: str, now: TracedArray) -> None:
    """Decide that a name is bound late, if each iteration binds it to memory from outside."""
    storage = now.storage
    if loop.runs and not loop.is_mine(storage) and not loop.is_loop_buffer(storage):
        loop.decide(True, "late", name)


def refuse_copy(loop: LoopRegion, storage: Storage, loop_buffer: Storage) -> None:
    """Fall back if a loop buffer would take the elements of a copy that NumPy has as a view."""
    origin = storage.origin
    if (
        origin is not None
        and origin.require_own is not None
        and storage.copied_from.keys() <= origin.roots()
    ):
        return  # a loop inside: it is known which object the array is
    held = storage.columns()
    bases = [base for base in storage.copied_from if base not in held]
    are_own = all(base is loop_buffer or loop.is_mine(base) for base in bases)
    if bases and not (storage.may_leave and are_own):
        raise Fallback(f"a loop carries {storage.copied_why}")
