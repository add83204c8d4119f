"""Which results of a window can be seen after it, and where NumPy writes the others.

Each result has memory of its own from when it is recorded, which costs little until it is written.
Results that only operations of the window read can share memory. One is written over an operand
that is read for the last time, as NumPy does for temporaries of an expression, or over a result
that is not read any more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy

from fusejit.numpy.memory import Memory


def with_shared_memory(
    calls: Sequence[tuple[Any, ...]],
    outs: Sequence[Any],
    is_hidden: Sequence[bool],
    scratch: Memory,
) -> list[tuple[Any, ...]]:
    """Return the calls with other memory for hidden results.

    Parameters
    ----------
    calls : sequence of tuple
        A function and its arguments, in the order of the program.
    outs : sequence of ndarray
        What each call writes.
    is_hidden : sequence of bool
        Whether a call makes a new result that nobody sees after the window.
    scratch : Memory
        Where that memory comes from, and where it is afterwards.
    """
    bases = {id(item.base) for call in calls for item in call if type(item) is numpy.ndarray}
    hidden = {
        id(out)
        for out, hides in zip(outs, is_hidden, strict=True)
        if hides and id(out) not in bases and out.flags.c_contiguous
    }
    if not hidden:
        return list(calls)
    last_use = {id(item): at for at, call in enumerate(calls) for item in call}
    memory: dict[int, Any] = {}
    made = []
    for at, (call, out) in enumerate(zip(calls, outs, strict=True)):
        ending = {
            id(item): memory.get(id(item), item)
            for item in call
            if id(item) in hidden and last_use[id(item)] == at and item is not out
        }
        if id(out) in hidden and is_hidden[at]:
            memory[id(out)] = _memory_for(out, call[0], ending, scratch)
        for array in ending.values():
            scratch.keep(array, is_written=True)
        made.append(_with_memory(call, out, memory))
    return made


def _memory_for(out: Any, function: Any, ending: dict[int, Any], scratch: Memory) -> Any:
    """The memory for a hidden result; an operand that is taken leaves ``ending``."""
    if type(function) is numpy.ufunc or type(function) is partial:
        for key, array in ending.items():
            if array.shape == out.shape and array.dtype == out.dtype:
                return ending.pop(key)
    return scratch.scratch(out.shape, out.dtype)


def _with_memory(call: tuple[Any, ...], out: Any, memory: dict[int, Any]) -> tuple[Any, ...]:
    function = call[0]
    if type(function) is partial and id(out) in memory:
        function = partial(function.func, out=memory[id(out)])
    return (function, *(memory.get(id(item), item) for item in call[1:]))


# ------------------------------------------------------------------------------------ visibility
def visible(operations: Sequence[Any]) -> tuple[list[bool], list[bool]]:
    """Return which results can be seen after the window, and which operations have to run.

    A result is seen if anything but operations refers to its memory. An operation has to run if its
    result is seen, or read by one that has to run.
    """
    counts, views = _references(operations)
    is_seen = [False] * len(operations)
    is_needed = [False] * len(operations)
    read: set[int] = set()
    for at in range(len(operations) - 1, -1, -1):
        operation = operations[at]
        others = sys.getrefcount(operation.out) - counts[id(operation.out)] - _REFERENCES
        is_seen[at] = bool(others) or not operation.is_new
        if is_seen[at] or id(operation.out) in read:
            is_needed[at] = True
            used = map(id, operation.call)
            read.update(id(views[at].base) if at in views else at for at in used)
    return is_seen, is_needed


def _references(operations: Sequence[Any]) -> tuple[dict[int, int], dict[int, Any]]:
    """Return how many references operations have to what they use, by id, and the views."""
    counts: dict[int, int] = {}
    views: dict[int, Any] = {}
    for operation in operations:
        for item in (operation.out, *operation.call):
            at = id(item)
            counts[at] = counts.get(at, 0) + 1
            if at not in views and type(item) is numpy.ndarray and item.base is not None:
                views[at] = item
    item = operation = None  # each would be one reference more
    for at in views:
        if sys.getrefcount(views[at]) - counts[at] == _VIEW_REFERENCES:
            base = id(views[at].base)  # only operations see the base through this view
            counts[base] = counts.get(base, 0) + 1
    return counts, views


def keep_memory(operations: Sequence[Any], touched: list[int], memory: Memory) -> None:
    """Keep the arrays that nothing but these operations refers to.

    Parameters
    ----------
    touched : list of int
        The ids of the arrays that were read or written, in order. The last one is taken first.
    """
    counts, _ = _references(operations)
    arrays = {
        id(item): item
        for operation in operations
        for item in operation.call
        if type(item) is numpy.ndarray and item.base is None and item.ndim
    }
    last = {at: position for position, at in enumerate(touched)}
    for at in sorted(arrays, key=lambda at: last.get(at, -1)):
        if sys.getrefcount(arrays[at]) - counts[at] == _VIEW_REFERENCES:
            flags = arrays[at].flags
            one = 1 in arrays[at].shape  # then strides may differ from those of `numpy.empty`
            if flags.c_contiguous and flags.owndata and flags.writeable and not one:
                memory.keep(arrays[at], is_written=at in last)


class _Sample(NamedTuple):
    call: tuple[Any, ...]
    out: Any
    is_new: bool


def _measured_references() -> tuple[int, int]:
    """Return the references to ``out`` and to a view that `_visible` sees beside those known."""
    global _REFERENCES, _VIEW_REFERENCES
    for _REFERENCES in range(-3, 9):
        out = numpy.empty(1)
        operation = _Sample((out,), out, True)
        del out
        if visible([operation])[0] == [False]:
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
        if visible(operations)[0] == [False, True]:
            break
    return _REFERENCES, _VIEW_REFERENCES


_REFERENCES, _VIEW_REFERENCES = 0, 0
_measured_references()
