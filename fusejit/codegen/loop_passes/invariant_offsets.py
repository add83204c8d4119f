"""Parts of element offsets that a loop of the program does not change are computed before it.

Before and after::

    for at1 in range(m):                       above0 = at0 * m + at0
        get(p, at0 * m + at0 + at1 + 1)        for at1 in range(m):
        put(p, at0 * m + at0 + at1, ..)            get(p, above0 + at1 + 1)
                                                   put(p, above0 + at1, ..)

LLVM could do that too, but it orders the terms of each sum on its own, so that neighbouring
elements seem to have addresses of their own, which are then chosen in branches and kept in
registers. The name sorts before other names, so the sum of the rest starts from one address.
Offsets stay in 64 bits wherever they are computed (`fusejit.ir.analysis.index_symbols`), loops
without iterations included, and no element is loaded here.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.analysis.kernel_statements import flat, given
from fusejit.codegen.analysis.rewriting import FreshNames, with_bodies, with_offsets
from fusejit.dataclass import replace
from fusejit.ir.loops.nodes import (
    Expr,
    For,
    If,
    Integer,
    Let,
    ParallelFor,
    Stmt,
    StoreElement,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial


def hoist_offsets(statements: Sequence[Stmt]) -> list[Stmt]:
    """Hoist the invariant parts of offsets out of every loop in ``statements``.

    Nests (`ParallelFor`) stay as they are: their loops order what they move through themselves.
    """
    return _Hoist(FreshNames("above", statements)).block(statements, None)


class _Hoist:
    def __init__(self, new_name: FreshNames) -> None:
        self.new_name = new_name

    def block(self, statements: Sequence[Stmt], loop: _Invariants | None) -> list[Stmt]:
        """Statements whose innermost loop is ``loop``, with what inner loops need before them."""
        return [new for s in statements for new in self.statement(s, loop)]

    def statement(self, s: Stmt, loop: _Invariants | None) -> list[Stmt]:
        if isinstance(s, For | While):
            inner = _Invariants(
                self.new_name, frozenset(name for t in flat((s,)) for name in given(t))
            )
            body = self.block(s.body, inner)
            rewritten: Stmt
            if isinstance(s, While):
                head = self.block(s.head, inner)
                rewritten = replace(s, head=head, body=body, condition=inner.expr(s.condition))
            else:
                rewritten = replace(s, body=body)
            return [*inner.lets(), rewritten]
        if isinstance(s, If):
            condition = s.condition if loop is None else loop.expr(s.condition)
            s = replace(s, condition=condition)
            return [with_bodies(s, lambda body: self.block(body, loop))]
        if loop is None or isinstance(s, ParallelFor):
            return [with_bodies(s, lambda body: self.block(body, None))]
        if isinstance(s, Let):
            return [replace(s, value=loop.expr(s.value))]
        if isinstance(s, StoreElement):
            return [replace(s, offset=loop.offset(s.offset), value=loop.expr(s.value))]
        return [s]


class _Invariants:
    """What one loop leaves as it is, and the names that parts of offsets got before it."""

    def __init__(self, new_name: FreshNames, given: frozenset[str]) -> None:
        self.new_name = new_name
        self.given = given
        self.parts: dict[Polynomial, str] = {}

    def lets(self) -> list[Let]:
        return [Let(name, Integer(part)) for part, name in self.parts.items()]

    def offset(self, offset: Polynomial) -> Polynomial:
        constant = [t for t in offset.terms if not t[0]]
        part = Polynomial(
            tuple(t for t in offset.terms if t[0] and not Polynomial((t,)).names() & self.given)
        )
        if len(part.terms) + len(constant) == len(offset.terms) or not _is_work(part):
            return offset
        if part not in self.parts:
            self.parts[part] = self.new_name()
        return offset - part + Polynomial.name(self.parts[part])

    def expr(self, expr: Expr) -> Expr:
        return with_offsets(expr, self.offset)


def _is_work(part: Polynomial) -> bool:
    """Whether it is more than one name."""
    return len(part.terms) > 1 or any(len(names) > 1 or c != 1 for names, c in part.terms)
