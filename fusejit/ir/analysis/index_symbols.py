"""Symbols that sizes and subscripts depend on, and the bound they keep.

Kernels compute with 64-bit integers. As long as every such symbol is below 2**47 in size (array
sizes are by nature; the launcher checks the others) and coefficients are below 2**12, no guard and
no subscript overflows, so that what a guard says holds for the integers of Python.
"""

from __future__ import annotations

from fusejit.ir.graph import Graph
from fusejit.ir.ops import walk
from fusejit.ir.values import View
from fusejit.ir.verifier.scope_rules import symbols_of

LARGEST_SYMBOL = 1 << 47
LARGEST_COEFFICIENT = 1 << 12


def index_symbols(graph: Graph) -> frozenset[str]:
    """The symbols that extents, maps, payloads and guards of a graph mention."""
    types = [*(b.type for b in graph.buffers), *(r.type for r in graph.results)]
    names = {name for type_ in types for e in type_.extents for name in e.symbols()}
    names.update(*(r.map.symbols() for r in graph.results if isinstance(r, View)))
    names.update(*map(symbols_of, walk(graph.block)))
    names.update(*(guard.expr.names() for guard in graph.guards))
    return frozenset(names & {symbol.name for symbol in graph.symbols})
