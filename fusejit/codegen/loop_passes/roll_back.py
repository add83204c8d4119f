"""Checks that NumPy has to answer, after stores to the caller's memory: these are undone first.

A Python integer that leaves 64 bits, or extents of which one is 1, may show when a kernel has
stored already. NumPy then runs the call, so it must find its arguments as they were. A kernel with
such a check keeps what it overwrites in an undo log (`fusejit.codegen.intrinsics.undo_log`)::

    put(p_a0, i, v)                           keep(w, p_a0, i)          # or leave the kernel
                                              put(p_a0, i, v)
    if not fits:                              if not fits:
        return 17                      ->         roll_back(w)
                                                  return 16             # nothing has happened

A nest of stores stands behind a loop that keeps its elements; where the statements do not say which
these are (products, tiles, pointers that move on), all of the arrays is kept. Exits for other
reasons end the undo log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.codegen.analysis.kernel_statements import changed, flat
from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.codegen.intrinsics.statuses import Status
from fusejit.dataclass import dataclass, field, replace
from fusejit.ir.loops.index_math import negated, operand
from fusejit.ir.loops.mentioned_names import expr_names, memory_of
from fusejit.ir.loops.nodes import (
    Apply,
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
    Parts,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial

_W = Var("undo_log_w")


def with_undo_log(
    statements: Sequence[Stmt], arrays: Sequence[str], early: Mapping[int, int]
) -> list[Stmt]:
    """Undo stores where a kernel ends with one of some statuses.

    Parameters
    ----------
    statements : sequence of Stmt
        The body of a kernel.
    arrays : sequence of str
        The caller's arrays that it may write.
    early : mapping of int to int
        By a status that would come after stores: what the kernel returns once they are undone.
    """
    last = max((at for at, s in enumerate(statements) if may_end([s], early)), default=-1)
    if last < 0:
        return list(statements)
    pointers = frozenset(f"p_{name}" for name in arrays)
    if not changed(statements[: last + 1]) & pointers:
        return _UndoLog(frozenset(), early, exists=False).block(statements)
    emitter = _UndoLog(pointers, early)
    body = emitter.block(statements[: last + 1])
    ends = _UndoLog(frozenset(), early)  # nothing needs to be kept any more
    begin: list[Stmt] = [Let(_W.name, Call("undo_log", (operand(len(arrays)),)))]
    for at, name in enumerate(arrays):
        begin.append(Let("_", Call("undo_log_array", (_W, operand(at), Var(name)))))
    return [*begin, *body, *ends.block(statements[last + 1 :]), _does("end_undo_log")]


def may_end(statements: Sequence[Stmt], early: Mapping[int, int]) -> bool:
    """Whether a kernel may end there with a status that asks for stores to be undone."""
    return any(isinstance(s, Exit) and s.status in early for s in flat(statements))


def _does(name: str) -> Stmt:
    return Let("_", Call(name, (_W,)))


@dataclass
class _UndoLog:
    """Writes statements with what keeps, undoes and ends."""

    pointers: frozenset[str]
    early: Mapping[int, int]
    exists: bool = True  # whether there is an undo log: a kernel that stores nothing needs none
    heap: list[str] = field(default_factory=list)  # memory that is to be freed on the way out

    def block(self, statements: Sequence[Stmt]) -> list[Stmt]:
        """Statements of one block; memory that is taken in it is freed in it."""
        outside = list(self.heap)
        made = [new for s in statements for new in self.statement(s)]
        self.heap = outside
        return made

    def statement(self, s: Stmt) -> list[Stmt]:
        match s:
            case Exit():
                if s.status in self.early:
                    return [*self._does("roll_back"), Exit(self.early[s.status])]
                return [*self._does("end_undo_log"), s]
            case Scratch() if not s.on_stack:
                self.heap.append(s.name)
                if s.exit_status is None:
                    return [s]
                failed = If(
                    Call("is_null", (Var(s.name),)),
                    [*map(Free, self.heap[:-1]), *self._does("end_undo_log"), Exit(s.exit_status)],
                )
                return [replace(s, exit_status=None), failed]
            case Free():
                self.heap = [name for name in self.heap if name != s.name]
                return [s]
            case StoreElement() if memory_of(s.pointer) in self.pointers:
                return [self._or_leave(_kept(s)), s]
            case If() | While():
                return [with_bodies(s, self.block)]
            case For() if _ends(s) or any(isinstance(t, While) for t in flat(s.body)):
                return [with_bodies(s, self.block)]
            case _ if changed([s]) & self.pointers:
                return [*self._nest(s), s]
        return [s]

    def _does(self, name: str) -> list[Stmt]:
        return [_does(name)] if self.exists else []

    def _nest(self, s: Stmt) -> list[Stmt]:
        """What keeps all that a statement without an end of the kernel in it may store to."""
        found = _Stores(self.pointers, frozenset(changed([s]))).of([s])
        if found is None:
            return [self._or_leave(Call("keep_all", (_W,)))]
        body = [self._with_leave(each) for each in found]
        return [If(negated(Call("keeps_all", (_W,))), body)]

    def _with_leave(self, s: Stmt) -> Stmt:
        if isinstance(s, StoreElement):
            return self._or_leave(_kept(s))
        return with_bodies(s, lambda body: [self._with_leave(t) for t in body])

    def _or_leave(self, done: Expr) -> Stmt:
        """Leave the kernel if there was no memory."""
        body = [*map(Free, self.heap), *self._does("roll_back"), Exit(Status.SIZES_DIFFER)]
        return If(negated(done), body)


def _ends(s: Stmt) -> bool:
    """Whether the kernel may end in a statement."""
    return any(
        isinstance(t, Exit) or (isinstance(t, Scratch) and t.exit_status is not None)
        for t in flat([s])
    )


def _kept(s: StoreElement) -> Expr:
    """An element is kept whole: of a complex number that whose part is stored."""
    is_segment = isinstance(s.pointer, Parts)
    offset = Polynomial.quotient(s.offset, 2) if is_segment else s.offset
    return Call("keep", (_W, Var(memory_of(s.pointer)), Integer(offset)))


@dataclass
class _Stores:
    """The loops around stores to some pointers, and what their offsets need; nothing else.

    ``written`` are all names that the statement may store through: reads of their memory may see
    other contents later.
    """

    pointers: frozenset[str]
    written: frozenset[str]
    needed: set[str] = field(default_factory=set)

    def of(self, statements: Sequence[Stmt]) -> list[Stmt] | None:
        """Statements, backwards from the stores; None if they do not say where these are."""
        made: list[Stmt] = []
        for s in reversed(statements):
            found = self._statement(s)
            if found is None:
                return None
            made[:0] = found
        return made

    def _statement(self, s: Stmt) -> list[Stmt] | None:
        if not changed([s]) & self.pointers:
            if not self._gives(s) & self.needed:
                return []
            if not isinstance(s, Let) or s.rebind or self._reads_written(s.value):
                return None
            self.needed |= expr_names(s.value)
            return [s]
        match s:
            case StoreElement():
                if set(_pointers(s.value)) & self.pointers:
                    return None
                self.needed |= s.offset.names()
                return [s]
            case For():
                body = self.of(s.body)
                if body is None:
                    return None
                self.needed -= {s.var}
                self.needed |= expr_names(s.lower) | expr_names(s.upper)
                return [replace(s, body=body)]
            case If() if not s.orelse:
                body = self.of(s.body)
                if body is None or self._reads_written(s.condition):
                    return None
                self.needed |= expr_names(s.condition)
                return [replace(s, body=body)]
            case ParallelFor() if not s.of_program:
                body = self.of(s.body)
                if body is None:
                    return None
                self.needed -= {"lo", "hi"}
                self.needed |= expr_names(s.extent)
                low: Expr = Integer(Polynomial.const(0))
                return [Let("lo", low), Let("hi", s.extent), *body]
        return None

    def _gives(self, s: Stmt) -> set[str]:
        return {t.name for t in flat([s]) if isinstance(t, Let | Scratch)}

    def _reads_written(self, value: Expr) -> bool:
        return bool(expr_names(value) & self.written)


def _pointers(value: Expr) -> list[str]:
    """Names that stand in a value on their own: pointers that it may store through."""
    if isinstance(value, Element):
        return []
    if isinstance(value, Apply | Call):
        return [name for o in value.operands for name in _pointers(o)]
    return [value.name] if isinstance(value, Var) else []
