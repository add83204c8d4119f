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
from fusejit.codegen.analysis.kernel_statements import U64
from fusejit.dataclass import dataclass, replace
from fusejit.ir.loops.index_math import BOOL, I64
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    Expr,
    Field,
    Integer,
    Number,
    Operation,
    Parts,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import CAST, CONVERT

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
            return Polynomial.const(int(expr.value)) if expr.dtype == I64 else None
        if isinstance(expr, Element):
            return self._element(expr, name)
        if isinstance(expr, Field | Call):
            return None
        operands = tuple(self.read(o) for o in expr.operands)
        key = (expr.op, expr.dtype, *operands)
        if key not in self.made:
            read = _READERS.get(expr.op)
            found = read(_Operation(self, operands, expr.dtype, name)) if read is not None else None
            if found is None and expr.dtype == I64:
                return self.new_atom(name)
            if found is None and expr.dtype == BOOL:
                return Opaque()
            self.made[key] = found
        return self.made[key]

    def integer(self, value: Polynomial) -> Polynomial:
        """A polynomial with names replaced by what they are."""
        if value.has_quotients:
            return self.new_atom()
        total = ZERO
        for names, coefficient in value.terms:
            part = Polynomial.const(coefficient)
            for name in map(str, names):
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
        pointer = expr.pointer
        if isinstance(pointer, Parts):
            return None
        dtype = self.dtypes.get(pointer)
        if dtype is None or dtype.kind not in "iu" or (dtype.kind == "u" and dtype.itemsize == 8):
            return None
        key = (pointer, self.integer(expr.offset))
        if key in self.made:
            return self.made[key]
        atom = self.new_atom(name if dtype == I64 else "")
        found: Polynomial | Narrow = atom
        if dtype.itemsize < 8:
            info = np.iinfo(dtype)
            self.facts.add(atom - int(info.min))
            self.facts.add(int(info.max) - atom)
            found = Narrow(atom)
        if pointer not in self.stored:
            self.made[key] = found
        return found


