"""Parallel loops as launches of functions, exits as returns: kernels as they are written out.

    parallel for [lo, hi) of s0:            function chunk0(lo, hi, fault, p):
        if bad: exit 5                          if bad:
        p[lo] = 1.0                 ->              fault[0] = 5
                                                    return
                                                p[lo] = 1.0
                                            function kernel(a0):
                                                launch chunk0(fault, p) over s0

A function in a function stands before it. Names that a chunk reads from outside are its
parameters, in the order of their numbers, but for a streamed result: that comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import compute, operand
from fusejit.ir.loops.mentioned_names import free_names
from fusejit.ir.loops.nodes import (
    Call,
    Exit,
    Expr,
    If,
    Launch,
    LoopFunction,
    LoopKernel,
    LoopModule,
    ParallelFor,
    Return,
    Scratch,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial

KERNEL = "kernel"
"""Name of the function that is called from outside."""


def outlined(kernel: LoopKernel) -> LoopModule:
    """A kernel as functions."""
    functions, body = outlined_statements(kernel.body)
    parameters = tuple(p.name for p in kernel.parameters)
    body.append(Return(operand(0)))
    return LoopModule((*functions, LoopFunction(KERNEL, parameters, body)))


def outlined_statements(statements: Sequence[Stmt]) -> tuple[list[LoopFunction], list[Stmt]]:
    """The functions that statements launch, and the statements."""
    outliner = _Outliner()
    return outliner.functions, outliner.block(statements)


class _Outliner:
    def __init__(self) -> None:
        self.functions: list[LoopFunction] = []
        self.fault = ""  # where a chunk that ends early leaves its status

    def block(self, statements: Sequence[Stmt]) -> list[Stmt]:
        return [each for s in statements for each in self.statement(s)]

    def statement(self, s: Stmt) -> Sequence[Stmt]:
        match s:
            case ParallelFor():
                return (self.launch(s),)
            case Exit():
                return self.exit(s)
            case Scratch(exit_status=int() as status) if not s.on_stack:
                is_full = Call("is_null", (Var(s.name),))
                return replace(s, exit_status=None), If(is_full, self.exit(Exit(status)))
        return (with_bodies(s, self.block),)

    def exit(self, s: Exit) -> list[Stmt]:
        status: Expr = operand(s.status)
        if s.values is not None:
            status = Call("deferred_values", (status, *s.values))
        if not self.fault:
            return [Return(status)]
        return [StoreElement(self.fault, Polynomial.const(0), compute("int", status)), Return()]

    def launch(self, s: ParallelFor) -> Launch:
        outer, self.fault = self.fault, s.fault
        body = self.block(s.body)
        self.fault = outer
        first = s.streamed.pointer if s.streamed is not None else ""
        free = sorted(free_names(s), key=lambda n: (n != first, *_natural(n)))
        name = f"chunk{len(self.functions)}"
        self.functions.append(LoopFunction(name, ("lo", "hi", *free), body, s.comment))
        numbers = [s.extent, s.work_ns]
        if s.streamed is not None:
            numbers += [s.streamed.num_bytes, s.streamed.fresh_bytes]
        return Launch(name, tuple(numbers), tuple(map(Var, free)), s.is_uneven)


def _natural(name: str) -> tuple[str, int]:
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or -1)
