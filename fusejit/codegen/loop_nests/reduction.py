"""Nests with a reduction: along rows, down columns, or of everything.

A float sum must have the bits of `fusejit.ir.interpreter.summation` whatever the layout. Two ways
of writing it have them:

- *along a row* (the reduction loop is innermost): 128 lanes in scratch take neighbours at a time;
- *down columns* (a parallel loop is innermost): rows of a tile of columns are visited lane by lane,
  in bit-reversed order of the lanes, so that neighbours on a stack of partial rows merge exactly as
  the halving tree would merge them.

Block sums merge on a stack in both. Float max and min run through the same lanes (they vectorise);
integers take plain accumulators. Sums over several dims were split before (`split_reduction`).
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.accumulators import Accumulator
from fusejit.codegen.loop_nests.column_reduction import down_columns
from fusejit.codegen.loop_nests.loop_nest import LoopNest, order_loops
from fusejit.codegen.loop_nests.row_reduction import along_rows, of_everything
from fusejit.codegen.loop_nests.short_rows import short_row_limit, short_rows
from fusejit.ir.loops.index_math import less
from fusejit.ir.loops.nodes import If, Stmt


def lower_reduction(
    nest: LoopNest, accs: Sequence[Accumulator], *, often: bool = False
) -> list[Stmt]:
    """Loops for an op with reduction dims; only one if a float sum is among its inits.

    ``often``: the op is inside a loop.
    """
    order_loops(nest)
    reductions = [loop for loop in nest.loops if loop.is_reduction]
    parallel = [loop for loop in nest.loops if not loop.is_reduction]
    if parallel and not nest.loops[-1].is_reduction:
        return down_columns(nest, accs, parallel, reductions)
    if parallel and len(reductions) == 1 and all(acc.in_lanes for acc in accs):
        is_short = less(reductions[0].extent, short_row_limit(nest, parallel[-1], reductions[0]))
        short = short_rows(nest, accs, parallel, reductions[0])
        return [If(is_short, short, along_rows(nest, accs, parallel, reductions))]
    if not parallel and len(reductions) == 1:
        return of_everything(nest, accs, reductions[0], often=often)
    return along_rows(nest, accs, parallel, reductions)
