"""Chunks of the outermost loop, and the estimate of work that decides whether threads pay."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, over, point_cost_ps, wrap
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import ceildiv, floordiv, let, name
from fusejit.ir.loops.nodes import Expr, For, Integer, ParallelFor, Stmt, Var
from fusejit.ir.loops.polynomial import Polynomial, product


def chunked(loop: LoopDim, statements: Sequence[Stmt], work: Expr, comment: str) -> ParallelFor:
    """Run the outermost loop (in ``statements``, after what was hoisted out of it) in chunks."""
    body: list[Stmt] = []
    for statement in statements:
        if isinstance(statement, For) and statement.var == loop.var:
            statement = replace(statement, lower=Var("lo"), upper=Var("hi"))
        body.append(statement)
    return ParallelFor(Integer(loop.extent), work, body, comment)


def in_tiles(
    around: Sequence[LoopDim],
    row: LoopDim,
    tile_rows: int | Polynomial,
    scratch: Sequence[Stmt],
    tile: Sequence[Stmt],
    work: Expr,
    comment: str,
    sized: Sequence[Stmt] = (),
) -> ParallelFor:
    """Tiles of rows in chunks of the outermost loop, which is that of the rows or ``around`` it.

    ``tile`` sees its number ``tile``, and ``start`` and ``stop`` of the rows; ``sized`` what
    stands before all tiles.
    """
    statements = [
        let("start", 0 if around else "lo"),
        let("stop", row.extent if around else "hi"),
        *sized,
        over("tile", ceildiv(name("stop") - name("start"), tile_rows), tile),
    ]
    if around:
        outside = chunked(around[0], wrap(around, statements), work, comment)
        return replace(outside, body=[*scratch, *outside.body])
    return ParallelFor(Integer(row.extent), work, [*scratch, *statements], comment)


def work_ns(nest: LoopNest) -> Expr:
    """Estimated nanoseconds of all points: ``extents * cost_ps // 1000``."""
    points = product(loop.extent for loop in nest.loops)
    return floordiv(points * point_cost_ps(nest), 1000)
