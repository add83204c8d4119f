"""An undo log of what a kernel overwrites in the caller's memory, so that it can be rolled back.

    w = undo_log(2)                  # on the stack, for two arrays
    undo_log_array(w, 0, a)          # their memory, from the lowest address to the highest
    keep(w, p, offset)              # before each store: the element that is about to go
    roll_back(w)                    # all elements as they were when the undo log began
    end_undo_log(w)                  # or give its memory back

An entry takes 16 bytes. When entries take half as many bytes as the arrays themselves, the arrays
are copied as they were (what is in memory now, with the entries applied backwards), and from then
on nothing needs to be kept: so time and memory are bounded by what a copy takes, and a kernel that
stores to three elements of a million keeps three. `keep` and `keep_all` are false where there is no
memory. See `fusejit.codegen.loop_passes.roll_back` for where they stand.

Examples
--------
>>> a = np.arange(4.0)
>>> w, p = undo_log(1), flat(a)
>>> undo_log_array(w, 0, a)
>>> keep(w, p, 2)
True
>>> a[2] = 7
>>> roll_back(w)
>>> a
array([0., 1., 2., 3.])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fusejit.codegen.intrinsics.intrinsic_table import python_implementation
from fusejit.codegen.intrinsics.raw_memory import Flat, flat

FIRST_ENTRIES = 32
"""Entries on the stack; more of them are on the heap."""

GROWTH = 4
"""How many times as many entries there is room for when there is no more."""

SHARE = 32
"""Bytes of the arrays for each entry, before the arrays themselves are copied."""


class UndoLog:
    """An undo log in Python: elements in the order in which they were kept, or copies of arrays."""

    __slots__ = ("arrays", "copies", "entries", "has_ended")

    def __init__(self) -> None:
        self.arrays: list[Flat] = []
        self.entries: list[tuple[npt.NDArray[Any], int, Any]] = []
        self.copies: list[npt.NDArray[Any]] = []
        self.has_ended = False

    def undo(self, arrays: list[npt.NDArray[Any]]) -> None:
        """Apply the entries backwards, to the arrays or to copies of them."""
        for memory, address, value in reversed(self.entries):
            for target, own in zip(arrays, self.arrays, strict=True):
                start = own.memory.__array_interface__["data"][0]
                if start <= address < start + own.memory.nbytes:
                    target[(address - start) // memory.itemsize] = value


@python_implementation
def undo_log(count: int) -> UndoLog:
    """An undo log for so many arrays, a literal."""
    return UndoLog()


@python_implementation
def undo_log_array(w: UndoLog, at: int, array: npt.NDArray[Any]) -> None:
    """Tell an undo log which memory it is for."""
    assert at == len(w.arrays)
    w.arrays.append(flat(array))


@python_implementation
def keep(w: UndoLog, pointer: Flat, offset: int) -> bool:
    """Keep an element that is about to be overwritten."""
    assert not w.has_ended
    memory, index = pointer.memory, pointer.index(offset)
    address = memory.__array_interface__["data"][0] + index * memory.itemsize
    if not w.copies:
        w.entries.append((memory, address, memory[index].copy()))
    if len(w.entries) > max(FIRST_ENTRIES, sum(a.memory.nbytes for a in w.arrays) // SHARE):
        keep_all(w)
    return True


@python_implementation
def keep_all(w: UndoLog) -> bool:
    """Keep all that the arrays held when the undo log began."""
    assert not w.has_ended
    if not w.copies:
        w.copies = [own.memory.copy() for own in w.arrays]
        w.undo(w.copies)
        w.entries.clear()
    return True


@python_implementation
def keeps_all(w: UndoLog) -> bool:
    """Whether nothing more needs to be kept."""
    return bool(w.copies)


@python_implementation
def roll_back(w: UndoLog) -> None:
    """Put back what the arrays held when the undo log began, and end it."""
    w.undo([own.memory for own in w.arrays])
    for own, copy in zip(w.arrays, w.copies, strict=False):
        own.memory[...] = copy
    end_undo_log(w)


@python_implementation
def end_undo_log(w: UndoLog) -> None:
    """Give the memory of an undo log back."""
    assert not w.has_ended
    w.has_ended = True
    w.entries.clear()
    w.copies = [np.empty(0)]
