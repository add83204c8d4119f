"""Rules about what an op can see: the values, symbols, buffers and versions before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.memory_versions import versions
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Assert,
    Bind,
    Block,
    GenericOp,
    HostCall,
    Load,
    Loop,
    Op,
    Scatter,
    ViewOp,
    Write,
    symbols_bound,
)
from fusejit.ir.values import Buffer, Value


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """The place where a block yields to the op that owns it."""

    owner: Op
    block: Block


Site = Op | BlockEnd


class Scope:
    """What is visible at the site that `walk` is at.

    A block sees the values of the blocks around it; what it defines is gone after it. Symbols are
    those of the launcher, the induction variables of the loops around, and bound integers.
    """

    def __init__(self, graph: Graph) -> None:
        self.versions = versions(graph.block)
        self.values: set[Value] = {s.value for s in graph.scalars}
        self.ever_defined: set[Value] = set(self.values)
        self.symbols: set[str] = {s.name for s in graph.symbols}
        self.buffers: set[Buffer] = {b for b in graph.buffers if b.origin is not None}

    def walk(self, block: Block) -> Iterator[Site]:
        """Every op in program order, before it defines its results; the end of inner blocks."""
        for op in block.ops:
            yield op
            if isinstance(op, Alloc | Alias):
                self.buffers.add(op.buffer)
            self.symbols.update(symbols_bound(op))
            self.ever_defined.update(a for inner in op.blocks for a in inner.arguments)
            induction = op.induction if isinstance(op, Loop) else None
            for inner in op.blocks:
                yield from self._inside(op, inner, induction)
            self.ever_defined.update(op.results)
            self.values.update(op.results)

    def _inside(self, op: Op, inner: Block, induction: str | None) -> Iterator[Site]:
        values, buffers, symbols = set(self.values), set(self.buffers), set(self.symbols)
        self.values.update(inner.arguments)
        if induction is not None:
            self.symbols.add(induction)
        yield from self.walk(inner)
        yield BlockEnd(op, inner)
        self.values, self.buffers, self.symbols = values, buffers, symbols


# ----------------------------------------------------------------------------------------- rules
def operands_are_defined_before_use(site: Site, scope: Scope) -> Iterator[str]:
    """Also: a block sees what is around it, and nothing sees into a block."""
    used = site.block.yields if isinstance(site, BlockEnd) else site.operand_values
    for value in used:
        if value not in scope.values:
            yield f"{value!r} is not visible here"


def values_are_defined_once(site: Site, scope: Scope) -> Iterator[str]:
    """Results and block arguments; the two blocks of a conditional loop share their arguments."""
    if isinstance(site, BlockEnd):
        return
    arguments = [inner.arguments for inner in site.blocks]
    if isinstance(site, Loop) and site.condition is not None:
        arguments = arguments[:1]
    seen: set[Value] = set()
    for value in (*site.results, *(a for group in arguments for a in group)):
        if value in scope.ever_defined or value in seen:
            yield f"{value!r} is defined a second time"
        seen.add(value)


def symbols_are_defined(site: Site, scope: Scope) -> Iterator[str]:
    """In maps, domains, types, payloads and bounds."""
    if isinstance(site, BlockEnd):
        return
    own = frozenset(site.sizes) if isinstance(site, HostCall) else frozenset()
    for name in sorted(symbols_of(site) - scope.symbols - own):
        yield f"the symbol {name} is not visible here"


def induction_variables_are_new(site: Site, scope: Scope) -> Iterator[str]:
    """No induction variable and no bound integer hides a symbol."""
    name = site.induction if isinstance(site, Loop) else None
    if isinstance(site, Bind):
        name = site.symbol
    if name in scope.symbols:
        yield f"{name} is a symbol already"


def buffers_exist_before_use(site: Site, scope: Scope) -> Iterator[str]:
    """A buffer is an argument's, or was allocated in this block or around it."""
    if isinstance(site, Load | Write) and site.view.buffer not in scope.buffers:
        yield f"{site.view.buffer!r} is neither an argument's buffer nor allocated here"
    if isinstance(site, Alias) and site.buffer.base not in scope.buffers:
        yield f"the base of {site.buffer!r} does not exist here"
    if isinstance(site, Alloc | Alias):
        if site.buffer in scope.buffers:
            yield f"{site.buffer!r} is allocated a second time"
        if site.buffer.origin is not None:
            yield f"{site.buffer!r} is an argument's buffer"


def versions_count_the_stores(site: Site, scope: Scope) -> Iterator[str]:
    """As `fusejit.ir.memory_versions` counts them."""
    if isinstance(site, Load | Write) and site.version != scope.versions[site]:
        yield f"version {site.version} should be {scope.versions[site]}"


SCOPE_RULES: tuple[Callable[[Site, Scope], Iterator[str]], ...] = (
    operands_are_defined_before_use,
    values_are_defined_once,
    symbols_are_defined,
    induction_variables_are_new,
    buffers_exist_before_use,
    versions_count_the_stores,
)


def results_are_defined_where_they_are_returned(graph: Graph, scope: Scope) -> Iterator[str]:
    """The results of a graph are visible at the end of its block."""
    for result in graph.results:
        if isinstance(result, Value):
            if result not in scope.values:
                yield f"{result!r} is not visible at the end"
            continue
        if result.buffer not in scope.buffers:
            yield f"{result.buffer!r} does not exist at the end"
        names = result.map.symbols().union(*(e.symbols() for e in result.extents))
        for name in sorted(names - scope.symbols):
            yield f"the symbol {name} is not visible at the end"


def symbols_of(op: Op) -> frozenset[str]:
    """The symbols an op uses itself, the blocks it owns not included."""
    exprs = [e for v in op.results for e in v.type.extents]
    exprs += [e for inner in op.blocks for a in inner.arguments for e in a.type.extents]
    more: frozenset[str] = frozenset()
    match op:
        case GenericOp():
            exprs += op.domain
            maps = [o.map for o in op.inputs] + [i.map for i in op.inits]
            exprs += [e for m in maps for e in m.results]
            more = op.payload.symbols()
        case ViewOp():
            exprs += op.map.results
        case Load() | Write():
            exprs += (*op.view.map.results, *op.view.extents)
            if isinstance(op, Scatter):
                for s in op.subscripts:
                    exprs += [s] if isinstance(s, AffineExpr) else s.map.results
        case Alloc() | Alias():
            exprs += op.buffer.type.extents
        case Assert():
            shown = () if op.shown is None else (op.shown.index, op.shown.size)
            exprs += [e for e in shown if isinstance(e, AffineExpr)]
        case Loop():
            exprs += [e for e in (op.lower, op.upper) if e is not None]
            exprs += [e for tile in op.tiles for e in (tile.extent, tile.largest)]
    return more.union(*(e.symbols() for e in exprs))
