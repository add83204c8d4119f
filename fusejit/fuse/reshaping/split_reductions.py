"""Sums over several dims become sums over one dim each, the last dim first.

A float sum has its bits from the order of its terms, and that order is written out for one dim
(`fusejit.ir.interpreter.summation`). As ops of their own the partial sums can share loops with
others: the sum over the last axis of a block belongs to the tile that made the block.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusejit.fuse.rewrite_blocks import expand_ops
from fusejit.ir.analysis.split_generic import split_reduction
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Op
from fusejit.ir.scalar_ops.combiners import COMBINERS


def split_reductions(graph: Graph) -> Graph:
    """Split every ordered reduction over several dims; the same object if there is none.

    Before and after::

        %v = generic "sum" domain (s0, s1) iterators (reduction, reduction) ins (%x) outs (add)

        %p = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%x) outs (add)
        %v = generic "sum" domain (s0) iterators (reduction) ins (%p) outs (add)
    """
    return expand_ops(graph, _parts)


def is_ordered(op: GenericOp) -> bool:
    """Whether the order in which the op combines shows in its bits."""
    return any(
        init.combiner is not None and r.type.dtype.kind in COMBINERS[init.combiner].ordered
        for init, r in zip(op.inits, op.results, strict=True)
    )


def _parts(op: Op) -> Iterator[Op]:
    if isinstance(op, GenericOp) and may_be_split(op):
        while len(op.reduction_dims) > 1:
            first, op = split_reduction(op)
            yield first
    yield op


def may_be_split(op: GenericOp) -> bool:
    """Whether all results are reduced: one that is written at every point is written once."""
    is_reduced = all(init.combiner is not None for init in op.inits)
    return is_reduced and is_ordered(op) and not op.is_fixed
