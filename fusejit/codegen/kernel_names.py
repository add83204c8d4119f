"""Names of a kernel: which statements give them, and which pointers are stored to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fusejit.ir.loops import (
    Apply,
    Expr,
    For,
    If,
    Let,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)


def flat(statements: Sequence[Stmt]) -> Iterator[Stmt]:
    """Every statement, those inside loops and branches behind them; not those of nests."""
    for s in statements:
        yield s
        yield from flat(_inner(s))


def _inner(s: Stmt) -> Sequence[Stmt]:
    if isinstance(s, For):
        return s.body
    if isinstance(s, While):
        return (*s.head, *s.body)
    return (*s.body, *s.orelse) if isinstance(s, If) else ()


def cells_of(statements: Sequence[Stmt], cells: frozenset[str]) -> frozenset[str]:
    """The cells that statements give a value."""
    return cells & {name for s in flat(statements) for name in given(s)}


def given(s: Stmt) -> tuple[str, ...]:
    """Names that a statement itself gives."""
    if isinstance(s, Let | Scratch):
        return (s.name,)
    return (s.var,) if isinstance(s, For) else ()


def changed(statements: Sequence[Stmt]) -> set[str]:
    """Names with which more is done than to load from them: pointers that may be stored to."""
    found: set[str] = set()
    for s in flat(statements):
        if isinstance(s, ParallelFor):
            found |= changed(s.body)
            found |= {s.streamed.pointer} if s.streamed is not None else set()
        elif isinstance(s, Let):
            found |= {s.name, *_named(s.value)}
        elif isinstance(s, StoreElement):
            found |= {s.pointer, *_named(s.value)}
        elif isinstance(s, If | While):
            found.update(_named(s.condition))
    return found


def _named(expr: Expr) -> Iterator[str]:
    """Names that stand in an expression on their own."""
    if isinstance(expr, Var):
        yield expr.name
    elif isinstance(expr, Apply):
        yield from re.findall(r"[A-Za-z_]\w*", expr.template)
        for operand in expr.operands:
            yield from _named(operand)
