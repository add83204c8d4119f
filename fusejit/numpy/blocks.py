"""`runs_of` and `parts_of`: elementwise operations of a window, block by block.

Consecutive elementwise operations on arrays of one shape are a run. NumPy computes all operations
of a run for some rows, then for the next rows: then what one operation writes is still in the cache
when another one reads it. Each element is computed by the same function as in one call for all.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy

from fusejit.numpy.programs import Form

BLOCK_BYTES = 2**19  # of an array of eight-byte numbers; some blocks fit into a core's cache

_QUIET = frozenset(("ignore", "warn"))


class Run:
    """Consecutive operations that may be computed block by block."""

    def __init__(self, start: int, operation: Any) -> None:
        self.start = self.stop = start  # positions of operations
        self.shape = operation.out.shape
        # of a block, along the first axis; an array with one row is broadcast
        self.rows = max(2, BLOCK_BYTES // 8 // math.prod(self.shape[1:]))
        self._settings = operation.settings
        self._readers: dict[int, set[Any]] = {}
        self._writers: dict[int, Any] = {}
        self.add(operation)

    def add(self, operation: Any) -> None:
        """Append an operation."""
        self.stop += 1
        self._writers[_root(operation.out)] = _elements(operation.out)
        for array in _arrays(operation):
            self._readers.setdefault(_root(array), set()).add(_elements(array))

    def accepts(self, operation: Any) -> bool:
        """Whether an operation can follow: other rows of what it reads or writes do not matter.

        Of memory that one operation writes, the others use the same elements in the same order.
        """
        out = operation.out
        if out.shape != self.shape or operation.settings is not self._settings:
            return False
        elements, root = _elements(out), _root(out)
        return (
            self._writers.get(root, elements) == elements
            and self._readers.get(root, set()) <= {elements}
            and all(
                self._writers[_root(a)] == _elements(a)
                for a in _arrays(operation)
                if _root(a) in self._writers
            )
        )


def runs_of(operations: Sequence[Any]) -> list[Run]:
    """Return the runs of two operations or more that have more than one block."""
    runs: list[Run] = []
    run: Run | None = None
    for at, operation in enumerate(operations):
        if not _is_elementwise(operation):
            run = None
        elif run is not None and run.accepts(operation):
            run.add(operation)
        else:
            run = Run(at, operation)
            runs.append(run)
    return [run for run in runs if run.stop - run.start > 1 and run.shape[0] > run.rows]


def parts_of(
    run: Run, calls: Sequence[tuple[Any, ...]], num_parts: int
) -> list[list[tuple[Any, ...]]]:
    """Return the calls that compute a run, in parts that may run at the same time.

    ``calls`` are those for whole arrays; arrays for one block only have ``run.rows`` rows. A part
    has the calls for one block after those for the block before it.
    """
    sliced: dict[int, Any] = {}
    for call in calls:
        for item in (*call, _out_by_name(call)):
            if type(item) is numpy.ndarray and item.ndim == len(run.shape) and item.shape[0] > 1:
                sliced[id(item)] = item
    position = {key: at for at, key in enumerate(sliced)}
    others: list[Any] = []
    items: list[Any] = []
    by_name: dict[int, int] = {}
    for number, call in enumerate(calls):
        if type(call[0]) is partial:
            by_name[number] = position[id(_out_by_name(call))]
            call = (call[0].func, *call[1:])
        found = []
        for item in call:
            if id(item) not in position:
                others.append(item)
            found.append(position.get(id(item), len(sliced) + len(others) - 1))
        items.append(operator.itemgetter(*found))
    parts: list[list[tuple[Any, ...]]] = []
    blocks = range(0, run.shape[0], run.rows)
    for number in range(num_parts):
        arrays = [*sliced.values()]
        if number:
            arrays = [numpy.empty_like(a) if len(a) == run.rows else a for a in arrays]
        part = []
        for begin in blocks[number::num_parts]:
            end = min(begin + run.rows, run.shape[0])
            values = [a[begin:end] if len(a) != run.rows else a[: end - begin] for a in arrays]
            values += others
            block = [item(values) for item in items]
            for at, out in by_name.items():
                function, *operands = block[at]
                block[at] = (partial(function, out=values[out]), *operands)
            part += block
        parts.append(part)
    return [part for part in parts if part]


def _out_by_name(call: tuple[Any, ...]) -> Any:
    return call[0].keywords["out"] if type(call[0]) is partial else None


def _arrays(operation: Any) -> list[Any]:
    return [a for a in operation.call if type(a) is numpy.ndarray]


def _root(array: Any) -> int:
    """The id of what owns the memory of an array."""
    return id(array if array.base is None else array.base)


def _elements(array: Any) -> Any:
    """A key that is equal for arrays of the same elements."""
    if array.base is None:
        return id(array)
    return array.__array_interface__["data"][0], array.strides, array.shape, array.dtype


def _is_elementwise(operation: Any) -> bool:
    """Whether rows of the result follow from the same rows of the operands."""
    function, out = operation.call[0], operation.out
    if type(function) is partial:
        function = function.func
    is_known = (
        (type(function) is numpy.ufunc and function.signature is None)
        or function is operator.setitem
        or (type(function) is Form and function.is_elementwise)
    )
    is_quiet = _QUIET.issuperset(operation.settings.values())
    if not (is_known and is_quiet and out.ndim and out.size):
        return False
    shape, root = out.shape, _root(out)
    return (
        shape[0] > 1
        and out.strides[0] == max(out.strides)
        and all(
            a is out
            or (
                (_root(a) != root or _elements(a) == _elements(out))
                and (a.ndim < len(shape) or (a.ndim == len(shape) and a.shape[0] in (1, shape[0])))
            )
            for a in _arrays(operation)
        )
    )
