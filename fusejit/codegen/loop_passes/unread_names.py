"""Names of integers and bools that nothing reads any more are dropped from a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fusejit.codegen.analysis.kernel_statements import U64
from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import BOOL, I64
from fusejit.ir.loops.mentioned_names import mentions
from fusejit.ir.loops.nodes import (
    Apply,
    Element,
    Expr,
    Integer,
    Let,
    Number,
    Operation,
    Stmt,
    Var,
    While,
)

_DROPPED = (I64, U64, BOOL)


def drop_unread(statements: Sequence[Stmt], cells: frozenset[str]) -> list[Stmt]:
    """The statements without names that are given and not read; ``cells`` always stay."""
    return _block(statements, cells, set())


def _block(statements: Sequence[Stmt], cells: frozenset[str], read: set[str]) -> list[Stmt]:
    """From the end: ``read`` has the names that are read behind, and those read here after it."""
    kept: list[Stmt] = []
    for s in reversed(statements):
        if isinstance(s, Let):
            if s.name not in read and s.name not in cells and _has_no_effect(s.value):
                continue
            read |= mentions(Let("_", s.value))
        elif isinstance(s, While):
            body = _block(s.body, cells, read)
            read |= mentions(While((), s.condition, ()))
            s = replace(s, head=_block(s.head, cells, read), body=body)
        else:
            read |= mentions(with_bodies(s, lambda body: []))
            s = with_bodies(s, partial(_block, cells=cells, read=read))
        kept.append(s)
    kept.reverse()
    return kept


def _has_no_effect(value: Expr) -> bool:
    """Whether evaluating an expression has no effect beside its result."""
    if isinstance(value, Apply):
        known = value.dtype in _DROPPED or value.op == Operation("int")
        return known and all(map(_has_no_effect, value.operands))
    return isinstance(value, Var | Number | Integer | Element)
