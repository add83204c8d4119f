"""Remainders of sums: ``(i + 1) % n`` mostly needs no division.

What wraps around in a program is a step from an index, or a sum of two numbers that are remainders
themselves: the result is the sum, or one divisor away from it. `near_mod` tries that first, in a
few instructions and a jump that is foretold, where a division takes 10 to 40 cycles::

    t = int_add(x, step)                  ->      t = int_add(x, step)
    r = scalar_mod(t, n)                            r = near_mod(t, n)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fusejit.codegen.analysis.kernel_statements import flat, is_power_of_two, known_values
from fusejit.codegen.analysis.rewriting import subexpressions, with_bodies
from fusejit.dataclass import replace
from fusejit.ir.loops.nodes import Apply, Call, Expr, Integer, Let, Operation, Stmt, Var
from fusejit.ir.loops.scalar_math import CAST, CONVERT

_SUMS = tuple(Operation(name, kind) for name in ("add", "subtract") for kind in "iu")
_SAME = (CAST, CONVERT, Operation("int"))  # numbers that are not negative, unsigned


def strength_reduce_mod(statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements of a kernel with `near_mod` where a sum is divided."""
    every = [s for s in flat(statements) if isinstance(s, Let)]
    if not any(_is_remainder(e) for s in every for e in subexpressions(s.value)):
        return list(statements)
    return _block(statements, known_values(statements))


def _block(statements: Sequence[Stmt], known: dict[str, Expr]) -> list[Stmt]:
    return [
        replace(s, value=_near(s.value, known))
        if isinstance(s, Let)
        else with_bodies(s, partial(_block, known=known))
        for s in statements
    ]


def _is_remainder(value: Expr) -> bool:
    """Whether it is one of integers on their own."""
    return isinstance(value, Apply) and value.op.name == "remainder" and value.op.scalar_form


def _near(value: Expr, known: dict[str, Expr]) -> Expr:
    if not isinstance(value, Apply):
        return value
    operands = tuple(_near(operand, known) for operand in value.operands)
    value = replace(value, operands=operands)
    is_wide = value.dtype is not None and value.dtype.itemsize == 8
    if (
        _is_remainder(value)
        and is_wide
        and _is_sum(operands[0], known)
        and not is_power_of_two(operands[1])
    ):
        return Call("near_mod", operands)
    return value


def _is_sum(value: Expr, known: dict[str, Expr]) -> bool:
    """Whether a number is the sum of two, none of which was multiplied just before."""
    value = _origin(value, known)
    if isinstance(value, Integer):
        terms = value.value.terms  # i + 1, not 7 * i + 1, nor i alone, which counts beyond n
        return len(terms) > 1 and all(not names or abs(c) == 1 for names, c in terms)
    return (
        isinstance(value, Apply)
        and value.op in _SUMS
        and not any(_is_product(operand, known) for operand in value.operands)
    )


def _origin(value: Expr, known: dict[str, Expr]) -> Expr:
    while True:
        if isinstance(value, Var) and value.name in known:
            value = known[value.name]
        elif isinstance(value, Apply) and value.op in _SAME:
            value = value.operands[0]
        else:
            return value


def _is_product(value: Expr, known: dict[str, Expr]) -> bool:
    value = _origin(value, known)
    return isinstance(value, Apply) and value.op not in _SUMS and not _is_remainder(value)
