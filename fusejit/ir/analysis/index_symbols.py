"""Symbols that sizes and subscripts depend on, and the bound they keep.

Kernels compute with 64-bit integers. As long as every such symbol is below 2**47 in size (array
sizes are by nature; the launcher checks the others) and coefficients are below 2**12, no guard and
no subscript overflows, so that what a guard says holds for the integers of Python.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusejit.ir.graph import Graph
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Load, Loop, Operand, Scatter, ViewOp, Write, walk
from fusejit.ir.types import TensorType
from fusejit.ir.values import View

LARGEST_SYMBOL = 1 << 47
LARGEST_COEFFICIENT = 1 << 12


def index_symbols(graph: Graph) -> frozenset[str]:
    """The symbols that extents, maps, payloads and guards of a graph mention."""
    names: set[str] = set()
    for part in _parts(graph):
        if isinstance(part, TensorType):
            names.update(*(e.symbols() for e in part.extents))
        else:
            names.update(part.symbols())
    for guard in graph.guards:
        names.update(_names(guard.expr))
    return frozenset(names & {symbol.name for symbol in graph.symbols})


def _parts(graph: Graph) -> Iterator[TensorType | IndexingMap]:
    for buffer in graph.buffers:
        yield buffer.type
    for result in graph.results:
        yield result.type
        if isinstance(result, View):
            yield result.map
    for op in walk(graph.block):
        for value in op.results:
            yield value.type
        if isinstance(op, GenericOp):
            yield TensorType(op.payload.arguments[0], op.domain)
            yield from (o.map for o in op.inputs)
            yield from (i.map for i in op.inits)
            for instr in op.payload.instrs:
                if instr.op == "index":
                    yield IndexingMap(len(op.domain), (instr.attr,))
        elif isinstance(op, ViewOp):
            yield op.map
        elif isinstance(op, Load | Write):
            yield op.view.map
            yield op.view.type
            if isinstance(op, Scatter):
                yield from (
                    s.map if isinstance(s, Operand) else IndexingMap(op.value.type.rank, (s,))
                    for s in op.subscripts
                )
        elif isinstance(op, Loop):
            bounds = tuple(b for b in (op.lower, op.upper) if b is not None)
            yield IndexingMap(0, bounds)


def _names(expr: HostExpr) -> Iterator[str]:
    if expr.op == "name":
        yield expr.attr
    for operand in expr.operands:
        yield from _names(operand)
