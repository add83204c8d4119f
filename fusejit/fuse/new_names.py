"""Names that are not taken yet in a graph."""

from __future__ import annotations

from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, Loop, symbols_bound, walk


def symbols_of(graph: Graph) -> set[str]:
    """The names that new symbols must not have."""
    names = {s.name for s in graph.symbols} | {s.value.name for s in graph.scalars}
    return names | symbols_defined(graph.block)


def symbols_defined(block: Block) -> set[str]:
    """The symbols that ops of a block define for others in it."""
    names: set[str] = set()
    for op in walk(block):
        names.update(symbols_bound(op))
        if isinstance(op, Loop) and op.induction is not None:
            names.add(op.induction)
    return names


def unused(name: str, taken: set[str]) -> str:
    """The name, or the name with a number; it is taken then."""
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}{number}"
    taken.add(found)
    return found
