"""The axis order in which arrays are joined.

NumPy sorts the axes by the strides of all parts. A part that is 1 long along an axis has no say
about it, so lengths of 1 may change the order: of those lengths alone it is decided, and a variant
asks for them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.elementwise.axis_order import Order
from fusejit.tracer.values.array import TracedArray

_REASON = "the order of the axes"
_MOST_UNKNOWN = 5  # lengths of which all sets are tried; of more, each one and all of them


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
        ones = frozenset(e for p in parts for e in p.extents if decisions.constant(e) == 1)
        order = _sorted_axes(parts, ones, stride)
        for lengths in _sets_that_matter(parts, axis, ones, order, stride):
            if any(decisions.equal(length, 1, _REASON) for length in lengths):
                break  # it is constant from here on
        else:
            return None if order == sorted(order) else tuple(order)


Compare = Callable[[int, int, int], int]


def _compare(parts: Sequence[TracedArray], part: int, axis: int, other: int) -> int:
    """The sign of ``|stride[axis]| - |stride[other]|``; one of stride 0 counts as a small one."""
    array = parts[part]
    still = [array.compare_strides(a, a) is None for a in (axis, other)]
    if any(still):
        return int(still[1]) - int(still[0])
    return array.compare_strides(axis, other) or 0


def _sorted_axes(
    parts: Sequence[TracedArray], ones: frozenset[AffineExpr], stride: Compare
) -> list[int]:
    """The axes from the outermost to the innermost where ``ones`` are the lengths that are 1.

    Source: ``PyArray_CreateMultiSortedStridePerm`` of NumPy, an insertion sort.
    """
    order = list(range(parts[0].ndim))
    for i in range(1, len(order)):
        axis, position = order[i], i
        for j in range(i - 1, -1, -1):
            known = [
                stride(k, axis, order[j])
                for k, p in enumerate(parts)
                if p.extents[axis] not in ones and p.extents[order[j]] not in ones
            ]
            if not known:
                continue
            if all(s > 0 for s in known):
                position = j
            else:
                break
        del order[i]
        order.insert(position, axis)
    return order


def _sets_that_matter(
    parts: Sequence[TracedArray],
    joined: int,
    ones: frozenset[AffineExpr],
    order: Sequence[int],
    stride: Compare,
) -> Iterator[list[AffineExpr]]:
    """Lengths that are not known and, if all were 1, would leave longer axes in another order."""
    decisions = parts[0].trace.decisions
    unknown = [e for p in parts for e in p.extents if decisions.constant(e) is None]
    unknown = [e for e in dict.fromkeys(unknown) if not decisions.is_local(e)]
    counts = range(1, len(unknown) + 1)
    if len(unknown) > _MOST_UNKNOWN:
        counts = (1, len(unknown))  # type: ignore[assignment]
    for lengths in (list(c) for count in counts for c in combinations(unknown, count)):
        now = ones.union(lengths)
        long = [a for a in order if a == joined or parts[0].extents[a] not in now]
        if [a for a in _sorted_axes(parts, now, stride) if a in long] != long:
            yield lengths
