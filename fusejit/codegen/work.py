"""Estimated work of a loop of the program: how many nanoseconds its statements take.

    for i in range(n):              n * (n - 1) // 2 * 0.6 ns
        for j in range(i):
            y[j] = ..

Bounds of loops inside enter as they are; where they depend on a loop's variable, that one has its
mean. What only the body knows (lengths read from memory, conditions) counts as a few iterations: a
loop that is taken for shorter than it is stays serial at sizes where threads gain little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fusejit.ir.loops import (
    Apply,
    Element,
    Expr,
    For,
    If,
    Integer,
    Let,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.polynomial import Polynomial

INSTRUCTION_PS = 300
FUNCTION_PS = 5_000  # a math function, or a division of integers
UNKNOWN_TRIPS = 8  # of a loop whose bounds only the body knows

_CALL = re.compile(r"([A-Za-z_]\w*)\(")
_CHEAP = {"boolean", "fabs", "min", "max", "abs", "isnan"}
_CAST = re.compile(r"[iuf]\d+")
_IN_NS = "({0} // 1000)"


def loop_work(variable: str, first: Polynomial, trips: Polynomial, body: Sequence[Stmt]) -> Expr:
    """Nanoseconds of ``trips`` iterations whose ``variable`` counts from ``first``."""
    estimate = _Estimate()
    once = estimate.statements(body).substitute(variable, _mean(first, first + trips))
    return Apply(_IN_NS, (Integer(once * trips),))


def _mean(lower: Polynomial, upper: Polynomial) -> Polynomial:
    """The mean of ``range(lower, upper)``, as opaque text unless it is known."""
    total = lower + upper - 1
    known = total.as_constant()
    return Polynomial.name(f"(({total}) // 2)") if known is None else Polynomial.const(known // 2)


def _halved(value: Polynomial) -> Polynomial:
    return Polynomial(tuple((names, c // 2) for names, c in value.terms if c // 2))


class _Estimate:
    """Picoseconds of statements, as a polynomial of names that stand around them."""

    def __init__(self) -> None:
        self.inside: set[str] = set()  # names that the statements themselves give

    def statements(self, statements: Sequence[Stmt]) -> Polynomial:
        total = Polynomial.const(0)
        for statement in statements:
            total = total + self.statement(statement)
        return total

    def statement(self, s: Stmt) -> Polynomial:
        if isinstance(s, Let):
            self.inside.add(s.name)
            return Polynomial.const(_cost_ps(s.value))
        if isinstance(s, StoreElement):
            return Polynomial.const(INSTRUCTION_PS + _cost_ps(s.value))
        if isinstance(s, Scratch):
            self.inside.add(s.name)
        elif isinstance(s, For):
            return self.loop(s)
        elif isinstance(s, While):
            return (self.statements(s.head) + self.statements(s.body)) * UNKNOWN_TRIPS
        elif isinstance(s, If):
            both = self.statements(s.body) + self.statements(s.orelse)
            return _halved(both) if s.orelse else both
        elif isinstance(s, ParallelFor):
            return self.nest(s)
        return Polynomial.const(0)

    def loop(self, s: For) -> Polynomial:
        lower, upper = self.known(s.lower), self.known(s.upper)
        if lower is None or upper is None:
            self.inside.add(s.var)
            return self.statements(s.body) * UNKNOWN_TRIPS
        trips = upper - lower
        if s.step != 1:
            trips = Polynomial.name(f"(({trips}) // {s.step})")
        return self.statements(s.body).substitute(s.var, _mean(lower, upper)) * trips

    def nest(self, s: ParallelFor) -> Polynomial:
        """Nests know their own work: what one point costs, times all points."""
        work = s.work_ns
        if isinstance(work, Apply) and work.template == _IN_NS:
            points = self.known(work.operands[0])
            if points is not None:
                return points
        self.inside |= {"lo", "hi"}
        return self.statements(s.body) * UNKNOWN_TRIPS

    def known(self, value: Expr) -> Polynomial | None:
        """An integer in terms of names that stand around the statements, if it is one."""
        if isinstance(value, Integer):
            return None if value.value.names() & self.inside else value.value
        if isinstance(value, Var):
            return None if value.name in self.inside else Polynomial.name(value.name)
        return None


def _cost_ps(value: Expr) -> int:
    if isinstance(value, Element):
        return INSTRUCTION_PS
    if not isinstance(value, Apply):
        return 0
    calls = (n for n in _CALL.findall(value.template) if n not in _CHEAP and not _CAST.match(n))
    own = FUNCTION_PS if any(True for _ in calls) else INSTRUCTION_PS
    return own + sum(map(_cost_ps, value.operands))
