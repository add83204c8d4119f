"""Lists, dictionaries and sets that the text of a function makes: ``[]``, ``[x, y]``, ``{}``.

While nothing but the tracer knows what they hold they are Python's own. Where a compiled loop or
conditional changes one, the trace starts again, and it is a `TracedContainer` from the start.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from fusejit.ir.ops import Block
from fusejit.tracer.builder.trace import Trace, note_change, running_trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.ops.kernel_numbers import needs_kernel
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.pooled_objects import pooled

_OF_KERNEL = (TracedArray, TracedContainer, Items)
CONTAINERS = (list, dict, defaultdict, Counter, set)


class Display(NamedTuple):
    """A container, the visit of its place, and the block in which it was made."""

    items: Any
    key: tuple[Any, ...]
    home: Block


class Displays:
    """Python's lists that one trace has made, each with the visit of its place."""

    def __init__(self) -> None:
        self._made: dict[int, Display] = {}

    def note(self, display: Display) -> None:
        """Note a list; it is kept alive, so that its id stays its own."""
        self._made[id(display.items)] = display

    def knows(self, obj: Any) -> bool:
        """Whether an object is one of these lists."""
        return id(obj) in self._made

    def require_traced(self, trace: Trace, obj: Any) -> None:
        """Start again with a `TracedList`, if an object is one of these lists and may be one."""
        if id(obj) in self._made:
            key = self._made[id(obj)].key
            known = trace.table.get((key, "list"))
            if known is None:
                trace.table[key, "list"] = True
                raise Retrace
            raise needs_python(*known)

    def try_traced(self, trace: Trace, obj: Any) -> None:
        """Start again with a `TracedList`, if that was not tried before."""
        if self.knows(obj) and (self._made[id(obj)].key, "list") not in trace.table:
            self.require_traced(trace, obj)

    def change(self, trace: Trace, obj: Any) -> None:
        """Note that the program is about to change an object.

        In a loop or a conditional that was begun after the list was made, only the kernel knows
        what it then holds.
        """
        display = self._made.get(id(obj))
        if display is not None and display.home is not trace.block:
            self.require_traced(trace, obj)

    def look_up(self, trace: Trace, obj: Any, keys: Any) -> None:
        """Note that the program is about to look for keys that perhaps only the kernel knows."""
        if type(obj) is not list and id(obj) in self._made and needs_kernel_keys(keys):
            self.require_traced(trace, obj)

    def combine(self, trace: Trace, obj: Any, others: Any) -> None:
        """Note that the program is about to combine a set with what only the kernel knows."""
        if type(obj) is set and any(isinstance(o, _OF_KERNEL) for o in others):
            if id(obj) not in self._made:
                raise needs_python("combines a set of Python's with others", MOVE_OUTSIDE)
            self.require_traced(trace, obj)

    def read(self, trace: Trace, obj: Any, key: Any) -> None:
        """Note that the program is about to read an item of an object."""
        if id(obj) in self._made and type(key) is not slice:
            is_there = type(key) is int and -len(obj) <= key < len(obj)
            if not is_there and (needs_kernel(key) or trace.regions):
                self.require_traced(trace, obj)


def needs_kernel_keys(obj: Any) -> bool:
    """Whether only the kernel knows a key, or an item of a tuple of keys."""
    if type(obj) is tuple:
        return any(map(needs_kernel_keys, obj))
    return needs_kernel(obj) or isinstance(obj, TracedContainer) or pooled(obj) is not None


def look_up(obj: Any, keys: tuple[Any, ...]) -> None:
    """Note that the program is about to look for keys: see `Displays.look_up`."""
    trace = running_trace()
    if trace is not None:
        trace.owned(Displays).look_up(trace, obj, keys)


def combine(obj: Any, others: tuple[Any, ...]) -> None:
    """Note that the program is about to combine a set with others: see `Displays.combine`."""
    trace = running_trace()
    if trace is not None:
        trace.owned(Displays).combine(trace, obj, others)


def change_container(obj: Any) -> None:
    """Note that the program is about to change a container: see `Displays.change`."""
    trace = running_trace()
    if trace is not None:
        note_change()
        trace.owned(Displays).change(trace, obj)


def read_list(obj: list[Any], key: Any) -> None:
    """Note that the program is about to read an item of a list: see `Displays.read`."""
    trace = running_trace()
    if trace is not None:
        trace.owned(Displays).read(trace, obj, key)