# ------------------------------------------------------------------------------------- operations
_Operands = tuple[Known64 | None, ...]


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation to be read: what its operands are, and the name of a result that is unknown."""

    values: Values
    operands: _Operands
    dtype: np.dtype | None
    name: str

    @property
    def facts(self) -> Facts:
        return self.values.facts

    def new_atom(self) -> Polynomial:
        return self.values.new_atom(self.name)

    def integers(self) -> tuple[Polynomial, ...] | None:
        return _integers(self.operands)


_Reader = Callable[[_Operation], Known64 | None]


def _integers(operands: _Operands) -> tuple[Polynomial, ...] | None:
    known = tuple(o for o in operands if isinstance(o, Polynomial))
    return known if len(known) == len(operands) else None


def _converted(of: _Operation) -> Known64 | None:
    (operand,) = of.operands
    if isinstance(operand, Narrow):
        return operand.value if of.dtype in (I64, None) else None
    if isinstance(operand, Polynomial):
        if of.dtype == U64:
            return Unsigned(operand)
        return operand if of.dtype in (I64, None) else None
    return operand if of.dtype == BOOL and is_condition(operand) else None


def is_condition(known: Known64 | None) -> TypeGuard[Condition]:
    """Whether it is a bool."""
    return known is not None and not isinstance(known, Polynomial | Narrow | Unsigned)


def _comparison(compare: Callable[..., Known64]) -> _Reader:
    def read(of: _Operation) -> Known64 | None:
        known = of.integers()
        return compare(*known) if known is not None else None

    return read


def _arithmetic(compute: Callable[..., Polynomial]) -> _Reader:
    read = _comparison(compute)
    return lambda of: read(of) if of.dtype == I64 else None


def _less(of: _Operation) -> Known64 | None:
    first, second = of.operands
    if isinstance(first, Unsigned) and isinstance(second, Unsigned):
        return Inside(first.value, second.value)
    known = of.integers()
    return None if known is None else Not(NonNegative(*known))


def _select(of: _Operation) -> Known64 | None:
    condition, *arms = of.operands
    known = _integers(tuple(arms))
    if known is None or not is_condition(condition):
        return None
    for truth, arm in zip((True, False), known, strict=True):
        if of.facts.decides(condition, truth):
            return arm
    atom = of.new_atom()
    wrapped, index = known
    if condition == Not(NonNegative(index, ZERO)):
        of.values.wraps[atom] = index, wrapped - index
    return atom


def _extremum(sign: int) -> _Reader:
    def read(of: _Operation) -> Known64 | None:
        known = of.integers()
        if known is None or not all(map(of.facts.is_exact, known)):
            return None
        for one, other in (known, known[::-1]):
            if of.facts.proves((one - other) * sign):
                return one
        atom = of.new_atom()
        of.facts.add_extremum(atom, known, sign)
        return atom

    return read


def _remainder(of: _Operation) -> Known64 | None:
    known = of.integers()
    if known is None or not of.facts.is_exact(known[1]):
        return None
    if not of.facts.proves(known[1] - 1):
        return None
    atom = of.new_atom()
    of.facts.add(atom)
    of.facts.add(known[1] - 1 - atom)
    return atom


def _quotient(of: _Operation) -> Known64 | None:
    known = of.integers()
    divisor = None if known is None else known[1].as_constant()
    if known is None or divisor is None or divisor <= 0 or not of.facts.is_exact(known[0]):
        return None
    atom = of.new_atom()
    of.facts.add(known[0] - atom * divisor)
    of.facts.add(atom * divisor + (divisor - 1) - known[0])
    return atom


def _halved(of: _Operation) -> Known64 | None:
    known = of.integers()
    bits = None if known is None else known[1].as_constant()
    if known is None or bits is None or not 0 <= bits < 48:
        return None
    return _quotient(replace(of, operands=(known[0], Polynomial.const(1 << bits))))


def _both(of: _Operation) -> Known64 | None:
    first, second = of.operands
    if isinstance(first, Polynomial) and isinstance(second, Polynomial):
        mask = second.as_constant()
        if mask is None or mask < 0:
            return None
        atom = of.new_atom()
        of.facts.add(atom)
        of.facts.add(mask - atom)
        return atom
    if not is_condition(first) or not is_condition(second):
        return None
    return And(first, second)


def _either(of: _Operation) -> Known64 | None:
    first, second = of.operands
    if not is_condition(first) or not is_condition(second):
        return None
    return Not(And(Not(first), Not(second)))


def _opposite(of: _Operation) -> Known64 | None:
    return Not(of.operands[0]) if is_condition(of.operands[0]) else None


_OF_INTEGERS: dict[str, _Reader] = {
    "add": _arithmetic(lambda a, b: a + b),
    "subtract": _arithmetic(lambda a, b: a - b),
    "multiply": _arithmetic(lambda a, b: a * b),
    "negative": _arithmetic(lambda a: -a),
    "maximum": _extremum(1),
    "minimum": _extremum(-1),
    "remainder": _remainder,
    "floor_divide": _quotient,
    "right_shift": _halved,
}
_OF_BOOLS: dict[str, _Reader] = {
    **dict.fromkeys(("logical_and", "bitwise_and", "multiply", "minimum", "fmin"), _both),
    **dict.fromkeys(("logical_or", "bitwise_or", "add", "maximum", "fmax"), _either),
    **dict.fromkeys(("logical_not", "invert"), _opposite),
    "select": _select,
}
_COMPARISONS: dict[tuple[str, str], _Reader] = {
    ("less", "<"): _less,
    ("greater_equal", ">="): _comparison(NonNegative),
    ("less_equal", "<="): _comparison(lambda a, b: NonNegative(b, a)),
    ("greater", ">"): _comparison(lambda a, b: Not(NonNegative(b, a))),
    ("equal", "=="): _comparison(Equal),
    ("not_equal", "!="): _comparison(lambda a, b: Not(Equal(a, b))),
}
_READERS: dict[Operation, _Reader] = {
    CONVERT: _converted,
    CAST: _converted,
    Operation("int"): lambda of: _converted(replace(of, dtype=I64)),
    Operation("&"): _both,
    Operation("|"): _either,
    Operation("not"): _opposite,
    **{Operation(sign): read for (_, sign), read in _COMPARISONS.items()},
    **{Operation(n, k): read for (n, _), read in _COMPARISONS.items() for k in "biuf"},
    **{Operation(n, k): read for n, read in _OF_INTEGERS.items() for k in "iu"},
    **{
        Operation(n, k, scalar_form=True): _OF_INTEGERS[n]
        for n in ("remainder", "floor_divide")
        for k in "iu"
    },
    **{Operation(n, "b"): read for n, read in _OF_BOOLS.items()},
}
