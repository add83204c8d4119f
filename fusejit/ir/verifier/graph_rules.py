"""Rules about a graph as a whole: its symbols, buffers, scalars and guards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from fusejit.ir.affine import FloorDiv, Mod
from fusejit.ir.graph import Graph
from fusejit.ir.host import HOST_OPS, HostExpr
from fusejit.ir.text.host_parser import NAMED_NUMBERS
from fusejit.ir.text.tokens import AFFINE_WORDS
from fusejit.ir.types import DTYPES, Kind
from fusejit.ir.values import Buffer, Value, View

_SYMBOL = re.compile(r"[A-Za-z_]\w*$", re.ASCII)
_DIM = re.compile(r"d\d+$")


def symbols_have_readable_names(graph: Graph) -> Iterator[str]:
    """A symbol is an identifier that is not a dim, an operator or the ``x`` between extents."""
    for symbol in graph.symbols:
        name = symbol.name
        reserved = name in NAMED_NUMBERS or name in AFFINE_WORDS or name == "x"
        if reserved or not _SYMBOL.match(name) or _DIM.match(name):
            yield f"{name!r} cannot be the name of a symbol"


def names_of_host_numbers_are_unique(graph: Graph) -> Iterator[str]:
    """Symbols and scalars share one space of names."""
    names = [s.name for s in graph.symbols] + [s.value.name for s in graph.scalars]
    for name, count in Counter(names).items():
        if count > 1:
            yield f"{name} is defined {count} times"


def host_expressions_can_be_computed(graph: Graph) -> Iterator[str]:
    """They use known host ops and names, and no name needs itself."""
    exprs = {s.name: s.expr for s in graph.symbols}
    exprs |= {s.value.name: s.expr for s in graph.scalars}
    needs = {name: expr.names() for name, expr in exprs.items()}
    others = [g.expr for g in graph.guards]
    others += [b.origin for b in graph.buffers if b.origin is not None]
    for expr in (*exprs.values(), *others):
        for name in sorted(expr.names() - exprs.keys()):
            yield f"{expr} uses {name}, which is neither a symbol nor a scalar"
        for op in sorted(_ops_in(expr) - HOST_OPS.keys()):
            yield f"{expr} uses the unknown host op {op!r}"
    done: set[str] = set()
    while ready := {n for n in needs if n not in done and needs[n] & needs.keys() <= done}:
        done |= ready
    for name in sorted(needs.keys() - done):
        yield f"{name} needs itself"


def buffers_and_scalars_are_well_formed(graph: Graph) -> Iterator[str]:
    """Known element types, orders that are permutations, known symbols, scalars of rank 0."""
    symbols = {s.name for s in graph.symbols}
    for buffer in graph.buffers:
        if buffer.origin is not None:
            yield from array_complaints(buffer)
            used = frozenset[str]().union(*(e.symbols() for e in buffer.type.extents))
            for name in sorted(used - symbols):
                yield f"the symbol {name} in the extents of {buffer!r} is not defined"
    for buffer, count in Counter(graph.buffers).items():
        if count > 1:
            yield f"{buffer!r} is listed {count} times"
    for scalar in graph.scalars:
        if scalar.value.type.rank or scalar.value.kind is Kind.ARRAY:
            yield f"{scalar.value!r} is not a scalar"


def views_that_are_returned_are_strided(graph: Graph) -> Iterator[str]:
    """A view that is handed out fits its buffer, and is linear, so that strides can express it."""
    for result in graph.results:
        if not isinstance(result, View):
            continue
        yield from view_complaints(result)
        atoms = [atom for r in result.map.results for atom, _ in r.terms]
        if any(isinstance(a, FloorDiv | Mod) and a.numerator.dims() for a in atoms):
            yield f"no strides express {result.map}"


def array_complaints(array: Value | Buffer) -> Iterator[str]:
    """What is wrong with a value or a buffer by itself."""
    if array.type.dtype not in DTYPES.values():
        yield f"{array!r} has the element type {array.type.dtype}"
    if any(e.dims() for e in array.type.extents):
        yield f"the extents of {array!r} depend on a dim"
    if array.order is not None and sorted(array.order) != list(range(array.type.rank)):
        yield f"the order {array.order} of {array!r} is not a permutation of its axes"


def view_complaints(view: View) -> Iterator[str]:
    """What is wrong with a view by itself."""
    rank = view.buffer.type.rank
    if view.map.rank != rank:
        yield f"{view.map} gives {view.map.rank} indices to {view.buffer!r} of rank {rank}"
    if view.map.num_dims != len(view.extents):
        yield f"{view.map} takes {view.map.num_dims} dims for {len(view.extents)} extents"
    elif any(d >= view.map.num_dims for d in view.map.dims()):
        yield f"{view.map} uses a dim that it does not take"
    if any(e.dims() for e in view.extents):
        yield "an extent depends on a dim"


def _ops_in(expr: HostExpr) -> frozenset[str]:
    own = frozenset(() if expr.op in ("name", "path", "size", "const") else (expr.op,))
    return own.union(*map(_ops_in, expr.operands))


GRAPH_RULES: tuple[Callable[[Graph], Iterator[str]], ...] = (
    symbols_have_readable_names,
    names_of_host_numbers_are_unique,
    host_expressions_can_be_computed,
    buffers_and_scalars_are_well_formed,
    views_that_are_returned_are_strided,
)
