"""The order in which NumPy adds the numbers of an array: in a tree, or one after the other.

Along the axes that are innermost in memory it adds in the tree of
`fusejit.ir.interpreter.summation`; the totals of these are added to the result one after the other,
as are whole rows if the innermost axis stays. Source: ``npyiter`` and ``DOUBLE_add`` of NumPy.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.indexing.reshape_functions import merge_in_memory
from fusejit.tracer.ops.axis_order import result_order
from fusejit.tracer.values.array import TracedArray


def memory_order(array: TracedArray) -> tuple[int, ...]:
    """The axes from the outermost in memory to the innermost."""
    return result_order(array.trace, [array], array.extents) or tuple(range(array.ndim))


def steps_of_sum(
    array: TracedArray,
    combiner: str,
    order: Sequence[int],
    reduced: Collection[int],
    *,
    casts: bool,
) -> list[tuple[str, tuple[int, ...]]]:
    """Combiners of floats, and the axes that each of them sums, the fastest one last.

    Parameters
    ----------
    array : TracedArray
    combiner : str
        ``add``, or that of parts of complex numbers.
    order : sequence of int
        The axes from the outermost in memory to the innermost.
    reduced : collection of int
    casts : bool
        Whether numbers are converted before they are added.
    """
    inner, outer = _inner_and_outer(array, order, reduced)
    steps = [(_tree_of(array, inner, casts, combiner), inner), ("add_in_turn", outer)]
    return [step for step in steps if step[1]] or [(combiner, ())]


def _inner_and_outer(
    array: TracedArray, order: Sequence[int], reduced: Collection[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes that are summed in a tree, and those that are summed in turn, the fastest one last.

    Axes of length 1 are none to NumPy, so whether a kept one has length 1 is decided.
    """
    left = list(order)
    inner: list[int] = []
    while left:
        axis = left[-1]
        if axis in reduced:
            inner.insert(0, left.pop())
        elif any(a in reduced for a in left) and _is_one_long(array, axis):
            left.pop()
        else:
            break
    return tuple(inner), tuple(a for a in left if a in reduced)


def _tree_of(array: TracedArray, axes: Sequence[int], casts: bool, combiner: str) -> str:
    """The combiner that sums the axes which are innermost in memory; NumPy may copy them first."""
    if combiner == "add_parts":
        return combiner
    constant = array.trace.decisions.constant
    long = [a for a in axes if constant(array.extents[a]) != 1]
    if not all(_are_one_run(array, *pair) for pair in itertools.pairwise(long)):
        return "add_in_rows"
    return "add_in_pieces" if casts else combiner


def _are_one_run(array: TracedArray, outer: int, inner: int) -> bool:
    """Whether NumPy adds along two axes as along one; windows in loops have rows of their own."""
    if array.trace.decisions.is_local(array.extents[inner]):
        return False
    try:
        return merge_in_memory(array, outer, inner)
    except Varies:
        return False


def _is_one_long(array: TracedArray, axis: int) -> bool:
    try:
        return array.trace.decisions.equal(array.extents[axis], 1, "the order of a sum")
    except Varies:
        return False
