"""Checks inside of branches that only compute numbers are asked before the branch.

Before and after::

    if even:                           odd_fits = n <= K
        m = n // 2                     if not odd_fits:
    else:                                  if not even:
        fits = n <= K                          return 16
        if not fits:                   half, other = n // 2, 3 * n + 1
            return 16                  m = select(even, half, other)
        m = 3 * n + 1

Then there is nothing left in the branch but numbers, of which one is selected: where the condition
follows no pattern (``n % 2``, a comparison of elements) a jump that the processor foretells wrongly
costs more than both branches. What is checked nearly always holds, so it is asked first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fusejit.codegen.analysis.kernel_statements import given_once, is_check, is_power_of_two
from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.dataclass import dataclass, replace
from fusejit.ir.loops.index_math import INDEX_OPS, is_index_op, negated
from fusejit.ir.loops.mentioned_names import mentions
from fusejit.ir.loops.nodes import Apply, Expr, If, Integer, Let, Number, Stmt, Var
from fusejit.ir.loops.scalar_math import SELECT
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS

LIMIT = 12  # statements of a branch: both are computed each time
_DIVISIONS = ("floor_divide", "remainder", "fmod", "divide", "//", "%")
_REPEATABLE = {*INDEX_OPS, "cast", "convert"} | {
    row.name for row in SCALAR_OPS.values() if row.is_few_instructions
}
"""Operations of a few instructions without a jump."""


def hoist_checks(statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements of a kernel with such checks moved."""
    return _moved(statements, given_once(statements))


def _moved(statements: Sequence[Stmt], once: frozenset[str]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in statements:
        s = with_bodies(s, partial(_moved, once=once))
        found += _hoistable(s, once) if isinstance(s, If) else [s]
    return found


def _hoistable(s: If, once: frozenset[str]) -> list[Stmt]:
    """What stands for a conditional: itself, or both branches without jumps."""
    if not isinstance(s.condition, Var) or is_check(s):
        return [s]
    first, second = (_parted(body, once) for body in (s.body, s.orelse))
    if first is None or second is None or not (first.checks or second.checks):
        return [s]
    taken: tuple[Expr, Expr] = (s.condition, negated(s.condition))
    made: list[Stmt] = []
    for part, condition in zip((first, second), taken, strict=True):
        made += part.lets
        made += [replace(check, body=[If(condition, check.body)]) for check in part.checks]
    for name in dict.fromkeys((*first.cells, *second.cells)):
        arms = (s.condition, *(part.cells.get(name, Var(name)) for part in (first, second)))
        made.append(Let(name, Apply(SELECT, arms), rebind=True))
    return made


@dataclass(frozen=True, slots=True)
class _Part:
    """A branch: what it computes, what it checks, and what names have after it."""

    lets: list[Stmt]
    checks: list[If]
    cells: dict[str, Expr]


def _parted(body: Sequence[Stmt], once: frozenset[str]) -> _Part | None:
    """A branch taken apart; None if it does more than to compute numbers and check them."""
    part = _Part([], [], {})
    if len(body) > LIMIT:
        return None
    for s in body:
        if mentions(s) & part.cells.keys():
            return None  # what a cell holds in the branch
        if isinstance(s, Let) and _is_repeatable(s.value):
            if s.name in once:
                part.lets.append(s)
            else:
                part.cells[s.name] = s.value
        elif isinstance(s, If) and is_check(s) and _asks_name(s.condition):
            part.checks.append(s)
        else:
            return None
    # all cells change at once
    return (
        None
        if any(mentions(Let("_", v)) & part.cells.keys() for v in part.cells.values())
        else part
    )


def _asks_name(condition: Expr) -> bool:
    return is_index_op(condition, "not") and isinstance(condition.operands[0], Var)


def _is_repeatable(value: Expr) -> bool:
    """Whether an expression is arithmetic on numbers that can be done each time."""
    if isinstance(value, Var | Number | Integer):
        return True
    if not isinstance(value, Apply) or not all(map(_is_repeatable, value.operands)):
        return False
    if value.op.name in _DIVISIONS:
        return is_power_of_two(value.operands[-1])
    return value.op.name in _REPEATABLE
