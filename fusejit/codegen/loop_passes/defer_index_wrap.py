"""Indices that may be negative are counted from the end where a first comparison fails, not before.

Before and after::

    at = select(i < 0, i + n, i)          at = i
    if not u64(at) < u64(n):              if unlikely(not u64(i) < u64(n)):
        return 5                              at = i + n
                                          if not u64(at) < u64(n):
                                              return 5

One comparison says both that an index is not negative and that it is below the size, and LLVM sees
that after it the check holds. An index from the end costs a jump that was not foretold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeGuard

from fusejit.codegen.analysis.kernel_statements import U64, flat, is_check, known_values
from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import BOOL, I64, negated
from fusejit.ir.loops.nodes import Apply, Call, Expr, If, Integer, Let, Operation, Stmt, Var
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import CAST, CONVERT, SELECT, cast, convert, scalar

_COPIES = (CONVERT, Operation("int"))
_FAR = 16  # statements between an index and its check


def defer_index_wrap(statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements of a kernel with wrapped indices that are checked written so."""
    if not any(map(is_check, flat(statements))):
        return list(statements)
    return _block(statements, known_values(statements), {})


_Wrapped = dict[tuple[Polynomial, Polynomial], str]
"""The names that have an index of an axis, counted from the start."""


def _block(statements: Sequence[Stmt], known: dict[str, Expr], outside: _Wrapped) -> list[Stmt]:
    made: list[Stmt] = []
    wrapped = dict(outside)
    for at, s in enumerate(statements):
        s = with_bodies(s, partial(_block, known=known, outside=wrapped))
        if isinstance(s, Let):
            parts = _wrap(s, known)
            if parts is not None:
                index, size = parts
                key = _original(index, known), size
                if key in wrapped:
                    s = replace(s, value=convert(Var(wrapped[key]), I64))
                elif _is_checked(s.name, size, statements[at + 1 :], known):
                    made += _written(s.name, index, size)
                    wrapped[key] = s.name
                    continue
        made.append(s)
    return made


def _wrap(s: Let, known: dict[str, Expr]) -> tuple[Polynomial, Polynomial] | None:
    """The index and the size of a name that is an index counted from the end where negative."""
    value = s.value
    if s.name not in known or not isinstance(value, Apply) or value.op != SELECT:
        return None
    test = _origin(value.operands[0], known)
    from_end, index = (_integer(operand, known) for operand in value.operands[1:])
    if not _is_less(test) or from_end is None or index is None:
        return None
    sides = [_integer(operand, known) for operand in test.operands]
    if sides != [index, Polynomial.const(0)]:
        return None
    return index, from_end - index


def _original(index: Polynomial, known: dict[str, Expr]) -> Polynomial:
    """The name that an index was first: ``i`` of ``at = i``; of a bool or a narrow integer too."""
    (name,) = index.names() if len(index.names()) == 1 else ("",)
    if index != Polynomial.name(name):
        return index
    while name in known:
        value = _origin(known[name], known)
        if not isinstance(value, Var):
            break
        name = value.name
    return Polynomial.name(_source(Var(name), known) or name)


def _is_checked(
    name: str, size: Polynomial, behind: Sequence[Stmt], known: dict[str, Expr]
) -> bool:
    """Whether one of the next statements leaves the kernel unless the index is below the size."""
    for s in behind[:_FAR]:
        if isinstance(s, If) and is_check(s):
            condition = s.condition
            asked = condition.operands[0] if isinstance(condition, Apply) else None
            inside = None if asked is None else _origin(asked, known)
            return (
                _is_less(inside)
                and all(
                    isinstance(o := _origin(x, known), Apply) and o.op == CAST
                    for x in inside.operands
                )
                and _source(inside.operands[0], known) == name
                and _integer(inside.operands[1], known) == size
            )
        if not isinstance(s, Let):
            return False
    return False


def _written(name: str, index: Polynomial, size: Polynomial) -> list[Stmt]:
    sides = (cast(_int64(n), U64) for n in (index, size))
    below = scalar("less", *sides, dtype=BOOL, of=U64)
    far = Call("unlikely", (negated(below),))
    return [
        Let(name, _int64(index)),
        If(far, [Let(name, _int64(index + size), rebind=True)]),
    ]


def _is_less(expr: Expr | None) -> TypeGuard[Apply]:
    """Whether it is a comparison of integers with ``<``."""
    return isinstance(expr, Apply) and expr.op.name in ("less", "<")


def _int64(number: Polynomial) -> Expr:
    return convert(Integer(number), I64)


def _origin(value: Expr, known: dict[str, Expr]) -> Expr:
    """What a name or a copy stands for."""
    while True:
        if isinstance(value, Var) and value.name in known:
            value = known[value.name]
        elif isinstance(value, Apply) and value.op in _COPIES and value.dtype in (None, I64):
            value = value.operands[0]
        else:
            return value


def _integer(value: Expr, known: dict[str, Expr]) -> Polynomial | None:
    """An int64 (or its cast to an unsigned number) as a polynomial of names."""
    value = _origin(value, known)
    if isinstance(value, Apply) and value.op == CAST and value.dtype == U64:
        return _integer(value.operands[0], known)
    if isinstance(value, Integer):
        return value.value
    if isinstance(value, Var):
        return Polynomial.name(value.name)
    number = getattr(value, "value", None)
    return Polynomial.const(number) if type(number) is int else None


def _source(value: Expr, known: dict[str, Expr]) -> str | None:
    """The name of which something is a copy: the first that is no copy itself."""
    name = None
    while True:
        if isinstance(value, Integer):
            names = value.value.names()
            if len(names) != 1 or value.value != Polynomial.name(next(iter(names))):
                return name
            value = Var(next(iter(names)))
        if isinstance(value, Var):
            if value.name not in known:
                return name
            name, value = value.name, known[value.name]
        elif _is_copy(value):
            value = value.operands[0]
        else:
            return name


def _is_copy(value: Expr) -> TypeGuard[Apply]:
    """Whether it is the same integer: a cast to an int64 may be that of a float."""
    return isinstance(value, Apply) and (
        value.op in _COPIES or (value.op == CAST and value.dtype == U64)
    )
