"""Whether what wraps at 64 bits is what Python computes: the question each op asks of its result.

`Question` is the payload of an `Assert`, in which the rules below write scalar ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fusejit.ir.scalar_ops.op_ranges import FULL, Range, is_inside


class Question(Protocol):
    """The operands of an op on int64 and its result, in the payload of its check."""

    @property
    def refs(self) -> Sequence[int]:
        """The operands."""

    @property
    def result(self) -> int:
        """What the op has computed."""

    @property
    def ranges(self) -> Sequence[Range]:
        """Between which numbers each operand is."""

    def op(self, name: str, *operands: int) -> int:
        """A scalar op on int64."""

    def asks(self, name: str, *operands: int) -> int:
        """A comparison, or a connective of bools."""

    def const(self, number: int) -> int:
        """A literal."""

    def at_most(self, ref: int, given: Range, allowed: Range) -> int:
        """Whether a number in the range ``given`` is in ``allowed``."""


def added_fits(s: Question) -> int:
    """What is added to a number that is not negative becomes no less."""
    for ref, other in ((0, 1), (1, 0)):
        if s.ranges[other][0] >= 0:
            return s.asks("greater_equal", s.result, s.refs[ref])
        if s.ranges[other][1] <= 0:
            return s.asks("less_equal", s.result, s.refs[ref])
    return s.asks("add_fits", *s.refs)


def subtracted_fits(s: Question) -> int:
    """As `added_fits`."""
    if s.ranges[1][0] >= 0:
        return s.asks("less_equal", s.result, s.refs[0])
    if s.ranges[1][1] <= 0:
        return s.asks("greater_equal", s.result, s.refs[0])
    return s.asks("subtract_fits", *s.refs)


def multiplied_fits(s: Question) -> int:
    """A known factor says how large the other one may be."""
    for ref, other in ((0, 1), (1, 0)):
        low, high = s.ranges[other]
        if low == high > 0:
            allowed = (-(-FULL[0] // high), FULL[1] // high)
            return s.at_most(s.refs[ref], s.ranges[ref], allowed)
    return s.asks("multiply_fits", *s.refs)


def shifted_fits(s: Question) -> int:
    """Shifted back it is the same, by less than 63 places."""
    back = s.op("right_shift", s.result, s.refs[1])
    same = s.asks("equal", back, s.refs[0])
    if is_inside(s.ranges[1], (0, 62)):
        return same
    return s.asks("logical_and", same, s.at_most(s.refs[1], s.ranges[1], (0, 62)))


def negated_fits(s: Question) -> int:
    """All but the least number."""
    return s.asks("not_equal", s.refs[0], s.const(FULL[0]))


def divided_fits(s: Question) -> int:
    """All but the least number by -1."""
    is_low = s.asks("not_equal", s.refs[0], s.const(FULL[0]))
    return s.asks("logical_or", is_low, s.asks("not_equal", s.refs[1], s.const(-1)))
