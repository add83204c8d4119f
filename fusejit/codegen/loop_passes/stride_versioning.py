"""Innermost loops that step through memory by a size: LLVM is kept from guessing that it is 1.

Before and after::

    for d0 in range(lo, hi):                      by0 = any_step(s1)
        put(p_r, d0 * s1, exp(get(p, d0 * s1)))   for d0 in range(lo, hi):
                                                      put(p_r, d0 * by0, exp(get(p, d0 * by0)))

Where one name is the step, LLVM's vectoriser makes vectors for a step of 1 only, asks for it in
front of the loop and leaves every other step a scalar loop (LoopAccessAnalysis,
``enable-mem-access-versioning``), in which a vector function is called for one element at a time:
``np.exp`` of every third float32 took 4.6 ns, and takes 0.8. A step from `any_step` is not a name
alone to LLVM. That is done for loops of functions, roots and quotients, and for the vectors of
register tiles, which LLVM would otherwise refuse with a remark on stderr; other sums and products
of few elements are faster as scalars than the loads and stores of single lanes make them.

A stride of an argument may turn out to be 1, as one variant serves several layouts: the loop then
stands there twice, first with literal steps. Other steps are lengths of rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.analysis.kernel_statements import flat
from fusejit.codegen.analysis.rewriting import FreshNames, subexpressions, with_bodies, with_offsets
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import both, equal
from fusejit.ir.loops.mentioned_names import parts
from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Expr,
    For,
    If,
    Let,
    ParallelFor,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS

_FUNCTIONS = frozenset(MATH_FUNCTIONS) | {"sqrt", "divide", "reciprocal"}


def prevent_stride_versioning(statements: Sequence[Stmt], strides: frozenset[str]) -> list[Stmt]:
    """Take steps from `any_step` in the innermost loops of ``statements`` for which that pays.

    ``strides`` are the names of those of arguments, which may be 1.
    """
    return _Hide(FreshNames("by", statements), strides).block(statements)


class _Hide:
    def __init__(self, new_name: FreshNames, strides: frozenset[str]) -> None:
        self.new_name = new_name
        self.strides = strides

    def block(self, statements: Sequence[Stmt]) -> list[Stmt]:
        return [new for s in statements for new in self.statement(s)]

    def statement(self, s: Stmt) -> list[Stmt]:
        if isinstance(s, For) and not _has_loop(s.body):
            return self.innermost(s)
        return [with_bodies(s, self.block, nests=True)]

    def innermost(self, loop: For) -> list[Stmt]:
        if not loop.lanes and not _pays(loop.body):
            return [loop]
        found = _Steps(loop.var)
        found.block(loop.body)
        if not found.steps:
            return [loop]
        names = {step: Polynomial.name(self.new_name()) for step in found.steps}
        lets: list[Stmt] = [
            Let(str(name), Call("any_step", (Var(step),))) for step, name in names.items()
        ]
        hidden: list[Stmt] = [*lets, replace(loop, body=_Steps(loop.var, names).block(loop.body))]
        strides = [step for step in names if step in self.strides]
        if not strides:
            return hidden
        ones = {step: Polynomial.const(1) for step in strides}
        usual = replace(loop, body=_Steps(loop.var, ones).block(loop.body))
        are_one = [equal(step, 1) for step in strides]
        return [If(both(*are_one) if len(are_one) > 1 else are_one[0], [usual], hidden)]


class _Steps:
    """The steps of a loop over ``var`` that are one name, and what stands for them instead."""

    def __init__(self, var: str, instead: dict[str, Polynomial] | None = None) -> None:
        self.var = var
        self.instead = instead or {}
        self.steps: dict[str, None] = {}

    def block(self, statements: Sequence[Stmt]) -> list[Stmt]:
        return [self.statement(s) for s in statements]

    def statement(self, s: Stmt) -> Stmt:
        if isinstance(s, Let):
            return replace(s, value=self.expr(s.value))
        if isinstance(s, StoreElement):
            return replace(s, offset=self.offset(s.offset), value=self.expr(s.value))
        if isinstance(s, If):
            return with_bodies(replace(s, condition=self.expr(s.condition)), self.block)
        return s

    def expr(self, expr: Expr) -> Expr:
        return with_offsets(expr, self.offset)

    def offset(self, offset: Polynomial) -> Polynomial:
        step = offset.coefficient(self.var)
        name = str(step)
        if not name.isidentifier() or not offset.is_linear_in(self.var):
            return offset  # LLVM does not guess
        self.steps[name] = None
        var = Polynomial.name(self.var)
        return offset - var * step + var * self.instead.get(name, step)


def _has_loop(statements: Sequence[Stmt]) -> bool:
    return any(isinstance(s, For | While | ParallelFor) for s in flat(statements))


def _pays(statements: Sequence[Stmt]) -> bool:
    """Whether statements without loops compute a function, a root or a quotient."""
    exprs = (e for s in flat(statements) for value in parts(s)[0] for e in subexpressions(value))
    return any(isinstance(e, Apply) and e.op.name in _FUNCTIONS for e in exprs)
