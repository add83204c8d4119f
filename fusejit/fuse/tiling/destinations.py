"""Where the tiles of an op's results are stored.

A result that one store takes as a whole is stored there, tile by tile, and one that the function
returns is stored into the returned array. Any other has memory of its own, which is loaded after
the loops.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.canonical.stale_loads import source_load
from fusejit.fuse.new_names import unused
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.rules import enclosing, next_alias_class
from fusejit.ir.analysis.writes import store_that_takes
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Alloc, Block, GenericOp, Load, Op, Store, Write
from fusejit.ir.values import Buffer, Value, View


@dataclass(slots=True)
class Destination:
    """The view into which the tiles of a result are stored, and what that adds or replaces.

    ``is_started``: what the result starts from is in that view already.
    """

    view: View
    alloc: Alloc | None = None
    load: Load | None = None
    store: Store | None = None
    is_started: bool = False


def destinations(graph: Graph, op: GenericOp) -> tuple[Graph, list[Destination]]:
    """Return a destination for each result, and the graph with their buffers."""
    _, block = enclosing(graph, op)
    found = []
    for number, result in enumerate(op.results):
        readers = [*users(graph.block, result)]
        readers += [None for r in graph.results if r is result]
        store = store_that_takes(result, readers) if len(op.results) == 1 else None
        if store is not None and _may_store_early(graph, block, op, store):
            start = op.inits[number].start
            source = None if start is None else definitions(graph.block).get(start)
            is_started = isinstance(source, Load) and source.view == store.view
            found.append(Destination(store.view, store=store, is_started=is_started))
            continue
        graph, alloc = with_memory(graph, result, op)
        whole, load = View.whole(alloc.buffer), None
        if block is graph.block:
            graph = replace(
                graph, results=tuple(whole if r is result else r for r in graph.results)
            )
        if any(user is not None for user in readers) or block is not graph.block:
            load = Load(results=(result,), location=op.location, view=whole, version=0)
        found.append(Destination(whole, alloc, load))
    return graph, found


def with_memory(graph: Graph, result: Value, op: GenericOp) -> tuple[Graph, Alloc]:
    """The graph with a buffer for a result of an op, and what allocates it."""
    name = unused(result.name, {b.name for b in graph.buffers})
    buffer = Buffer(name, result.type, next_alias_class(graph), order=result.order)
    graph = replace(graph, buffers=[*graph.buffers, buffer])
    return graph, Alloc(buffer=buffer, location=op.location)


def users(block: Block, value: Value) -> Iterator[Op | None]:
    """The ops that read a value, and None for each block that yields it."""
    for op in block.ops:
        yield from (op for v in op.operand_values if v is value)
        for inner in op.blocks:
            yield from users(inner, value)
    yield from (None for v in block.yields if v is value)


def _may_store_early(graph: Graph, block: Block, op: GenericOp, store: Store) -> bool:
    """Whether nothing reads or writes the memory of a store from the op to the store.

    The op may start from what is there: each tile reads its own elements before it stores them.
    """
    if store.mask is not None or store not in block.ops:
        return False
    written = store.view.buffer.alias_class
    between = block.ops[block.ops.index(op) + 1 : block.ops.index(store)]
    if any(o.blocks or isinstance(o, Write | Alloc) for o in between):
        return False
    if any(isinstance(o, Load) and o.view.buffer.alias_class == written for o in between):
        return False
    defining = definitions(graph.block)
    for operand in op.inputs:
        source = source_load(operand.value, defining)
        if source is not None and source.view.buffer.alias_class == written:
            return False
    start = op.inits[0].start
    source = None if start is None else source_load(start, defining)
    if source is None or source.view.buffer.alias_class != written:
        return True
    return source.results[0] is start and source in block.ops and source.view == store.view
