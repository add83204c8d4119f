"""Which results of a window can be seen after it, and where NumPy writes the others.

Each result has memory of its own from when it is recorded, which costs little until it is written.
Results that only operations of the window read can share memory. One is written over an operand
that is read for the last time, as NumPy does for temporaries of an expression, or over a result
that is not read any more.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy

from fusejit.numpy.blocks import Run


def with_shared_memory(
    calls: Sequence[tuple[Any, ...]],
    outs: Sequence[Any],
    is_hidden: Sequence[bool],
    uses: Uses,
    runs: Sequence[Run],
) -> list[tuple[Any, ...]]:
    """Return the calls with other memory for hidden results.

    ``calls`` are functions and their arguments, in the order of the program; each writes an array
    of ``outs``. ``is_hidden`` says which make a new result that nobody sees after the window. Where
    only a run reads it, one block is enough.
    """
    bases = {id(view.base) for view in uses.views.values()}
    hidden = {
        id(out)
        for out, hides in zip(outs, is_hidden, strict=True)
        if hides and id(out) not in bases and out.flags.c_contiguous
    }
    if not hidden:
        return list(calls)
    every = [[*map(id, call)] for call in calls]
    last_use = {key: at for at, keys in enumerate(every) for key in keys if key in hidden}
    shapes = {
        id(outs[at]): (run.rows, *run.shape[1:])
        for run in runs
        for at in range(run.start, run.stop)
        if is_hidden[at] and last_use.get(id(outs[at]), run.stop) < run.stop
    }
    memory: dict[int, Any] = {}
    free: Free = {}
    made = []
    for at, (call, out, keys) in enumerate(zip(calls, outs, every, strict=True)):
        ending = [key for key in dict.fromkeys(keys) if last_use.get(key) == at and key in memory]
        if is_hidden[at] and id(out) in hidden:
            wanted = out.dtype, shapes.get(id(out), out.shape)
            memory[id(out)] = _memory_for(wanted, call[0], ending, memory, free)
        for key in ending:
            array = memory[key]
            free.setdefault((array.dtype, array.shape), []).append(array)
        made.append(_with_memory(call, keys, memory))
    return made


Wanted = tuple[Any, tuple[int, ...]]  # a dtype and a shape
Free = dict[Wanted, list[Any]]


def _memory_for(
    wanted: Wanted, function: Any, ending: list[int], memory: dict[int, Any], free: Free
) -> Any:
    """The memory for a hidden result; an operand that is taken leaves ``ending``."""
    if type(function) is numpy.ufunc or type(function) is partial:
        for at, key in enumerate(ending):
            array = memory[key]
            if (array.dtype, array.shape) == wanted:
                del ending[at]
                return array
    arrays = free.get(wanted)
    return arrays.pop() if arrays else numpy.empty(wanted[1], wanted[0])


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


_Sample = namedtuple("_Sample", "call out is_new")


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
        operations = [_Sample((out,), out, True), _Sample((view,), view, False)]
        del out, view
        if visible(uses_of(operations))[0] == [False, True]:
            break
    return _REFERENCES, _VIEW_REFERENCES


_REFERENCES, _VIEW_REFERENCES = 0, 0
_measured_references()
