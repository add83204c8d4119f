"""Arithmetic of indices, sizes and conditions in loops: int64 that never leaves 64 bits, and bools.

What the sums and products of names are is a `Polynomial`; the rest is an `Apply` of one of these
operations. They are written as in Python, and mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TypeGuard

from fusejit.dataclass import dataclass
from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Expr,
    Integer,
    Let,
    Number,
    Operation,
    Parts,
    Pointer,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.types import BOOL as BOOL
from fusejit.ir.types import I64 as I64

Index = Expr | Polynomial | int | str
"""An operand: a polynomial or a number for the `Integer` that it is, a text for a name."""


@dataclass(frozen=True, slots=True)
class IndexOp:
    """A row of `INDEX_OPS`.

    Attributes
    ----------
    name : str
        As Python writes it.
    binds : int
        How closely, as in Python's grammar; a larger number binds closer. Functions bind closest.
    is_bool : bool
        Whether the result is one.
    """

    name: str
    binds: int
    is_bool: bool = False


FUNCTION = 20
_ROWS = (
    IndexOp("or", 1, is_bool=True),
    IndexOp("and", 2, is_bool=True),
    IndexOp("not", 3, is_bool=True),
    *(IndexOp(name, 4, is_bool=True) for name in ("<", "<=", ">", ">=", "==", "!=")),
    IndexOp("|", 5),
    IndexOp("&", 6),
    IndexOp(">>", 7),
    IndexOp("+", 8),
    IndexOp("-", 8),
    IndexOp("*", 9),
    IndexOp("//", 9),
    IndexOp("%", 9),
    IndexOp("neg", 10),
    IndexOp("min", FUNCTION),
    IndexOp("max", FUNCTION),
    IndexOp("abs", FUNCTION),
    IndexOp("int", FUNCTION),
)
INDEX_OPS: Mapping[str, IndexOp] = {row.name: row for row in _ROWS}


def operand(value: Index) -> Expr:
    """An operand as an expression."""
    if isinstance(value, Polynomial):
        return Integer(value)
    if isinstance(value, int):
        return Integer(Polynomial.const(value))
    return Var(value) if isinstance(value, str) else value


def compute(op: str, *operands: Index) -> Apply:
    """An operation of `INDEX_OPS`."""
    return Apply(Operation(INDEX_OPS[op].name), tuple(map(operand, operands)))


add = partial(compute, "+")
"""``a + b + ..``"""

sub = partial(compute, "-")
"""``left - right``"""

mul = partial(compute, "*")
"""``a * b * ..``"""

floordiv = partial(compute, "//")
"""``left // right``"""

mod = partial(compute, "%")
"""``left % right``"""


def ceildiv(left: Polynomial, right: int | Polynomial) -> Apply:
    """``left / right``, rounded up."""
    return compute("//", left + right - 1, right)


minimum = partial(compute, "min")
"""``min(a, b, ..)``"""

maximum = partial(compute, "max")
"""``max(a, b, ..)``"""

less = partial(compute, "<")
"""``left < right``"""

equal = partial(compute, "==")
"""``left == right``"""

both = partial(compute, "and")
"""``a and b and ..``"""

either = partial(compute, "or")
"""``a or b or ..``"""

negated = partial(compute, "not")
"""``not condition``"""

int_of = partial(compute, "int")
"""A bool as 0 or 1, an integer as the int64 that it is."""


def is_index_op(expr: Expr, name: str) -> TypeGuard[Apply]:
    """Whether an expression is one operation of `INDEX_OPS`."""
    return isinstance(expr, Apply) and expr.op == Operation(name)


def address(pointer: Pointer) -> Expr:
    """A pointer as the operand of a function."""
    if isinstance(pointer, Parts):
        return Call("parts", (Var(pointer.pointer),))
    return Var(pointer)


def number(value: int) -> Number:
    """An int64."""
    return Number(value, I64)


# --------------------------------------------------------------------------------------- statements
def name(text: str) -> Polynomial:
    """The index called so."""
    return Polynomial.name(text)


def let(name: str, value: Index, *, rebind: bool = False) -> Let:
    """``name = value``"""
    return Let(name, operand(value), rebind)


def moved(name: str, distance: Polynomial | int) -> Let:
    """``name = name + distance``"""
    return Let(name, Integer(Polynomial.name(name) + distance), rebind=True)
