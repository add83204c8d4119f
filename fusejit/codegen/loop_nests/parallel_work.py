"""How long a parallel loop of the program takes, and whether its iterations differ."""

from __future__ import annotations

from fusejit.codegen.intrinsics.parallel import SERIAL_BELOW_NS
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.estimated_work import loop_ps
from fusejit.ir.loops.index_math import compute, floordiv, int_of, maximum, mul
from fusejit.ir.loops.nodes import Expr
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.ops import Bind, Cond, GenericOp, Loop, Op, walk

FEW = 16  # iterations that may not suffice for all threads


def loop_work(loop: Loop, trips: Polynomial) -> Expr:
    """Nanoseconds of all ``trips`` iterations, 0 where the nests of one should have the threads.

    A few iterations, each of nests large enough for a launch of their own, are no good chunks.
    """
    work = loop_ps(loop)
    ops = list(walk(loop.body))
    if any(isinstance(op, Loop) for op in ops) or not any(map(_is_nest, ops)):
        return floordiv(work, 1000)
    spare = trips * (SERIAL_BELOW_NS * 1000) - work
    return mul(floordiv(work, 1000), int_of(compute(">", maximum(trips - FEW, spare), 0)))


def is_uneven(loop: Loop) -> bool:
    """Whether iterations may differ much: triangles, conditions, lengths read from memory."""
    unknown = {loop.induction} | {op.symbol for op in walk(loop.body) if isinstance(op, Bind)}
    for op in walk(loop.body):
        if isinstance(op, Cond) or (isinstance(op, Loop) and op.condition is not None):
            return True
        extents: tuple[AffineExpr | None, ...] = ()
        if isinstance(op, Loop):
            extents = op.lower, op.upper
        elif isinstance(op, GenericOp):
            extents = op.domain
        if any(e is not None and e.symbols() & unknown for e in extents):
            return True
    return False


def _is_nest(op: Op) -> bool:
    return isinstance(op, GenericOp) and bool(op.domain)
