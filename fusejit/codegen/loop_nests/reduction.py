"""Nests with a reduction: in NumPy's tree, in turn, or in any order.

Sums of floats along the innermost axes in memory use the tree of
`fusejit.ir.interpreter.summation`. Other sums of floats are sequential: *down columns*, whole rows
of a tile of columns are added at once. Extrema of floats may be merged in any order and use 128
lanes; integers use plain accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.accumulators import Accumulator
from fusejit.codegen.loop_nests.column_reduction import down_columns
from fusejit.codegen.loop_nests.loop_nest import LoopNest, collapse_loops, order_loops
from fusejit.codegen.loop_nests.row_reduction import along_rows, of_everything
from fusejit.codegen.loop_nests.short_rows import short_row_limit, short_rows
from fusejit.codegen.loop_nests.tree_reduction import everything_in_a_tree, rows_in_trees
from fusejit.ir.loops.index_math import less
from fusejit.ir.loops.nodes import If, Stmt


def order_reduction(nest: LoopNest, accs: Sequence[Accumulator]) -> None:
    """Order the loops, but not those over the numbers of a total whose order shows."""
    given = iter([loop for loop in nest.loops if loop.is_reduction])
    order_loops(nest)
    if any(acc.is_ordered for acc in accs):
        nest.loops = [next(given) if loop.is_reduction else loop for loop in nest.loops]
    if any(acc.in_tree for acc in accs):
        nest.loops.sort(key=lambda loop: loop.is_reduction)  # rows are read in one piece
    collapse_loops(nest, reductions=not any(acc.in_rows for acc in accs))


def lower_reduction(
    nest: LoopNest, accs: Sequence[Accumulator], *, often: bool = False
) -> list[Stmt]:
    """Loops for an op with reduction dims, ordered by `order_reduction`.

    ``often``: the op is inside a loop.
    """
    reductions = [loop for loop in nest.loops if loop.is_reduction]
    parallel = [loop for loop in nest.loops if not loop.is_reduction]
    if parallel and not nest.loops[-1].is_reduction:
        return down_columns(nest, accs, parallel, reductions)
    in_tree = any(acc.in_tree for acc in accs)
    if not parallel and in_tree:
        return everything_in_a_tree(nest, accs, reductions, often=often)
    rows = rows_in_trees if in_tree else along_rows
    if parallel and len(reductions) == 1 and all(acc.dtype.kind == "f" for acc in accs):
        is_short = less(reductions[0].extent, short_row_limit(nest, parallel[-1], reductions[0]))
        short = short_rows(nest, accs, parallel, reductions[0])
        return [If(is_short, short, rows(nest, accs, parallel, reductions))]
    if not parallel and not any(acc.is_ordered for acc in accs):
        (loop,) = reductions
        return of_everything(nest, accs, loop, often=often)
    return rows(nest, accs, parallel, reductions)
