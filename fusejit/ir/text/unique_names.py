"""Unique names for the values and buffers of a graph, for printing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, walk
from fusejit.ir.values import Buffer, Value

_UNREADABLE = re.compile(r"[^\w]")


class Names:
    """Gives each value and buffer one name, for the whole of a printed text.

    A name that the graph gave is kept where it is the first of that name, and gets a suffix
    otherwise. Values without a name, or whose name is a number, are numbered in program order.
    """

    def __init__(self) -> None:
        self._values: dict[Value, str] = {}
        self._buffers: dict[Buffer, str] = {}
        self._taken_values: set[str] = set()
        self._taken_buffers: set[str] = set()
        self._next_number = 0

    @staticmethod
    def of_graph(graph: Graph) -> Names:
        """The names of everything a graph defines; scalar inputs keep theirs."""
        names = Names()
        for scalar in graph.scalars:
            names._keep(scalar.value)
        for buffer in graph.buffers:
            if buffer.origin is not None:
                names.buffer(buffer)
        for value in _defined_values(graph.block):
            names.value(value)
        return names

    def value(self, value: Value) -> str:
        """The name of a value without the ``%``."""
        if value not in self._values:
            hint = _UNREADABLE.sub("_", value.name)
            if not hint or hint.isdigit():
                hint = self._number()
            self._values[value] = _unique(hint, self._taken_values)
        return self._values[value]

    def buffer(self, buffer: Buffer) -> str:
        """The name of a buffer without the ``@``."""
        if buffer not in self._buffers:
            hint = _UNREADABLE.sub("_", buffer.name) or "buffer"
            self._buffers[buffer] = _unique(hint, self._taken_buffers)
        return self._buffers[buffer]

    def _keep(self, value: Value) -> None:
        hint = _UNREADABLE.sub("_", value.name) or "scalar"
        self._values[value] = _unique(hint, self._taken_values)

    def _number(self) -> str:
        while str(self._next_number) in self._taken_values:
            self._next_number += 1
        self._next_number += 1
        return str(self._next_number - 1)


def _unique(hint: str, taken: set[str]) -> str:
    name, suffix = hint, 0
    while name in taken:
        suffix += 1
        name = f"{hint}_{suffix}"
    taken.add(name)
    return name


def _defined_values(block: Block) -> Iterator[Value]:
    yield from block.arguments
    for op in walk(block):
        for inner in op.blocks:
            yield from inner.arguments
        yield from op.results
