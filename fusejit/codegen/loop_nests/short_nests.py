"""Nests whose extent changes from iteration to iteration: a few points are done on the spot.

Before and after::

    for i in range(n):                        for i in range(n):
        parallel_for(chunk0, at2, ..)             if at2 <= 8:
                                                      for short0 in range(at2): ..
                                                  else:
                                                      parallel_for(chunk0, at2, ..)

A slice whose bounds are elements, or a row of a triangle, is often a few elements long. Then to
call a function that is made for vectors takes longer than they do. Both compute each point alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fusejit.codegen.analysis.chains import Chain, chain_of
from fusejit.codegen.analysis.kernel_statements import flat, given
from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.codegen.loop_nests.loop_nest import over
from fusejit.ir.loops.index_math import compute
from fusejit.ir.loops.mentioned_names import mentions
from fusejit.ir.loops.nodes import Expr, For, If, Let, Stmt, Var, While

FEW = 8  # points
LIMIT = 12  # statements at one point


def write_short_nests(statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements with a second form of nests in loops of the program whose extent they change.

    Only nests of one loop without sums, whose points store where no other one does.
    """
    return _Emitter().block(statements, frozenset())


class _Emitter:
    def __init__(self) -> None:
        self.count = 0

    def block(self, statements: Sequence[Stmt], varying: frozenset[str]) -> list[Stmt]:
        """Statements in loops that give the names ``varying``."""
        return [self.statement(s, varying) for s in statements]

    def statement(self, s: Stmt, varying: frozenset[str]) -> Stmt:
        """A statement; of those that stay as they are the same one."""
        if isinstance(s, For | While):
            varying = varying | {name for inner in flat((s,)) for name in given(inner)}
        s = with_bodies(s, partial(self.block, varying=varying))
        chain = chain_of(s)
        if chain is None or len(chain.loops) > 1 or len(chain.points) > LIMIT:
            return s
        if not mentions(Let("_", chain.nest.extent)) & varying:
            return s
        points = self.points(chain)
        if points is None:
            return s
        return If(compute("<=", chain.nest.extent, FEW), points, [s])

    def points(self, chain: Chain) -> list[Stmt] | None:
        """The nest as a plain loop, its names new; None if a point does more than that."""
        (loop,) = chain.loops
        prefix = f"short{self.count}"
        names: dict[str, Expr] = {loop.var: Var(prefix)}
        names.update((let.name, Var(f"{prefix}_{at}")) for at, let in enumerate(chain.lets()))
        if any(isinstance(s, If) for s in chain.points):
            return None
        new = chain.with_names(names)
        self.count += 1
        return [*new.levels[0], over(prefix, chain.nest.extent, new.points)]
