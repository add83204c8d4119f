"""Divisors that a nest leaves as they are are prepared before it.

Before and after, for a nest that is run by `parallel_for`::

    for d0 in range(lo, hi):              divisor0 = reciprocal_of(x0)
        v0 = get(p_a, d0)                 ...
        t0 = int_floordiv(v0, x0)         for d0 in range(lo, hi):
        put(p_r, d0, t0)                      v0 = get(p_a, d0)
                                              t0 = floordiv_by(v0, x0, divisor0)
                                              put(p_r, d0, t0)

The preparation takes as long as a dozen divisions, so a divisor that changes between rows stays as
it is. So do constants, with which LLVM knows what to do, and the divisions of numbers on their own
(``scalar_form``).
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.analysis.kernel_statements import flat, given
from fusejit.codegen.analysis.rewriting import FreshNames, with_bodies, with_operands
from fusejit.dataclass import dataclass, field, replace
from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Expr,
    For,
    If,
    Let,
    Operation,
    ParallelFor,
    Stmt,
    StoreElement,
    Var,
)

_PREPARED = {
    Operation(name, kind): function
    for name, function in (("floor_divide", "floordiv_by"), ("remainder", "mod_by"))
    for kind in "iu"
}


def prepare_divisors(statements: Sequence[Stmt]) -> list[Stmt]:
    """Prepare the uniform divisors of all nests in ``statements``."""
    return _Prepare(FreshNames("divisor", statements)).block(statements)


@dataclass(slots=True)
class _Prepare:
    new_name: FreshNames

    def block(self, statements: Sequence[Stmt]) -> list[Stmt]:
        return [new for s in statements for new in self.statement(s)]

    def statement(self, s: Stmt) -> list[Stmt]:
        s = with_bodies(s, self.block, nests=True)
        return self.nest(s) if isinstance(s, ParallelFor) else [s]

    def nest(self, nest: ParallelFor) -> list[Stmt]:
        """The nest with its outermost loops prepared, and what that needs before it."""
        before: list[Stmt] = []
        body: list[Stmt] = []
        own = _given(nest.body)
        for s in nest.body:
            loop = _Divisors(self.new_name, _given((s,)))
            (new,) = loop.block((s,)) if isinstance(s, For | If) else (s,)
            for divisor, name in loop.names.items():
                let = Let(name, Call("reciprocal_of", (Var(divisor),)))
                (body if divisor in own else before).append(let)
            body.append(new)
        return [*before, replace(nest, body=body)]


@dataclass(slots=True)
class _Divisors:
    """The uniform divisors of one loop, which ``changed`` are not, and what they are called."""

    new_name: FreshNames
    changed: frozenset[str]
    names: dict[str, str] = field(default_factory=dict)

    def block(self, statements: Sequence[Stmt]) -> list[Stmt]:
        return [self.statement(s) for s in statements]

    def statement(self, s: Stmt) -> Stmt:
        if isinstance(s, Let | StoreElement):
            return replace(s, value=self.expr(s.value))
        if isinstance(s, If):
            s = replace(s, condition=self.expr(s.condition))
        return with_bodies(s, self.block) if isinstance(s, For | If) else s

    def expr(self, expr: Expr) -> Expr:
        expr = with_operands(expr, self.expr)
        prepared = _PREPARED.get(expr.op) if isinstance(expr, Apply) else None
        if isinstance(expr, Apply) and prepared is not None:
            divisor = expr.operands[1]
            if isinstance(divisor, Var) and divisor.name not in self.changed:
                if divisor.name not in self.names:
                    self.names[divisor.name] = self.new_name()
                multiplier = Var(self.names[divisor.name])
                return Call(prepared, (*expr.operands, multiplier))
        return expr


def _given(statements: Sequence[Stmt]) -> frozenset[str]:
    """Every name that statements give, those inside nests too."""
    return frozenset(name for s in flat(statements, nests=True) for name in given(s))
