"""Loops of the program whose iterations are independent: chunks of iterations on threads.

    for i0 = 0 to n step 1 parallel {..}        def chunk0(lo, hi, ..):
                                                    # scratch of the iterations of a chunk
                                                    for i0 in range(lo, hi): ..
                                                parallel_for(chunk0, n, work, ..)

What an iteration needs for itself is allocated once per chunk. A chunk cannot return a status: it
leaves it in `fault` and ends, and the kernel looks there after the loop. Only checks before
any store to the caller's memory get here, so it does not matter what other iterations did.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fusejit.codegen.analysis.kernel_statements import flat
from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.codegen.intrinsics.statuses import Status
from fusejit.codegen.loop_nests.parallel_work import is_uneven, loop_work
from fusejit.codegen.lower.kernel_memory import Enclosing
from fusejit.codegen.lower.region_emitter import RegionEmitter, largest
from fusejit.dataclass import replace
from fusejit.ir.analysis.estimated_work import loop_ps
from fusejit.ir.loops.index_math import I64, equal, floordiv, int_of, mul, operand
from fusejit.ir.loops.nodes import (
    Element,
    Exit,
    For,
    Free,
    If,
    Integer,
    Let,
    Number,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.ops import GenericOp, Loop

_ZERO = Polynomial.const(0)


class ParallelLoopEmitter(RegionEmitter):
    """Adds loops that are marked parallel."""

    def loop(self, op: Loop) -> None:
        """A loop as `RegionEmitter` writes it, or in chunks."""
        if not op.is_parallel or op.step < 0:
            super().loop(op)
            return
        assert op.induction is not None
        assert op.lower is not None
        assert op.upper is not None
        lower, upper = Polynomial.from_affine(op.lower), Polynomial.from_affine(op.upper)
        trips = upper - lower
        if op.step != 1:
            trips = Polynomial.quotient(trips + op.step - 1, op.step)
        is_tile = bool(op.tiles) and not any(inner.blocks for inner in op.body.ops)
        region = Enclosing(
            [], [], True, {op.induction}, is_chunk=True, largest=largest(op), is_tile=is_tile
        )
        with self.enclosed(region) as body:
            for inner in op.body.ops:
                self.op(inner)
        fault = self._name("fault")
        is_normalized = lower == _ZERO and op.step == 1
        name = op.induction if is_normalized else self._name("at")
        if not is_normalized:
            first = Integer(lower + Polynomial.name(name) * op.step)
            body = [Let(op.induction, first), *body]
        if is_tile:  # a single one runs its nests in parallel
            single = self._name("single")
            self.statements.append(Let(single, int_of(equal(trips, 1))))
            body = _parallel_if(single, body)
        work = floordiv(loop_ps(op), 1000) if is_tile else loop_work(op, trips)
        chunk = [*region.statements, For(name, Var("lo"), Var("hi"), body, of_program=not is_tile)]
        chunk += [Free(each) for each in region.frees]
        statuses = sorted(_statuses(chunk))
        comment = f"iterations of {op.location.short}" if op.location.short else "iterations"
        if is_tile:
            ops = (o for o in op.body.ops if isinstance(o, GenericOp) and o.domain)
            comment = f"tiles: {', '.join(o.name for o in ops)}"
        launch = ParallelFor(
            Integer(trips),
            work,
            chunk,
            comment,
            fault=fault if statuses else "",
            is_uneven=not is_tile and is_uneven(op),
            of_program=not is_tile,
        )
        if statuses:
            self.statements += [
                Scratch(fault, operand(1), I64, True),
                StoreElement(fault, _ZERO, Number(0, I64)),
            ]
        self.statements.append(launch)
        for status in statuses:
            failed = equal(Element(fault, _ZERO), status)
            self.statements.append(If(failed, self._leave(Exit(status))))


def _parallel_if(condition: str, statements: Sequence[Stmt]) -> list[Stmt]:
    """Loops that are launched in parallel only where ``condition`` is 1."""
    return [
        replace(s, work_ns=mul(s.work_ns, condition))
        if isinstance(s, ParallelFor)
        else with_bodies(s, partial(_parallel_if, condition))
        for s in statements
    ]


def _statuses(statements: Sequence[Stmt]) -> set[int]:
    """The statuses that a chunk may end with."""
    inner = list(flat(statements, nests=True))
    memory = (s for s in inner if isinstance(s, Scratch) and not s.on_stack)
    found: set[int] = {s.status for s in inner if isinstance(s, Exit)}
    if any(s.exit_status is not None for s in memory):
        found.add(Status.NO_MEMORY)
    return found
