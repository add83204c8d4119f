"""The axis order in which arrays are joined.

NumPy sorts the axes by the strides of all parts. A part that is 1 long along an axis has no say
about it, so lengths of 1 may change the order: of those lengths alone it is decided, and a variant
asks for them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.builder.shapes import Decisions
from fusejit.tracer.ops.axis_order import Order, insertion_sorted
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import TracedArray

_REASON = "the order of the axes"
_MAX_UNKNOWN = 5  # lengths of which all sets are tried


def joined_order(parts: Sequence[TracedArray], axis: int) -> Order:
    """The axis order of arrays joined along an axis; None is C order.

    Joined along axis 0, parts of ``n - 1`` and 1 rows in Fortran order make an array in Fortran
    order, but for ``n = 2`` one in C order.
    """
    rank = parts[0].ndim
    if rank < 2:
        return None
    decisions = parts[0].trace.decisions
    stride = functools.cache(functools.partial(_compare, parts))
    while True:
        lengths = [tuple(map(decisions.canonical, p.extents)) for p in parts]
        ones = frozenset(e for each in lengths for e in each if decisions.constant(e) == 1)
        order = _sorted_axes(lengths, ones, stride)
        unknown = [e for e in sum(lengths, ()) if decisions.constant(e) is None]
        asked = [e for e in dict.fromkeys(unknown) if _is_asked(decisions, e)]
        along = [e for e in asked if e in [each[axis] for each in lengths]]
        for some in (*_subsets(asked), *_subsets(along)):
            matters = _matter(some, lengths, axis, ones, order, stride)
            if matters and any(decisions.equal(length, 1, _REASON) for length in some):
                break  # it is constant from here on
        else:
            rest = [e for e in dict.fromkeys(unknown) if not _is_asked(decisions, e)]
            if any(_matter(some, lengths, axis, ones, order, stride) for some in _subsets(rest)):
                what = "joins arrays in an order of axes that is known only when compiled code runs"
                raise needs_python(what, "pass the shape as arguments, as Python ints")
            return None if order == sorted(order) else tuple(order)


def _is_asked(decisions: Decisions, length: AffineExpr) -> bool:
    """Whether it can be decided that a length is 1."""
    return not decisions.is_local(length) or decisions.may_assume(length)


def _subsets(lengths: Sequence[AffineExpr]) -> Iterator[tuple[AffineExpr, ...]]:
    """Nonempty subsets of the lengths; of many lengths only single ones, all but one, and all."""
    counts: Iterable[int] = range(1, len(lengths) + 1)
    if len(lengths) > _MAX_UNKNOWN:
        counts = (1, len(lengths) - 1, len(lengths))
    return (some for count in counts for some in combinations(lengths, count))


Lengths = Sequence[tuple[AffineExpr, ...]]
"""Of each part along each axis; equal ones are the same expression."""
Compare = Callable[[int, int, int], int]


def _compare(parts: Sequence[TracedArray], part: int, axis: int, other: int) -> int:
    """The sign of ``|stride[axis]| - |stride[other]|``; one of stride 0 counts as a small one."""
    array = parts[part]
    still = [array.compare_strides(a, a) is None for a in (axis, other)]
    if any(still):
        return int(still[1]) - int(still[0])
    return array.compare_strides(axis, other) or 0


def _sorted_axes(lengths: Lengths, ones: frozenset[AffineExpr], stride: Compare) -> list[int]:
    """The axes from the outermost to the innermost where ``ones`` are the lengths that are 1.

    Source: ``PyArray_CreateMultiSortedStridePerm`` of NumPy, an insertion sort.
    """

    def signs(axis: int, other: int) -> list[int]:
        longer = [k for k, own in enumerate(lengths) if not ones & {own[axis], own[other]}]
        return [stride(k, axis, other) for k in longer]

    return insertion_sorted(list(range(len(lengths[0]))), signs)


def _matter(
    some: Sequence[AffineExpr],
    lengths: Lengths,
    joined: int,
    ones: frozenset[AffineExpr],
    order: Sequence[int],
    stride: Compare,
) -> bool:
    """Whether some lengths would leave longer axes in another order, if they were 1."""
    now = ones.union(some)
    long = [a for a in order if a == joined or lengths[0][a] not in now]
    return [a for a in _sorted_axes(lengths, now, stride) if a in long] != long
