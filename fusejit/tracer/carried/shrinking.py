"""Arrays that a loop binds again with fewer rows: ``x = x[keep]``, and as many as before if not.

How many rows are left is known only in the kernel, and never grows. So one buffer of the first
length serves all iterations: it holds the rows in front, and their number is carried beside it.
Arrays that are cut together have one number, so that operations on them need no checks. In a
branch of a conditional the rows are put into such a buffer as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.values import Value
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.regions import is_array
from fusejit.tracer.indexing.kernel_indices import bound_number
from fusejit.tracer.values.array import TracedArray


def are_rows_of_one_kind(before: Any, now: Any) -> bool:
    """Whether two arrays differ in nothing that shows but the number of rows."""
    if not is_array(before) or not is_array(now) or before.ndim != now.ndim or not now.ndim:
        return False
    if before.dtype != now.dtype or before.storage.order or now.storage.order:
        return False
    canonical = before.trace.decisions.canonical
    return tuple(map(canonical, before.extents[1:])) == tuple(map(canonical, now.extents[1:]))


def is_left_of(before: Any, now: Any) -> bool:
    """Whether an array has fewer rows than another, or as many, and is like it otherwise."""
    if not are_rows_of_one_kind(before, now):
        return False
    decisions = before.trace.decisions
    return bool(decisions.proves_nonnegative(before.extents[0] - now.extents[0]))


def has_room(loop_buffer: TracedArray, now: Any) -> bool:
    """Whether the memory that a loop buffer shows rows of has room for those of an array.

    It may have more than the loop buffer has now: ``old`` in ``old = z; z = z[keep]``.
    """
    return is_left_of(loop_buffer, now) or is_left_of(TracedArray.whole(loop_buffer.storage), now)


def as_long_as(one: Any, other: Any) -> bool:
    """Whether two arrays are known to have as many rows."""
    canonical = one.trace.decisions.canonical
    return bool(canonical(one.extents[0]) == canonical(other.extents[0]))


def are_cut(before: Any, now: Any) -> bool:
    """Whether an array may have lost rows, as many as its elements decide."""
    if not is_left_of(before, now) or as_long_as(before, now):
        return False
    trace = now.trace
    symbols = trace.decisions.canonical(now.extents[0]).symbols()
    return any(s in trace.row_counts for s in symbols)


def cut_together(
    names: Iterable[str], before: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, str]:
    """The names whose arrays are cut, each with the first name of those that stay equally long."""
    first: dict[tuple[AffineExpr, AffineExpr], str] = {}
    found: dict[str, str] = {}
    for name in names:
        if are_cut(before.get(name), now.get(name)):
            canonical = now[name].trace.decisions.canonical
            lengths = canonical(before[name].extents[0]), canonical(now[name].extents[0])
            found[name] = first.setdefault(lengths, name)
    return found


def capacity(array: TracedArray) -> AffineExpr | None:
    """The most rows that an array may have in this call, if sizes of the call tell."""
    decisions = array.trace.decisions
    length = decisions.canonical(array.extents[0])
    return decisions.extreme(length, 1)


def number_of_rows(trace: Trace, number: Value, most: AffineExpr) -> AffineExpr:
    """A number of rows that the elements decide, as a symbol of the block."""
    length = bound_number(trace, number, AffineExpr.const(0), most)
    trace.row_counts |= length.symbols()
    return length
