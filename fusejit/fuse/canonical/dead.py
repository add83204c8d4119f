"""Dead code: pure ops and results that nothing reads are dropped.

Ops that may raise and ops with effects stay, and so do loads and views only while they are read.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.canonical.tidy_operands import keep_results
from fusejit.fuse.rewrite_blocks import all_same, map_blocks, used_values
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, Effect, GenericOp, Op
from fusejit.ir.values import Value


def eliminate_dead_ops(graph: Graph) -> Graph:
    """Drop what no result, store or other effect depends on, in nested blocks too."""
    live = {r for r in graph.results if isinstance(r, Value)}
    block = _sweep(graph.block, live)
    return graph if block is graph.block else replace(graph, block=block)


def _sweep(block: Block, live: set[Value]) -> Block:
    live.update(block.yields)
    kept: list[Op] = []
    for op in reversed(block.ops):
        if op.effect is Effect.PURE and not any(v in live for v in op.results):
            continue
        if isinstance(op, GenericOp):
            op = keep_results(op, frozenset(live))
        else:
            op = map_blocks(op, lambda b: _sweep(b, set()))
        live.update(used_values(op))
        kept.append(op)
    kept.reverse()
    return block if all_same(kept, block.ops) else replace(block, ops=kept)
