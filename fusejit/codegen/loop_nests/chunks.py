"""Chunks of the outermost loop, and the estimate of work that decides whether threads pay."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.loop_nest import (
    LoopDim,
    LoopNest,
)
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import floordiv
from fusejit.ir.loops.nodes import Expr, For, Integer, ParallelFor, Stmt, Var
from fusejit.ir.loops.polynomial import product


def chunked(loop: LoopDim, statements: Sequence[Stmt], work: Expr, comment: str) -> ParallelFor:
    """Run the outermost loop (in ``statements``, after what was hoisted out of it) in chunks."""
    body: list[Stmt] = []
    for statement in statements:
        if isinstance(statement, For) and statement.var == loop.var:
            statement = replace(statement, lower=Var("lo"), upper=Var("hi"))
        body.append(statement)
    return ParallelFor(Integer(loop.extent), work, body, comment)


def work_ns(nest: LoopNest, cost_ps: int, over: Sequence[LoopDim] | None = None) -> Expr:
    """Estimated nanoseconds of all points: ``extents * cost_ps // 1000``."""
    points = product(loop.extent for loop in (nest.loops if over is None else over))
    return floordiv(points * cost_ps, 1000)
