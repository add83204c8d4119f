"""Statements of a kernel: names that they give, pointers that they store to, what they check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fusejit.codegen.analysis.rewriting import subexpressions
from fusejit.ir.loops.index_math import I64
from fusejit.ir.loops.mentioned_names import memory_of, parts
from fusejit.ir.loops.nodes import (
    Apply,
    Exit,
    Expr,
    Field,
    For,
    Free,
    If,
    Let,
    Number,
    Operation,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)

U64 = np.dtype(np.uint64)
DIVISIONS = frozenset(
    Operation(name, kind, scalar_form)
    for name in ("remainder", "floor_divide")
    for kind in "iu"
    for scalar_form in (False, True)
)
"""Of integers."""


def flat(statements: Iterable[Stmt], *, nests: bool = False) -> Iterator[Stmt]:
    """Every statement, those in loops of the program (and ``nests``) and branches after them."""
    for s in statements:
        yield s
        if nests or not isinstance(s, ParallelFor) or s.of_program:
            yield from flat(parts(s)[1], nests=nests)


def cells_of(statements: Sequence[Stmt], cells: frozenset[str]) -> frozenset[str]:
    """The cells that statements give a value."""
    return cells & {name for s in flat(statements) for name in given(s)}


def given(s: Stmt) -> tuple[str, ...]:
    """Names that a statement itself gives."""
    if isinstance(s, Let | Scratch):
        return (s.name,)
    return (s.var,) if isinstance(s, For) else ()


def given_once(statements: Sequence[Stmt]) -> frozenset[str]:
    """Names that one of all statements gives."""
    times = Counter(name for s in flat(statements) for name in given(s))
    return frozenset(name for name, count in times.items() if count == 1)


def known_values(statements: Sequence[Stmt]) -> dict[str, Expr]:
    """What names stand for that are given once."""
    once = given_once(statements)
    return {s.name: s.value for s in flat(statements) if isinstance(s, Let) and s.name in once}


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
            found |= {memory_of(s.pointer), *_named(s.value)}
        elif isinstance(s, If | While):
            found.update(_named(s.condition))
    return found


def _named(value: Expr) -> Iterator[str]:
    """Names that stand in an expression on their own."""
    for expr in subexpressions(value):
        if isinstance(expr, Var | Field):
            yield expr.name if isinstance(expr, Var) else expr.array


def is_check(s: Stmt) -> bool:
    """``if not ok: leave the kernel``."""
    return (
        isinstance(s, If)
        and not s.orelse
        and bool(s.body)
        and isinstance(s.body[-1], Exit)
        and all(isinstance(t, Free) for t in s.body[:-1])
    )


def is_power_of_two(value: Expr) -> bool:
    """Whether it is a number by which a division is a shift or a mask."""
    return isinstance(value, Number) and int(value.value).bit_count() == 1


def is_division(s: Let) -> bool:
    """A division of 64-bit integers, but for a power of two: that is a shift."""
    if not isinstance(s.value, Apply) or s.value.op not in DIVISIONS:
        return False
    return s.value.dtype == I64 and not is_power_of_two(s.value.operands[1])


def moduli(s: Stmt) -> Iterator[int]:
    """The number by which a statement divides, if it wants the remainder."""
    if isinstance(s, Let) and isinstance(s.value, Apply) and s.value.op in DIVISIONS:
        divisor = s.value.operands[1]
        if s.value.op.name == "remainder" and isinstance(divisor, Number):
            yield int(divisor.value)


def is_work(s: Stmt) -> bool:
    """Whether facts may help: a check, or a division."""
    return is_check(s) or (isinstance(s, Let) and is_division(s))


def is_nest(loop: For) -> bool:
    """Whether a loop holds others, or memory of its own: that is not written twice."""
    return any(isinstance(s, For | While | ParallelFor | Scratch) for s in flat(loop.body))
