"""Reshapes that take each other back."""

from __future__ import annotations

from fusejit.fuse.rewrite_blocks import definitions, rewrite_blocks, substitute_values
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, ReshapeOp
from fusejit.ir.values import Value


def cancel_reshapes(graph: Graph) -> Graph:
    """Replace a reshape back to the original shape by the original value."""
    defined = definitions(graph.block)
    same: dict[Value, Value] = {}

    def collect(block: Block, leaving: frozenset[Value]) -> Block:
        for op in block.ops:
            if not isinstance(op, ReshapeOp) or op.results[0] in leaving:
                continue
            inner = defined.get(op.source)
            if (
                isinstance(inner, ReshapeOp)
                and inner.reassociation == op.reassociation.inverse()
                and inner.source.type == op.results[0].type
            ):
                same[op.results[0]] = inner.source
        return block

    rewrite_blocks(graph, collect)
    return substitute_values(graph, same)
