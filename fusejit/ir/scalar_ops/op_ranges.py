"""What scalar ops make of the ranges of integers, if integers had no end."""

from __future__ import annotations

import operator
from collections.abc import Callable

Range = tuple[int, int]
"""The least and the largest number."""

FULL: Range = (-(2**63), 2**63 - 1)


def is_inside(inner: Range, outer: Range) -> bool:
    """Whether all numbers of one range are in the other."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def hull(left: Range, right: Range) -> Range:
    """The least range that holds two."""
    return min(left[0], right[0]), max(left[1], right[1])


def _ends(compute: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    """The range of a function that is monotone in each operand."""

    def rule(left: Range, right: Range) -> Range:
        ends = [compute(a, b) for a in left for b in right]
        return min(ends), max(ends)

    return rule


def shifted_left(left: Range, right: Range) -> Range:
    """``a << b``."""
    if right[0] < 0 or right[1] > 63:
        return (-(2**64), 2**64)
    return _ends(operator.lshift)(left, right)


def shifted_right(left: Range, right: Range) -> Range:
    """``a >> b``."""
    return hull(left, (-1, 0)) if right[0] < 0 else _ends(lambda a, b: a >> min(b, 64))(left, right)


def floor_divided(left: Range, right: Range) -> Range:
    """``a // b``."""
    if right[0] > 0 or right[1] < 0:
        return _ends(operator.floordiv)(left, right)
    most = max(map(abs, left))
    return -most, most


def remainder(left: Range, right: Range) -> Range:
    """``a % b``."""
    if right[0] > 0:
        most = right[1] - 1
        return (0, min(most, left[1]) if left[0] >= 0 else most)
    return min(right[0] + 1, 0), max(right[1] - 1, 0)


def absolute(given: Range) -> Range:
    """``abs(a)``."""
    if given[0] >= 0:
        return given
    return (0 if given[1] >= 0 else -given[1]), max(-given[0], given[1])


def bitwise_and(left: Range, right: Range) -> Range:
    """``a & b``."""
    highs = [r[1] for r in (left, right) if r[0] >= 0]
    return (0, min(highs)) if highs else bitwise_or(left, right)


def bitwise_or(left: Range, right: Range) -> Range:
    """All numbers of as many bits as the longer operand."""
    low, high = hull(left, right)
    size = max(high, -1 - low).bit_length()
    return (0 if low >= 0 else -(1 << size)), (1 << size) - 1


def selected(condition: Range, left: Range, right: Range) -> Range:
    """``a if condition else b``."""
    return hull(left, right)


added, subtracted, multiplied = map(_ends, (operator.add, operator.sub, operator.mul))
larger, smaller = _ends(max), _ends(min)
"""``a + b``, ``a - b``, ``a * b``; ``max(a, b)``, ``min(a, b)``."""


def negated(given: Range) -> Range:
    """``-a``."""
    return -given[1], -given[0]


def inverted(given: Range) -> Range:
    """``~a``."""
    return -1 - given[1], -1 - given[0]
