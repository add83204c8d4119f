"""Where kernels look for signals: in outer loops of the program, at no cost for an iteration.

    for i in range(n):              at, many = 0, 1024
        body                        while at < n:
                                        last = min(at + many, n)
                              ->        for i in range(at, last):
                                            body
                                        at = last
                                        many = poll(w)              # below 0: leave the kernel

    while c:                        while c:
        body                            left = left - 1             # units of about a nanosecond
                              ->        if left <= 0:
                                            left = poll(w)
                                        body

Loops inside are counted only where an iteration is long: one with two more levels of loops, or
with a nest over arrays. Innermost loops stay as they are, so that they vectorise. A chunk of a
parallel loop polls for itself. The thread that runs handlers leaves the status in the memory in
which chunks leave it, where the others find it and end as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.analysis.kernel_statements import flat, given
from fusejit.codegen.intrinsics.polling import FIRST_UNITS
from fusejit.codegen.intrinsics.statuses import Status
from fusejit.dataclass import dataclass, field, replace
from fusejit.ir.loops.index_math import (
    I64,
    add,
    compute,
    either,
    equal,
    floordiv,
    int_of,
    less,
    maximum,
    minimum,
    mul,
    number,
    operand,
    sub,
)
from fusejit.ir.loops.mentioned_names import expr_names, parts
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    Exit,
    Expr,
    For,
    Free,
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
from fusejit.ir.loops.polynomial import Polynomial

UNKNOWN_TRIPS, UNKNOWN_NEST = 16, FIRST_UNITS // 16
"""Iterations of a loop, and units of a nest, whose extents are not known before the loop."""

_LEFT, _STATE = Var("poll_left"), Var("poll_w")
_ZERO = Polynomial.const(0)


def interruptible(statements: Sequence[Stmt]) -> list[Stmt]:
    """Put polls into the loops of the program that a kernel has."""
    if not any(map(_has_loops, statements)):
        return list(statements)
    emitter = _Polls()
    body = emitter.block(statements)
    return [*_begin(), *body] if emitter.polls else list(statements)


def _has_loops(s: Stmt) -> bool:
    """Whether a loop of the program stands in a statement, or is it."""
    return any(
        isinstance(t, While) or (isinstance(t, For) and t.of_program) for t in flat([s], nests=True)
    )


def _begin() -> list[Stmt]:
    return [
        Let(_STATE.name, Call("poll_state", (operand(FIRST_UNITS),))),
        Let(_LEFT.name, number(FIRST_UNITS)),
    ]


def _less(units: Expr) -> Stmt:
    return Let(_LEFT.name, sub(_LEFT, units), rebind=True)


@dataclass
class _Polls:
    """Statements of one function; ``fault`` is where a chunk leaves its status."""

    fault: str = ""
    depth: int = 0
    polls: bool = False
    heap: list[str] = field(default_factory=list)  # memory that is to be freed on the way out
    names: list[str] = field(default_factory=list)  # given so far

    def block(self, statements: Sequence[Stmt]) -> list[Stmt]:
        """Statements of one block; memory that is taken in it is freed in it."""
        outside = list(self.heap)
        made = [new for s in statements for new in self.statement(s)]
        self.heap = outside
        return made

    def statement(self, s: Stmt) -> list[Stmt]:
        match s:
            case Scratch() if not s.on_stack:
                self.heap.append(s.name)
            case Free():
                self.heap = [name for name in self.heap if name != s.name]
            case If():
                return [replace(s, body=self.block(s.body), orelse=self.block(s.orelse))]
            case While() if not self.depth or _levels(s) > 1:
                return [replace(s, body=self.counted(s.body), head=self.block(s.head))]
            case For() if s.of_program and not self.depth:
                return self.in_stretches(s)
            case For() if s.of_program and (
                _levels(s) > 2 or any(isinstance(t, ParallelFor) for t in flat([s]))
            ):
                return [replace(s, body=self.counted(s.body))]
            case For() | While() if self.depth and _levels(s) > 1:
                return [_less(number(UNKNOWN_NEST)), s]
            case For() if self.depth:
                return [_less(maximum(sub(s.upper, s.lower), number(0))), s]
            case ParallelFor() if s.streamed is None and any(map(_has_loops, s.body)):
                return self.in_chunks(s)
            case ParallelFor() if self.depth:
                units = maximum(int_of(s.work_ns), number(UNKNOWN_NEST))
                return [_less(units), s]
        return [s]

    def counted(self, statements: Sequence[Stmt]) -> list[Stmt]:
        """The body of a loop whose units are counted."""
        self.polls = True
        body = self.inside(statements)
        asked: list[Stmt] = [Let(_LEFT.name, Call("poll", (_STATE,)), rebind=True)]
        return [
            _less(number(1)),
            If(compute("<=", _LEFT, 0), [*asked, self.leave(_LEFT)]),
            *body,
        ]

    def inside(self, statements: Sequence[Stmt]) -> list[Stmt]:
        self.depth += 1
        body = self.block(statements)
        self.depth -= 1
        return body

    def leave(self, polled: Var) -> Stmt:
        """Leave the function if a handler has raised, here or in the thread that runs them."""
        raised = less(polled, 0)
        if self.fault:
            raised = either(raised, equal(Element(self.fault, _ZERO), Status.INTERRUPTED))
        return If(raised, [*map(Free, self.heap), Exit(Status.INTERRUPTED)])

    def in_stretches(self, s: For) -> list[Stmt]:
        """A loop that stands in no other one: as many iterations at once as a poll says."""
        self.polls = True
        name = self.name()
        parts = "w", "first", "at", "end", "many", "last"
        state, first, at, end, many, last = (Var(f"{name}_{part}") for part in parts)
        polled: list[Stmt] = [
            Let(many.name, Call("poll", (state,)), rebind=True),
            self.leave(many),
            Let(many.name, mul(many, s.step), rebind=True),
        ]
        body: list[Stmt] = [
            Let(last.name, minimum(add(at, many), end)),
            replace(s, lower=at, upper=last, body=self.inside(s.body)),
            Let(at.name, last, rebind=True),
            If(less(at, end), polled),
        ]
        return [
            Let(first.name, _first_stretch(s)),
            Let(state.name, Call("poll_state", (first,))),
            Let(at.name, int_of(s.lower)),
            Let(end.name, int_of(s.upper)),
            Let(many.name, mul(first, s.step)),
            While([], less(at, end), body),
        ]

    def name(self) -> str:
        """A name that no other loop of the kernel has."""
        self.names.append(f"poll{len(self.names)}")
        return self.names[-1]

    def in_chunks(self, s: ParallelFor) -> list[Stmt]:
        """A loop whose chunks have loops: each polls, and all end when one has been interrupted."""
        fault = s.fault or f"{self.name()}_fault"
        inner = _Polls(fault, names=self.names)
        body = inner.block(s.body)
        if not inner.polls:
            return [s]
        self.polls = True
        is_over = equal(Element(fault, _ZERO), Status.INTERRUPTED)
        memory: list[Stmt] = [
            Scratch(fault, Integer(Polynomial.const(1)), I64, True),
            StoreElement(fault, _ZERO, number(0)),
        ]
        over: Stmt = If(is_over, [Exit(Status.INTERRUPTED)])
        launch = replace(s, body=[over, *_begin(), *body], fault=fault)
        leave = If(is_over, [*map(Free, self.heap), Exit(Status.INTERRUPTED)])
        return [*([] if s.fault else memory), launch, leave]


def _levels(s: Stmt) -> int:
    """How many loops stand within each other."""
    inner = [*parts(s)[1]]
    return (not isinstance(s, If) and bool(inner)) + max(map(_levels, inner), default=0)


def _first_stretch(s: For) -> Expr:
    """How many iterations of a loop have about `FIRST_UNITS`."""
    if _levels(s) == 1:
        return number(FIRST_UNITS)
    names = frozenset(name for t in flat([s]) for name in given(t))
    units = _sum([_units(t, names) for t in s.body])
    return maximum(floordiv(number(FIRST_UNITS), add(number(1), units)), number(1))


def _units(s: Stmt, names: frozenset[str]) -> Expr | None:
    """About how many nanoseconds a statement takes, estimated without the values of ``names``."""

    def known(expr: Expr) -> bool:
        return not expr_names(expr) & names

    match s:
        case For():
            trips: Expr = number(UNKNOWN_TRIPS)
            if known(s.lower) and known(s.upper):
                trips = maximum(sub(s.upper, s.lower), number(0))
            inner = [_units(t, names) for t in s.body]
            if not any(inner):
                return trips
            return mul(trips, add(number(1), _sum(inner)))
        case While():
            inner = [_units(t, names) for t in s.body]
            return mul(_sum([number(1), *inner]), number(UNKNOWN_TRIPS))
        case ParallelFor() if known(s.work_ns):
            return maximum(int_of(s.work_ns), number(UNKNOWN_NEST))
        case ParallelFor():
            return number(UNKNOWN_NEST)
        case If():
            inner = [_units(t, names) for t in (*s.body, *s.orelse)]
            return _sum(inner) if any(inner) else None
    return None


def _sum(terms: Sequence[Expr | None]) -> Expr:
    """The sum of those that are not None."""
    present = [t for t in terms if t is not None] or [number(0)]
    return add(*present) if len(present) > 1 else present[0]
