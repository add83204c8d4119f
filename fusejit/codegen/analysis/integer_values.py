"""What the integers and bools of a kernel are, as far as their text says: polynomials, conditions.

`Values` reads expressions of kernel statements; what it cannot read is an atom of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np

from fusejit.codegen.analysis.integer_facts import (
    And,
    Condition,
    Equal,
    Facts,
    Inside,
    Known,
    NonNegative,
    Not,
    Opaque,
)
from fusejit.dataclass import dataclass
from fusejit.ir.loops import Element, Expr, Integer, Number, Var
from fusejit.ir.polynomial import Polynomial

_I64 = np.dtype(np.int64)
ZERO = Polynomial.const(0)
HIDDEN = "@"  # how atoms begin that have no name in the text


@dataclass(frozen=True, slots=True)
class Narrow:
    """An integer of fewer than 64 bits, before it is converted."""

    value: Polynomial


@dataclass(frozen=True, slots=True)
class Unsigned:
    """A 64-bit integer seen as an unsigned one."""

    value: Polynomial


Known64 = Polynomial | Narrow | Unsigned | Condition
"""What is known of a name; a polynomial is an int64."""


class Values:
    """What names stand for at one place of a kernel.

    Parameters
    ----------
    facts : Facts
        What holds there.
    dtypes : mapping
        The dtype of each pointer's elements.
    stored : frozenset of str
        Pointers whose elements may change while the kernel runs.
    cells : frozenset of str
        Names that are given more than once.
    """

    def __init__(
        self,
        facts: Facts,
        dtypes: Mapping[str, np.dtype],
        stored: frozenset[str],
        cells: frozenset[str],
    ) -> None:
        self.facts = facts
        self.dtypes = dtypes
        self.stored = stored
        self.cells = cells
        self.of: dict[str, Known64] = {}
        self.made: dict[tuple[Any, ...], Known64 | None] = {}  # what equal text is again
        self.wraps: dict[Polynomial, tuple[Polynomial, Polynomial]] = {}  # wrapped -> index, size
        self._count = 0

    def new_atom(self, name: str = "") -> Polynomial:
        """An unknown integer; with a name if the text has one for it alone."""
        self._count += 1
        return self.facts.new_atom(name or f"{HIDDEN}{self._count}")

    # -- expressions -----------------------------------------------------------------------------
    def read(self, expr: Expr, name: str = "") -> Known64 | None:
        """What an expression is; an integer that cannot be read is an atom called ``name``."""
        if isinstance(expr, Var):
            return self.of.get(expr.name)
        if isinstance(expr, Integer):
            return self.integer(expr.value)
        if isinstance(expr, Number):
            if expr.dtype.kind == "b":
                return Known(bool(expr.value))
            return Polynomial.const(int(expr.value)) if expr.dtype == _I64 else None
        if isinstance(expr, Element):
            return self._element(expr, name)
        operands = tuple(self.read(o) for o in expr.operands)
        key = (expr.template, expr.token, *operands)
        if key not in self.made:
            read = _TEMPLATES.get(expr.template)
            found = read(self, operands, expr.token, name) if read is not None else None
            if found is None and expr.token == "i64":
                return self.new_atom(name)
            if found is None and expr.token == "boolean":
                return Opaque()
            self.made[key] = found
        return self.made[key]

    def integer(self, value: Polynomial) -> Polynomial:
        """A polynomial with names replaced by what they are."""
        if any(text[0] == "(" for names, _ in value.terms for text in names):
            return self.new_atom()
        total = ZERO
        for names, coefficient in value.terms:
            part = Polynomial.const(coefficient)
            for name in names:
                known = self.of.get(name)
                if not isinstance(known, Polynomial):
                    known = self.new_atom() if name in self.cells else Polynomial.name(name)
                part = part * known
            total = total + part
        return total

    def condition(self, expr: Expr) -> Condition:
        """What an expression asks."""
        known = self.read(expr)
        return known if is_condition(known) else Opaque()

    def _element(self, expr: Element, name: str) -> Known64 | None:
        dtype = self.dtypes.get(expr.pointer)
        if dtype is None or dtype.kind not in "iu" or (dtype.kind == "u" and dtype.itemsize == 8):
            return None
        key = (expr.pointer, self.integer(expr.offset))
        if key in self.made:
            return self.made[key]
        atom = self.new_atom(name if dtype == _I64 else "")
        found: Polynomial | Narrow = atom
        if dtype.itemsize < 8:
            info = np.iinfo(dtype)
            self.facts.add(atom - int(info.min))
            self.facts.add(int(info.max) - atom)
            found = Narrow(atom)
        if expr.pointer not in self.stored:
            self.made[key] = found
        return found


# -------------------------------------------------------------------------------------- templates
_Operands = tuple[Known64 | None, ...]
_Reader = Callable[[Values, _Operands, str, str], Known64 | None]


def _integers(operands: _Operands) -> tuple[Polynomial, ...] | None:
    known = tuple(o for o in operands if isinstance(o, Polynomial))
    return known if len(known) == len(operands) else None


def _converted(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    (operand,) = operands
    if isinstance(operand, Narrow):
        return operand.value if token in ("i64", "") else None
    if isinstance(operand, Polynomial):
        if token == "u64":
            return Unsigned(operand)
        return operand if token in ("i64", "") else None
    return operand if token == "boolean" and is_condition(operand) else None


def _as_int64(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    return _converted(values, operands, "i64", name)


def is_condition(known: Known64 | None) -> TypeGuard[Condition]:
    """Whether it is a bool."""
    return known is not None and not isinstance(known, Polynomial | Narrow | Unsigned)


def _arithmetic(compute: Callable[..., Polynomial]) -> _Reader:
    def read(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
        known = _integers(operands)
        return compute(*known) if known is not None and token == "i64" else None

    return read


def _comparison(compare: Callable[[Polynomial, Polynomial], Condition]) -> _Reader:
    def read(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
        known = _integers(operands)
        return compare(*known) if known is not None else None

    return read


def _less(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    first, second = operands
    if isinstance(first, Unsigned) and isinstance(second, Unsigned):
        return Inside(first.value, second.value)
    known = _integers(operands)
    return None if known is None else Not(NonNegative(*known))


def _select(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    condition, *arms = operands
    known = _integers(tuple(arms))
    if known is None or not is_condition(condition):
        return None
    for truth, arm in zip((True, False), known, strict=True):
        if values.facts.decides(condition, truth):
            return arm
    atom = values.new_atom(name)
    wrapped, index = known
    if condition == Not(NonNegative(index, ZERO)):
        values.wraps[atom] = index, wrapped - index
    return atom


def _extremum(sign: int) -> _Reader:
    def read(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
        known = _integers(operands)
        if known is None or not all(map(values.facts.is_exact, known)):
            return None
        for one, other in (known, known[::-1]):
            if values.facts.proves((one - other) * sign):
                return one
        atom = values.new_atom(name)
        values.facts.add_extremum(atom, known, sign)
        return atom

    return read


def _remainder(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    known = _integers(operands)
    if known is None or not values.facts.is_exact(known[1]):
        return None
    if not values.facts.proves(known[1] - 1):
        return None
    atom = values.new_atom(name)
    values.facts.add(atom)
    values.facts.add(known[1] - 1 - atom)
    return atom


def _quotient(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    known = _integers(operands)
    divisor = None if known is None else known[1].as_constant()
    if known is None or divisor is None or divisor <= 0 or not values.facts.is_exact(known[0]):
        return None
    atom = values.new_atom(name)
    values.facts.add(known[0] - atom * divisor)
    values.facts.add(atom * divisor + (divisor - 1) - known[0])
    return atom


def _halved(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    known = _integers(operands)
    bits = None if known is None else known[1].as_constant()
    if known is None or bits is None or not 0 <= bits < 48:
        return None
    return _quotient(values, (known[0], Polynomial.const(1 << bits)), token, name)


def _both(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    first, second = operands
    if isinstance(first, Polynomial) and isinstance(second, Polynomial):
        mask = second.as_constant()
        if mask is None or mask < 0:
            return None
        atom = values.new_atom(name)
        values.facts.add(atom)
        values.facts.add(mask - atom)
        return atom
    if not is_condition(first) or not is_condition(second):
        return None
    return And(first, second)


def _either(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    first, second = operands
    if not is_condition(first) or not is_condition(second):
        return None
    return Not(And(Not(first), Not(second)))


def _opposite(values: Values, operands: _Operands, token: str, name: str) -> Known64 | None:
    return Not(operands[0]) if is_condition(operands[0]) else None


_TEMPLATES: dict[str, _Reader] = {
    "{T}({0})": _converted,
    "cast({0}, {T})": _converted,
    "i64({0})": _as_int64,
    "int_add({0}, {1})": _arithmetic(lambda a, b: a + b),
    "int_sub({0}, {1})": _arithmetic(lambda a, b: a - b),
    "int_mul({0}, {1})": _arithmetic(lambda a, b: a * b),
    "int_neg({0})": _arithmetic(lambda a: -a),
    "({0} < {1})": _less,
    "({0} >= {1})": _comparison(NonNegative),
    "({0} <= {1})": _comparison(lambda a, b: NonNegative(b, a)),
    "({0} > {1})": _comparison(lambda a, b: Not(NonNegative(b, a))),
    "({0} == {1})": _comparison(Equal),
    "({0} != {1})": _comparison(lambda a, b: Not(Equal(a, b))),
    "select({0}, {1}, {2})": _select,
    "maximum({0}, {1})": _extremum(1),
    "minimum({0}, {1})": _extremum(-1),
    "int_mod({0}, {1})": _remainder,
    "lone_mod({0}, {1})": _remainder,
    "int_floordiv({0}, {1})": _quotient,
    "lone_floordiv({0}, {1})": _quotient,
    "shift_right({0}, {1})": _halved,
    "({0} & {1})": _both,
    "({0} | {1})": _either,
    "({0} == False)": _opposite,
    "not {0}": _opposite,
}
