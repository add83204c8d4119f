"""What must hold before a loop so that every index in it is inside: both ends of its range.

An index ``c * i + rest`` of a loop over ``i`` is smallest at one end of the range and largest at
the other, whatever lies between. Where the ends are not known, both forms of the loop are written::

    if k >= 0 and n >= stop:               # both ends
        for i in range(stop - k): .. x[k + i] ..
    else:
        for i in range(stop - k): .. check k + i, x[k + i] ..
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusejit.codegen.analysis.integer_facts import Facts
from fusejit.ir.analysis.index_symbols import LARGEST_SYMBOL
from fusejit.ir.loops.index_math import both, compute
from fusejit.ir.loops.nodes import Expr
from fusejit.ir.loops.polynomial import Polynomial

LIMIT = 8  # comparisons before a loop


def needed_before_loop(
    facts: Facts,
    var: str,
    ends: tuple[Polynomial, Polynomial],
    checks: Sequence[tuple[Polynomial, Polynomial]],
    is_visible: Callable[[str], bool],
) -> list[Polynomial] | None:
    """What must not be negative before a loop over ``range(*ends)``; None if that is no help.

    Parameters
    ----------
    facts : Facts
        What holds before the loop.
    var : str
        The loop's name.
    ends : pair of Polynomial
        The first number and the one after the last.
    checks : sequence of (index, size)
        What the loop checks. An index that it computes in another way has no part in this.
    is_visible : callable
        Whether a name may stand before the loop.
    """
    needed: dict[Polynomial, None] = {}
    for index, size in checks:
        sides = [_smallest(p, var, ends) for p in (index, size - 1 - index)]
        known = [p for p in sides if p is not None and all(map(is_visible, p.names()))]
        if len(known) == len(sides):
            needed.update((p, None) for p in known if not facts.proves(p))
    names = {name for p in (*needed, *ends) for name in p.names()}
    if not needed or not all(map(is_visible, names)):
        return None
    mark = facts.mark()
    for condition in needed:
        facts.add(condition)
    small = [
        side
        for name in sorted(names)
        for side in (Polynomial.name(name) + LARGEST_SYMBOL, LARGEST_SYMBOL - Polynomial.name(name))
        if not facts.proves(side)
    ]
    facts.forget(mark)
    conditions = [*small, *needed]  # what is small first: then the sums cannot overflow
    return conditions if len(conditions) <= LIMIT else None


def _smallest(
    value: Polynomial, var: str, ends: tuple[Polynomial, Polynomial]
) -> Polynomial | None:
    """The smallest value in the range; None if it is not linear in ``var``."""
    factor = value.coefficient(var).as_constant()
    if factor is None:
        return None
    lower, upper = ends
    return value + (((lower if factor > 0 else upper - 1) - Polynomial.name(var)) * factor)


def tested(conditions: Sequence[Polynomial]) -> Expr:
    """Whether none of the polynomials is negative."""
    tests = []
    for condition in conditions:
        left = Polynomial(tuple(t for t in condition.terms if t[1] > 0))
        tests.append(compute(">=", left, left - condition))
    return both(*tests) if len(tests) > 1 else tests[0]
