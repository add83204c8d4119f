"""Which results of a window can be seen after it, and where NumPy writes the others.

Each result has memory of its own from when it is recorded, which costs little until it is written.
Results that only operations of the window read can share memory. One is written over an operand
that is read for the last time, as NumPy does for temporaries of an expression, or over a result
that is not read any more.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy


def with_shared_memory(
    calls: Sequence[tuple[Any, ...]],
    outs: Sequence[Any],
    is_new: Sequence[bool],
    is_seen: Sequence[bool],
    uses: Uses,
) -> list[tuple[Any, ...]]:
    """Return the calls with other memory for new results that nobody sees after the window.

    ``calls`` are functions and their arguments, in the order of the program; each writes an array
    of ``outs``, which is new or not, and seen or not.
    """
    bases = {id(view.base) for view in uses.views.values()}
    new = [out for out, fresh in zip(outs, is_new, strict=True) if fresh]
    whole = {id(out) for out in new if out.base is None and out.flags.c_contiguous}
    hidden = {
        id(out)
        for out, seen in zip(outs, is_seen, strict=True)
        if not seen and id(out) in whole and id(out) not in bases
    }
    if not hidden:
        return list(calls)
    every = [[*map(id, call)] for call in calls]
    last_use = {key: at for at, keys in enumerate(every) for key in keys if key in hidden}
    pool = _Pool(calls)
    for at, out in enumerate(outs):
        if is_new[at] and id(out) in whole and id(out) not in hidden:
            pool.lend(out, at)
    memory: dict[int, Any] = {}
    made = []
    for at, (call, out, keys) in enumerate(zip(calls, outs, every, strict=True)):
        ending = [key for key in dict.fromkeys(keys) if last_use.get(key) == at and key in memory]
        if is_new[at] and id(out) in hidden:
            operands = [memory[key] for key in ending] if _is_elementwise(call[0]) else []
            array = memory[id(out)] = pool.take(out, operands, last_use[id(out)])
            ending = [key for key in ending if memory[key] is not array]
        for key in ending:
            pool.free(memory[key])
        made.append(_with_memory(call, keys, memory))
    return made


def _is_elementwise(function: Any) -> bool:
    """Whether a function can write over an operand that has the result's shape and dtype."""
    return type(function) is numpy.ufunc or type(function) is partial


class _Pool:
    """Memory for hidden results: freed by others, or lent by a result that is written later."""

    def __init__(self, calls: Sequence[tuple[Any, ...]]) -> None:
        self._calls = calls
        self._free: dict[tuple[Any, tuple[int, ...]], list[Any]] = {}
        self._lent: dict[int, int] = {}

    def lend(self, array: Any, at: int) -> None:
        """Lend the memory of a result until the call at a position writes it."""
        self._lent[id(array)] = at
        self.free(array)

    def free(self, array: Any) -> None:
        self._free.setdefault((array.dtype, array.shape), []).append(array)

    def take(self, out: Any, operands: list[Any], last_use: int) -> Any:
        """Return the memory of one of the operands, free memory, or new memory."""
        for array in operands:
            is_alike = array.shape == out.shape and array.dtype == out.dtype
            if is_alike and self._may_hold(array, last_use):
                return array
        free = self._free.get((out.dtype, out.shape), [])
        for at in range(len(free) - 1, -1, -1):
            if self._may_hold(free[at], last_use):
                return free.pop(at)
        return numpy.empty(out.shape, out.dtype)

    def _may_hold(self, array: Any, last_use: int) -> bool:
        """Whether memory is free until a result has been read for the last time."""
        written = self._lent.get(id(array), last_use + 1)
        return last_use < written or (
            last_use == written and _is_elementwise(self._calls[written][0])
        )


def _with_memory(call: tuple[Any, ...], keys: list[int], memory: dict[int, Any]) -> tuple[Any, ...]:
    function = call[0]
    if type(function) is partial and id(function.keywords["out"]) in memory:
        function = partial(function.func, out=memory[id(function.keywords["out"])])
    operands = [memory.get(key, item) for key, item in zip(keys[1:], call[1:], strict=True)]
    return (function, *operands)


# ------------------------------------------------------------------------------------ visibility
class Uses(NamedTuple):
    """By id: how many references operations have to it, arrays that own memory, and views."""

    operations: Sequence[Any]
    counts: dict[int, int]
    arrays: dict[int, Any]
    views: dict[int, Any]


def uses_of(operations: Sequence[Any]) -> Uses:
    """Return how operations use arrays."""
    counts: dict[int, int] = {}
    arrays: dict[int, Any] = {}
    views: dict[int, Any] = {}
    for operation in operations:
        for item in (operation.out, *operation.call):
            at = id(item)
            if at in counts:
                counts[at] += 1
                continue
            counts[at] = 1
            if type(item) is numpy.ndarray:
                if item.base is not None:
                    views[at] = item
                elif item.ndim:
                    arrays[at] = item
    item = operation = None  # each would be one reference more
    for at in views:
        if sys.getrefcount(views[at]) - counts[at] == _VIEW_REFERENCES:
            base = id(views[at].base)  # only operations see the base through this view
            counts[base] = counts.get(base, 0) + 1
    return Uses(operations, counts, arrays, views)


def visible(uses: Uses) -> tuple[list[bool], list[bool]]:
    """Return which results can be seen after the window, and which operations have to run.

    A result is seen if anything but operations refers to its memory. An operation has to run if its
    result is seen, or read by one that has to run.
    """
    operations, counts, arrays, views = uses
    is_seen = [False] * len(operations)
    is_needed = [False] * len(operations)
    read: set[int] = set()
    for at in range(len(operations) - 1, -1, -1):
        operation = operations[at]
        out = id(operation.out)
        known = counts[out] + _REFERENCES + (out in arrays or out in views)
        is_seen[at] = not operation.is_new or sys.getrefcount(operation.out) != known
        if is_seen[at] or out in read:
            is_needed[at] = True
            used = map(id, operation.call)
            read.update(id(views[at].base) if at in views else at for at in used)
    return is_seen, is_needed


def unused(uses: Uses) -> Iterator[Any]:
    """Yield the arrays that nothing but the operations of a window refers to."""
    for at in uses.arrays:
        if sys.getrefcount(uses.arrays[at]) - uses.counts[at] == _VIEW_REFERENCES:
            yield uses.arrays[at]


class _Sample(NamedTuple):
    call: tuple[Any, ...]
    out: Any
    is_new: bool


def _measured_references() -> tuple[int, int]:
    """Return the references to ``out`` and to a view that `visible` sees beside those known."""
    global _REFERENCES, _VIEW_REFERENCES
    for _REFERENCES in range(-3, 9):
        out = numpy.empty(1)
        operation = _Sample((out,), out, True)
        del out
        if visible(uses_of([operation]))[0] == [False]:
            break
    del operation
    for _VIEW_REFERENCES in range(9):
        out = numpy.empty(1)
        view = out[:]
        operations = [
            _Sample((out,), out, True),
            _Sample((view,), view, False),
        ]
        del out, view
        if visible(uses_of(operations))[0] == [False, True]:
            break
    return _REFERENCES, _VIEW_REFERENCES


_REFERENCES, _VIEW_REFERENCES = 0, 0
_measured_references()
