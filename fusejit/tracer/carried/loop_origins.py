"""Which objects the loop buffers of a loop stand for: see `fusejit.tracer.ops.origins`.

A loop buffer holds the elements of an array that was there before the loop until an iteration
binds the name again. ``which`` of each loop buffer is carried beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from fusejit.ir.ops import Write, walk
from fusejit.tracer.carried.held_arrays import is_held
from fusejit.tracer.carried.regions import Region, extents_are_captured, same_object
from fusejit.tracer.ops.origins import Origin, are_tracked, check_own, is_captured, number_of
from fusejit.tracer.program.fallback import Fallback, Retrace
from fusejit.tracer.values.array import TracedArray


class LoopOrigins:
    """What the loop buffers of one loop may be instead of arrays of the loop's own.

    Parameters
    ----------
    region : Region
        The loop.
    """

    def __init__(self, region: Region) -> None:
        self._region = region
        self._trace = region.trace
        self._at_entry: dict[str, TracedArray] = {}  # the numbers in the body
        self._left: dict[str, TracedArray] = {}  # the numbers after the loop
        self._loop_buffers: dict[str, TracedArray] = {}
        self._visible_before: dict[
            str, TracedArray
        ] = {}  # of loop buffers: what the name held, if it shows
        self._objects: list[TracedArray] = []
        self._stores: dict[str, int] = {}  # into what the names held
        self._bound_to: list[tuple[str, TracedArray]] = []  # arrays from before the loop
        self._possibly_unbound: set[str] = (
            set()
        )  # names that may hold, after the loop, what they held

    def is_tracked(self) -> bool:
        """Whether the numbers are carried in this attempt."""
        return are_tracked(self._trace)

    def enter(
        self, name: str, before: TracedArray, loop_buffer: TracedArray, names: Any
    ) -> int | None:
        """Note a loop buffer; the number that it starts with, if one is carried."""
        self._loop_buffers[name] = loop_buffer
        is_shown = self._region.decided("shown", name)
        if self._is_nobody_elses(name, before, names) and not is_shown:
            return None
        self._visible_before[name] = before
        root = before.storage.root
        if root.copied_from:
            loop_buffer.storage.stands_for = root.copied_why
        self._stores[name] = root.num_stores
        number = self._number(before)
        return number if self.is_tracked() else None

    def note_entry(self, name: str, number: TracedArray) -> None:
        """Note which object a name has at the start of an iteration."""
        self._at_entry[name] = number

    def note_left(self, name: str, number: TracedArray) -> None:
        """Note which object the loop has left under a name."""
        self._left[name] = number

    def _is_nobody_elses(self, name: str, array: TracedArray, names: Mapping[str, Any]) -> bool:
        """Whether only one name has held an array, so that a copy cannot be told from it."""
        root = array.storage.root
        if array.path is not None or is_captured(root) or root.columns():
            return False
        is_inlined = self._region.location.inlined_from is not None
        if is_inlined or array.storage.home is not self._trace.block:
            return False
        return not is_held(self._trace, names, name, root)

    def _number(self, obj: TracedArray) -> int:
        for k, other in enumerate(self._objects, 1):
            if other is obj:
                return k
        self._objects.append(obj)
        return len(self._objects)

    def show(self, name: str, loop_buffer: TracedArray) -> None:
        """The body sees a loop buffer under another object."""
        self._loop_buffers[name] = loop_buffer

    def number(self, obj: TracedArray) -> TracedArray | int:
        """Which object an array of the body is."""
        return number_of(obj, self._known, self._trace)

    def _known(self, obj: TracedArray) -> TracedArray | int | None:
        trace = self._trace
        for name, loop_buffer in self._loop_buffers.items():
            if same_object(trace, loop_buffer, obj):
                return self._at_entry.get(name, 0)
        self._refuse_view(obj)
        home = obj.storage.root.home
        if home is trace.block or not trace.is_open(home):
            return None
        if not extents_are_captured(trace, (*obj.map.results, *obj.extents)):
            why = "a loop that may run zero times assigns another view in each iteration"
            raise Fallback(f"{why}; assign one before the loop")
        return self._number(obj)

    def _refuse_view(self, obj: TracedArray) -> None:
        """Fall back if a name is bound to a view of the array before the loop."""
        for name, loop_buffer in self._loop_buffers.items():
            is_part = loop_buffer.storage.root is obj.storage.root and name in self._visible_before
            if is_part and not same_object(self._trace, loop_buffer, obj):
                what = "later iterations of a loop read a view of an array made before it"
                raise Fallback(f"{what}; copy the view")

    def may_be_another(self, obj: TracedArray) -> bool:
        """Whether an array of the body may be an object that was there before the loop."""
        for name, loop_buffer in self._loop_buffers.items():
            if same_object(self._trace, loop_buffer, obj):
                return name in self._visible_before
        return obj.storage.root.origin is not None and obj.storage.root.home is self._trace.block

    def leave(self, names: Mapping[str, Any], runs_often: bool) -> None:
        """At the end of the body: which names may hold after the loop what they held before."""
        for name in self._loop_buffers.keys() - self._visible_before.keys():
            if self._shows_another(name, names[name]):
                self._region.decide(True, "shown", name)
        for name in self._visible_before:
            self._possibly_unbound |= (
                set() if runs_often and self._is_bound(name, names) else {name}
            )
        for name in self._loop_buffers:
            self._refuse_view(names[name])
            self._collect(name, names[name])

    def _shows_another(self, name: str, obj: TracedArray) -> bool:
        """Whether an array of the body may be one that others know, but for what ``name`` held."""
        for other, loop_buffer in self._loop_buffers.items():
            if obj.storage.root is loop_buffer.storage:
                return other != name and other in self._visible_before
        root = obj.storage.root
        if root.home is not self._trace.block:
            return True
        objects = () if root.origin is None else root.origin.objects
        return any(self._shows_another(name, other) for other in objects)

    def _collect(self, name: str, obj: TracedArray) -> None:
        """Note the arrays from before the loop that an array of the body may be."""
        root = obj.storage.root
        if root.home is not self._trace.block:
            if not any(root is loop_buffer.storage for loop_buffer in self._loop_buffers.values()):
                self._number(obj)
                self._bound_to.append((name, obj))
        elif root.origin is not None:
            for other in root.origin.objects:
                self._collect(name, other)

    def _is_bound(self, name: str, names: Mapping[str, Any]) -> bool:
        """Whether each iteration binds a name again, or one that it takes its array from."""
        seen = set()
        while name not in seen:
            seen.add(name)
            now = names[name]
            source = [
                n
                for n, loop_buffer in self._loop_buffers.items()
                if same_object(self._trace, loop_buffer, now)
            ]
            if not source:
                return now.storage.root.origin is None
            name = source[0]
        return False

    def stored_to(self) -> str | None:
        """A name whose loop buffer is stale in an iteration: what it held is changed in place."""
        for name, before in self._visible_before.items():
            if before.storage.root.num_stores != self._stores[name]:
                return name
        stores = (op for op in walk(self._trace.block) if isinstance(op, Write))
        stored = {op.view.buffer.root for op in stores}
        for name, obj in self._bound_to:
            buffer = obj.storage.root.buffer
            if buffer is not None and buffer.root in stored:
                return name
        return None

    def finish(self, after: Mapping[str, Any], late: frozenset[str]) -> None:
        """Behind the loop: what the arrays that names hold may be instead."""
        for name in sorted(self._possibly_unbound | late):
            array = after.get(name)
            if not isinstance(array, TracedArray) or array.path is not None:
                continue
            storage = array.storage
            number = self._left.get(name)
            decided = self._region.decided("own", name)
            if decided and number is not None:
                check_own(self._trace, number)
                continue
            objects = tuple(self._objects)
            storage.origin = Origin(array, objects, number, self._requires_own(name))
            for obj in objects:
                root = obj.storage.root
                is_own = obj.path is None and not is_captured(root) and root.may_leave
                why = "an array that a loop may not have bound again"
                storage.note_copied(root, is_own, why)

    def _requires_own(self, name: str) -> Callable[[], NoReturn]:
        def start_again() -> NoReturn:
            self._trace.table[("origins", "tracked")] = True
            if self._region.decided("own", name):
                why = "an array is modified that a loop may or may not have reassigned"
                raise Fallback(f"{why}; copy it after the loop")
            self._region.trace.table[(self._region.key, "own", name)] = True
            raise Retrace

        return start_again
