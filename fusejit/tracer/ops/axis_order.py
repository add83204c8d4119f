"""The axis order in which a ufunc allocates its result, for operands in K order.

NumPy sorts the axes by the strides of all operands. An axis along which an operand is 1 long has
no stride there, so with operands that are broadcast a length of 1 may change the order of the
other axes: of those lengths alone the order is decided, and a variant asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, takewhile

from fusejit.tracer.builder.layout import arrange
from fusejit.tracer.builder.shapes import Extents, normal_order
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.values.array import TracedArray

Order = tuple[int, ...] | None
Compare = Callable[[int, int], int | None]  # the sign of |stride i| - |stride j|; None if one is 0


def result_order(trace: Trace, arrays: Sequence[TracedArray], domain: Extents) -> Order:
    """The axis order of the result of ``arrays``, outermost first; None is C order."""
    rank = len(domain)
    if rank < 2:
        return None
    compare = [_comparison(array, rank) for array in arrays]
    while True:
        long = [a for a in range(rank) if trace.decisions.constant(domain[a]) != 1]
        order = _among(long, nditer_order(rank, compare))
        open_sets = _ones_that_matter(trace, domain, long, compare, order)
        if not any(_some_are_one(trace, domain, axes) for axes in open_sets):
            break
    return normal_order(arrange(order, rank))


def _comparison(array: TracedArray, rank: int) -> Compare:
    shift = rank - array.ndim

    def compare(i: int, j: int) -> int | None:
        return None if min(i, j) < shift else array.compare_strides(i - shift, j - shift)

    return compare


def _among(kept: Sequence[int], order: Sequence[int]) -> list[int]:
    return [a for a in order if a in kept]


def _ones_that_matter(
    trace: Trace,
    domain: Extents,
    long: Sequence[int],
    compare: Sequence[Compare],
    order: Sequence[int],
) -> Iterator[frozenset[int]]:
    """Axes of unknown length that would leave the others in another order if all were 1 long."""
    if len(compare) < 2 or len(long) < 3 or not _is_open(compare, long):
        return
    decisions = trace.decisions
    extents = {a: decisions.canonical(domain[a]) for a in long}
    unknown = [a for a, e in extents.items() if not (e.is_constant or decisions.is_local(e))]
    for count in range(1, len(long) - 1):
        for ones in map(frozenset, combinations(unknown, count)):
            kept = [a for a in long if a not in ones]
            if any(extents[a] == extents[one] for a in kept for one in ones):
                continue
            given = [_ignoring(c, ones) for c in compare]
            if _among(kept, nditer_order(len(domain), given)) != _among(kept, order):
                yield ones


def _is_open(compare: Sequence[Compare], axes: Sequence[int]) -> bool:
    """Whether no operand alone says how all axes lie, or some say something else."""
    signs = {tuple(c(i, j) for i, j in combinations(axes, 2)) for c in compare}
    return len(signs) > 1


def _ignoring(compare: Compare, ones: frozenset[int]) -> Compare:
    return lambda i, j: None if i in ones or j in ones else compare(i, j)


def _some_are_one(trace: Trace, domain: Extents, axes: frozenset[int]) -> bool:
    """Decide for each of these axes whether it is 1 long, until one is not."""
    reason = "the order of the axes"
    ones = takewhile(lambda a: trace.decisions.equal(domain[a], 1, reason), sorted(axes))
    return bool(list(ones))


def nditer_order(rank: int, compare: Sequence[Compare]) -> list[int]:
    """The axes from the outermost to the innermost.

    Source: ``npyiter_find_best_axis_ordering`` of NumPy, an insertion sort.
    """

    def signs(axis: int, other: int) -> list[int]:
        known = [c(axis, other) for c in compare]
        return [-s for s in known if s is not None]

    return insertion_sorted(list(range(rank))[::-1], signs)[::-1]  # innermost first


def insertion_sorted(order: list[int], signs: Callable[[int, int], list[int]]) -> list[int]:
    """Axes moved in front of others whose ``signs`` with them all are positive; none says nothing.

    NumPy sorts so; no other algorithm gives the same order where operands contradict each other.
    """
    for i in range(1, len(order)):
        axis, position = order[i], i
        for j in range(i - 1, -1, -1):
            known = signs(axis, order[j])
            if not all(s > 0 for s in known):
                break
            if known:
                position = j
        del order[i]
        order.insert(position, axis)
    return order
