"""Loops with a condition ask it at the end of their body; the first time is before the loop.

Before and after::

    while True:                       ok = j >= 0 and x[j] > key
        ok = j >= 0 and x[j] > key    while ok:
        if not ok: break                  x[j + 1] = x[j]; j -= 1
        x[j + 1] = x[j]; j -= 1           ok = j >= 0 and x[j] > key

One jump less in each iteration. And the processor remembers for each load whether it had to wait
for a store: the first test often reads what was stored just before, the others never.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.ir.loops.nodes import Exit, Free, If, Let, Stmt, StoreElement, While

LIMIT = 40  # statements of a condition that is written twice


def rotate_loops(statements: Sequence[Stmt]) -> list[Stmt]:
    """Move the conditions of loops whose conditions are short."""
    return [new for s in statements for new in _moved(s)]


def _moved(s: Stmt) -> list[Stmt]:
    s = with_bodies(s, rotate_loops)
    size = _size(s.head) if isinstance(s, While) else None
    if not isinstance(s, While) or size is None or not 0 < size <= LIMIT:
        return [s]
    return [*s.head, While((), s.condition, [*s.body, *s.head])]


def _size(statements: Sequence[Stmt]) -> int | None:
    """How many statements there are; None where one of them is a loop or gets memory."""
    total = 0
    for s in statements:
        size: int | None = 1
        if isinstance(s, If):
            size = _size((*s.body, *s.orelse))
        elif not isinstance(s, Let | StoreElement | Free | Exit):
            return None
        if size is None:
            return None
        total += size
    return total
