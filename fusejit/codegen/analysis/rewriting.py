"""Statements and expressions with other parts: what passes over loops are made of."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from fusejit.dataclass import replace
from fusejit.ir.loops.mentioned_names import all_mentioned
from fusejit.ir.loops.nodes import Apply, Call, Element, Expr, For, If, ParallelFor, Stmt, While
from fusejit.ir.loops.polynomial import Polynomial

Rewrite = Callable[[Sequence[Stmt]], list[Stmt]]


class FreshNames:
    """Names that statements do not mention, one with each call: ``by0``, ``by1``, ..."""

    def __init__(self, prefix: str, statements: Sequence[Stmt]) -> None:
        taken = all_mentioned(statements)
        numbered = (f"{prefix}{number}" for number in itertools.count())
        self._names = (name for name in numbered if name not in taken)

    def __call__(self) -> str:
        return next(self._names)


def with_bodies(s: Stmt, rewrite: Rewrite, *, nests: bool = False) -> Stmt:
    """A statement with what stands in its loops and branches rewritten, or the same one.

    Nests over arrays stay as they are, unless ``nests``.
    """
    match s:
        case For():
            return replace(s, body=rewrite(s.body))
        case ParallelFor() if nests or s.of_program:
            return replace(s, body=rewrite(s.body))
        case While():
            return replace(s, head=rewrite(s.head), body=rewrite(s.body))
        case If():
            return replace(s, body=rewrite(s.body), orelse=rewrite(s.orelse))
    return s


def with_operands(expr: Expr, rewrite: Callable[[Expr], Expr]) -> Expr:
    """An expression with its operands rewritten, or the same one if it has none."""
    if isinstance(expr, Apply | Call):
        return replace(expr, operands=tuple(map(rewrite, expr.operands)))
    return expr


def with_offsets(expr: Expr, rewrite: Callable[[Polynomial], Polynomial]) -> Expr:
    """An expression with the offsets of all elements in it rewritten."""
    if isinstance(expr, Element):
        return replace(expr, offset=rewrite(expr.offset))
    return with_operands(expr, lambda operand: with_offsets(operand, rewrite))


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """An expression and all that it is made of."""
    yield expr
    if isinstance(expr, Apply | Call):
        for operand in expr.operands:
            yield from subexpressions(operand)
