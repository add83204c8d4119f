"""Names in loops: what expressions read, what statements mention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Element,
    Exit,
    Expr,
    Field,
    For,
    Free,
    If,
    Integer,
    Launch,
    Let,
    Number,
    ParallelFor,
    Parts,
    Pointer,
    Return,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial


def memory_of(pointer: Pointer) -> str:
    """The name of a pointer; of one to parts of complex numbers, that of the numbers."""
    return pointer.pointer if isinstance(pointer, Parts) else pointer


def expr_names(expr: Expr) -> frozenset[str]:
    """Every name that an expression reads."""
    if isinstance(expr, Var):
        return frozenset((expr.name,))
    if isinstance(expr, Integer):
        return expr.value.names()
    if isinstance(expr, Element):
        return element_names(expr.pointer, expr.offset)
    if isinstance(expr, Field):
        return frozenset((expr.array,))
    if isinstance(expr, Apply | Call):
        return frozenset().union(*map(expr_names, expr.operands))
    assert isinstance(expr, Number)
    return frozenset()


def element_names(pointer: Pointer, offset: Polynomial) -> frozenset[str]:
    """The names of an element that is read or written."""
    return offset.names() | {memory_of(pointer)}


def parts(s: Stmt) -> tuple[Iterable[Expr], Iterable[Stmt]]:
    """The expressions of a statement itself, and the statements in it."""
    match s:
        case Let() | StoreElement():
            return (s.value,), ()
        case Scratch():
            return (s.size,), ()
        case For():
            return (s.lower, s.upper), s.body
        case While():
            return (s.condition,), (*s.head, *s.body)
        case If():
            return (s.condition,), (*s.body, *s.orelse)
        case ParallelFor():
            written = s.streamed
            sizes = () if written is None else (written.num_bytes, written.fresh_bytes)
            return (s.extent, s.work_ns, *sizes), s.body
        case Exit():
            return s.values or (), ()
        case Launch():
            return (*s.numbers, *s.arguments), ()
        case Return():
            return (() if s.value is None else (s.value,)), ()
    return (), ()


def mentions(statement: Stmt) -> frozenset[str]:
    """Every name that a statement reads, gives or stores through."""
    return all_mentioned((statement,))


def all_mentioned(statements: Sequence[Stmt]) -> frozenset[str]:
    """Every name that statements read, give or store through."""
    return frozenset().union(*map(_own_names, _every(statements)))


def _every(statements: Iterable[Stmt]) -> Iterator[Stmt]:
    for s in statements:
        yield s
        yield from _every(parts(s)[1])


def _own_names(s: Stmt) -> frozenset[str]:
    """The names of a statement without those in it."""
    names = frozenset().union(*map(expr_names, parts(s)[0]))
    match s:
        case Let() | Scratch() | Free():
            return names | {s.name}
        case StoreElement():
            return names | element_names(s.pointer, s.offset)
        case For():
            return names | {s.var}
        case ParallelFor():
            pointer = "" if s.streamed is None else s.streamed.pointer
            return names | ({s.fault, pointer} - {""})
    return names


def given_names(statements: Iterable[Stmt]) -> frozenset[str]:
    """Every name that the statements of one function give a value; chunks are other functions."""
    found: set[str] = set()
    for s in _of_function(statements):
        if isinstance(s, Let | Scratch):
            found.add(s.name)
        elif isinstance(s, For):
            found.add(s.var)
    return frozenset(found)


def free_names(chunk: ParallelFor) -> frozenset[str]:
    """The names that a chunk has from the function around it."""
    found: set[str] = {chunk.fault} if may_leave(chunk.body) else set()
    for s in _of_function(chunk.body):
        found |= _own_names(s)
        if isinstance(s, ParallelFor):
            found |= free_names(s)
    return frozenset(found - given_names(chunk.body) - {"lo", "hi", "_", ""})


def may_leave(statements: Iterable[Stmt]) -> bool:
    """Whether the function may end in statements."""
    return any(
        isinstance(s, Exit) or (isinstance(s, Scratch) and s.exit_status is not None)
        for s in _of_function(statements)
    )


def _of_function(statements: Iterable[Stmt]) -> Iterator[Stmt]:
    """All statements but those in chunks."""
    for s in statements:
        yield s
        if not isinstance(s, ParallelFor):
            yield from _of_function(parts(s)[1])
