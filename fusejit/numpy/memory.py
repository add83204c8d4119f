"""`Memory`: what the results of a window are written to.

Results get memory when they are recorded. Those that are seen after the window take what was
written lately and nothing refers to any more: new memory costs a page fault for each page that is
written, old memory none, and it may still be in a cache. Those that nobody will see are often never
written. They take addresses that no page belongs to yet, and leave the rest to others.
"""

from __future__ import annotations

import math
from dis import opname
from types import CodeType
from typing import Any

import numpy

Key = tuple[Any, tuple[int, ...]]
"""A dtype and a shape."""

Arrays = dict[Key, list[Any]]

FLUSHES = 16
"""Memory that was not taken during so many flushes is given back."""

MOST_KEPT = 2**27
"""Bytes of written memory that are kept."""

MOST_SITES = 10_000

MAPPED = 2**25 + 2**16
"""Bytes from which on the C library asks the system for pages of their own."""


class Memory:
    """Arrays in the order of C, with values of no meaning."""

    def __init__(self) -> None:
        self._written: Arrays = {}
        self._unwritten: Arrays = {}
        self._old: tuple[Arrays, Arrays] = {}, {}
        self._reserved: set[int] = set()
        self._is_seen: dict[tuple[int, int], bool] = {}
        self._flushes = self._num_bytes = 0

    def new(
        self, shape: tuple[int, ...], dtype: Any, code: CodeType, instruction: int
    ) -> numpy.ndarray[Any, Any]:
        """Return an array for a result of an instruction.

        Whether the last result of there was seen tells whether this one will be; of the first one,
        whether it gets a name.
        """
        site = id(code), instruction
        is_seen = self._is_seen.get(site)
        if is_seen is None:
            is_seen = self._is_seen[site] = _is_named(code, instruction)
        if is_seen:
            return self.scratch(shape, dtype)
        array = _taken((self._unwritten, self._old[1]), (dtype, shape))
        if array is None:
            array = reserved(shape, dtype)
            self._reserved.add(id(array))
        return array  # type: ignore[no-any-return]

    def scratch(self, shape: tuple[int, ...], dtype: Any) -> numpy.ndarray[Any, Any]:
        """Return an array that will be written."""
        array: numpy.ndarray[Any, Any] = _taken((self._written, self._old[0]), (dtype, shape))
        if array is None:
            return numpy.empty(shape, dtype)
        self._num_bytes -= array.nbytes
        return array

    def keep(self, array: numpy.ndarray[Any, Any], is_written: bool) -> None:
        """Take an array that nothing else refers to."""
        if is_written:
            self._reserved.discard(id(array))
        arrays = self._unwritten if id(array) in self._reserved else self._written
        if arrays is self._written:
            if self._num_bytes + array.nbytes > MOST_KEPT:
                return
            self._num_bytes += array.nbytes
        arrays.setdefault((array.dtype, array.shape), []).append(array)

    def note(self, code: CodeType, instruction: int, is_seen: bool) -> None:
        """Note whether a result of a place was seen."""
        if len(self._is_seen) > MOST_SITES:
            self._is_seen.clear()
        self._is_seen[id(code), instruction] = is_seen

    def flushed(self) -> None:
        """Count a flush, and give back what was not taken for long."""
        self._flushes += 1
        if self._flushes % FLUSHES == 0:
            self._old = self._written, self._unwritten
            self._written, self._unwritten = {}, {}
            self._num_bytes = sum(a.nbytes for each in self._old[0].values() for a in each)
            self._reserved = {id(array) for each in self._old[1].values() for array in each}


def _taken(places: tuple[Arrays, Arrays], key: Key) -> Any:
    for arrays in places:
        try:
            return arrays[key].pop()
        except (KeyError, IndexError):  # another thread may flush and take the last one
            continue
    return None


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


def _is_named(code: CodeType, instruction: int) -> bool:
    """Whether the result of an instruction is stored under a name."""
    text = code.co_code
    at = instruction + 2
    while at < len(text) and opname[text[at]] == "CACHE":
        at += 2
    return at < len(text) and opname[text[at]].startswith("STORE_")
