"""Numbers for the text of an error that a kernel ends with: ``index 7 .. with size 5``.

    deferred_values(status, index, size)

keeps two integers in memory of the process and returns the status with the number of the slot that
holds them. It runs once, on the way out of a kernel, so a kernel pays nothing for it. Slots are
given out in turn: threads that fail at the same time do not meet.
"""

from __future__ import annotations

import ctypes

from fusejit.codegen.intrinsics.intrinsic_table import python_implementation
from fusejit.codegen.intrinsics.statuses import KIND_BITS

DEFERRED_SYMBOL = "fusejit_deferred_values"
"""LLVM symbol of the memory: a counter, then two words for each slot."""

NUM_SLOTS = 64
SLOT_SHIFT = KIND_BITS
"""Where the slot stands in a status: 0 is none, above it are ``NUM_SLOTS``."""

SLOT_BITS = 8

_words = (ctypes.c_int64 * (1 + 2 * NUM_SLOTS))()
DEFERRED_ADDRESS = ctypes.addressof(_words)


@python_implementation
def deferred_values(status: int, index: int, size: int) -> int:
    """Keep an index and a size; the status with their slot."""
    slot = int(_words[0]) % NUM_SLOTS
    _words[0] += 1
    _words[1 + 2 * slot : 3 + 2 * slot] = [int(index), int(size)]
    return int(status) | (slot + 1) << SLOT_SHIFT


def values_of(status: int) -> tuple[int, int] | None:
    """The index and the size that a status came with.

    Examples
    --------
    >>> values_of(deferred_values(6, 7, 5)), values_of(6)
    ((7, 5), None)
    """
    slot = (status >> SLOT_SHIFT & (1 << SLOT_BITS) - 1) - 1
    return None if slot < 0 else (int(_words[1 + 2 * slot]), int(_words[2 + 2 * slot]))
