"""Where the arrays of the last iteration are after a loop: in loop buffers or in copies.

::

    for i in range(n):
        t = w                 t   a copy made before the next line's store into w's buffer
        w = w + x[i]          w   a loop buffer
        u = w[1:]             u   a view of the loop buffer of w
        v = x[i] * 2          v   a copy
"""

from __future__ import annotations

from collections.abc import Callable

from fusejit.ir.values import Buffer, Value
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage


class LiveOutArrays:
    """The memory that a loop leaves.

    Parameters
    ----------
    trace : Trace
        In the body's block.
    new_buffer : callable
        Makes memory before the loop that lies as an array does.

    Attributes
    ----------
    moves : list of (TracedArray, Value)
        What is stored at the end of the body, after all of it was read.
    """

    def __init__(self, trace: Trace, new_buffer: Callable[[TracedArray], Buffer]) -> None:
        self.moves: list[tuple[TracedArray, Value]] = []
        self._trace = trace
        self._new_buffer = new_buffer
        self._overwritten: set[Storage] = set()
        self._kept: dict[Storage, Storage] = {}  # at the end of the body -> after the loop
        self._parts: set[Storage] = set()
        self._copies: dict[Storage, Storage] = {}

    def carry(self, loop_buffer: TracedArray, array: TracedArray) -> None:
        """Note that ``loop_buffer`` holds ``array`` from the end of the body on."""
        if loop_buffer.is_whole and array.is_whole:
            self._kept[array.storage] = loop_buffer.storage
        else:
            self._parts.add(array.storage.root)
        if array.storage is not loop_buffer.storage:
            self._overwritten.add(loop_buffer.storage)
            self.moves.append((loop_buffer, array.value()))

    def carry_rows(self, loop_buffer: TracedArray, shown: TracedArray, array: TracedArray) -> None:
        """Note that ``shown``, rows of ``loop_buffer``, hold ``array`` after the body."""
        self._parts.add(array.storage.root)
        self._overwritten.add(loop_buffer.storage)
        self.moves.append((shown, array.value()))

    def find(self, storage: Storage) -> Storage | None:
        """The storage that is what ``storage`` was at the end of the body; None if it must be made.

        What was made before the loop stays where it is, unless a loop buffer takes another
        array.
        """
        if storage in self._kept:
            return self._kept[storage]
        is_new = storage.home is self._trace.block or storage.root in self._overwritten
        return self._copies.get(storage) if is_new else storage

    def copy(self, storage: Storage) -> Storage:
        """Memory of its own for an array of the last iteration."""
        others = {*self._parts, *(other.root for other in (*self._kept, *self._copies))}
        if storage.root in others:
            raise Fallback("a loop leaves several views of one array")
        if storage.root is not storage and storage.root.home is not self._trace.block:
            raise Fallback("a loop leaves a reshaped view of an array made before it")
        whole = TracedArray.whole(storage)
        made = self._copies[storage] = Storage.of_buffer(self._trace, self._new_buffer(whole))
        made.home = self._trace.blocks[-2]
        self.moves.append((TracedArray.whole(made), whole.value()))
        return made

    def note_copied(self) -> None:
        """What is a copy in the body, where NumPy has a view, is one after the loop."""
        for storage, behind in (*self._kept.items(), *self._copies.items()):
            root = storage.root
            for base, after in root.copied_from.items():
                there = self.find(base)
                if there is behind:
                    continue
                if there is None and not root.may_leave:
                    raise Fallback(f"a loop leaves {root.copied_why}")
                if there is not None:
                    behind.note_copied(there, root.may_leave, root.copied_why)
                    if there is base:
                        behind.copied_from[base] = after
