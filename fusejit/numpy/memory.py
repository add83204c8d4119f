"""`Memory`: what the results of a window are written to.

New memory costs a page fault for each page that is written; memory that was written before costs
none, and it may still be in a cache. The C library therefore keeps freed memory for later
(`keep_freed_memory`), also for what NumPy allocates.

Results get memory when they are recorded. Those that nobody will see are often never written, or
written to memory that several of them share (`fusejit.numpy.replay`). They take addresses to which
no pages belong yet.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Iterable
from types import CodeType
from typing import Any

import numpy

from fusejit.numpy.settings import IS_ON

MAX_SITES = 10_000
LARGE = 2**26  # bytes of a result from which memory matters more than time
MAX_RESERVED = 64  # arrays without pages that are kept for later
LARGEST_RECYCLED = 2**28, 2**25  # bytes; old versions of the C library accept the second
_PAGES = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
MAX_BYTES = _PAGES * os.sysconf("SC_PAGE_SIZE") // 8 if _PAGES > 0 else 2**30  # of pending results

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of malloc.h


def keep_freed_memory() -> int:
    """Let glibc keep freed memory; return the bytes from which arrays get new pages."""
    libc = ctypes.CDLL(None) if os.name == "posix" else None
    if libc is not None and hasattr(libc, "gnu_get_libc_version"):
        libc.mallopt(_M_TRIM_THRESHOLD, LARGEST_RECYCLED[0])
        for size in LARGEST_RECYCLED:
            if libc.mallopt(_M_MMAP_THRESHOLD, size):
                return size
    return LARGEST_RECYCLED[-1]


# Bytes from which on the C library asks the system for pages of their own.
MAPPED = (keep_freed_memory() if IS_ON else LARGEST_RECYCLED[-1]) + 2**16


class Memory:
    """Arrays in the order of C, with values of no meaning."""

    def __init__(self) -> None:
        self._reserved: dict[tuple[Any, tuple[int, ...]], list[Any]] = {}
        self._num_reserved = 0
        self._ids: set[int] = set()
        self._is_seen: dict[tuple[int, int], bool] = {}

    def new(
        self, shape: tuple[int, ...], dtype: Any, code: CodeType, instruction: int
    ) -> numpy.ndarray[Any, Any]:
        """Return an array for a result of an instruction.

        Whether the last result of there was seen tells whether this one will be. The first one gets
        new pages if it is large: memory that is free would be cut into pieces.
        """
        is_small = math.prod(shape) * dtype.itemsize < LARGE
        if self._is_seen.get((id(code), instruction), is_small):
            return numpy.empty(shape, dtype)
        try:
            array = self._reserved[dtype, shape].pop()
            self._num_reserved -= 1
        except (KeyError, IndexError):
            array = reserved(shape, dtype)
        self._ids.add(id(array))
        return array  # type: ignore[no-any-return]

    def take_back(self, unused: Iterable[Any], written: set[int]) -> None:
        """End a window: keep what nothing else refers to, and what was not ``written``."""
        self._ids -= written
        for array in unused:
            at, flags = id(array), array.flags
            is_whole = flags.c_contiguous and flags.owndata and flags.writeable
            is_whole &= at in self._ids and 1 not in array.shape
            if is_whole and self._num_reserved < MAX_RESERVED:
                self._reserved.setdefault((array.dtype, array.shape), []).append(array)
                self._num_reserved += 1
        self._ids.clear()

    def note(self, code: CodeType, instruction: int, is_seen: bool) -> None:
        """Note whether a result of a place was seen."""
        if len(self._is_seen) > MAX_SITES:
            self._is_seen.clear()
        self._is_seen[id(code), instruction] = is_seen


def reserved(shape: tuple[int, ...], dtype: Any) -> numpy.ndarray[Any, Any]:
    """Return an array to which no pages of memory belong before it is written.

    ``numpy.empty`` would take memory that was written and is free, which others could use.
    """
    try:
        array = numpy.empty(max(math.prod(shape), MAPPED // dtype.itemsize), dtype)
    except MemoryError:
        return numpy.empty(shape, dtype)
    array.resize(shape, refcheck=False)
    return array
