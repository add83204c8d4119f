"""``np.block``: nested lists of blocks, each stored into its place in one buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import with_leading_axes
from fusejit.tracer.np.arrays.joins import concatenate
from fusejit.tracer.np.arrays.parts import ZERO, new_array, section, store
from fusejit.tracer.ops.elementwise_op import array_of_number, copy_of
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import supported
from fusejit.tracer.values.traced_primitives import primitive_of

Starts = tuple[AffineExpr, ...]


@primitive_of("arrays", np.block, complex=True)
def block(arrays: Any) -> Any:
    """``np.block``: the innermost lists along the last axis, those around along the ones before."""
    depth = _depth(arrays)
    leaves = [array_from(leaf) for leaf in _leaves(arrays)]
    rank = max(depth, *(a.ndim for a in leaves))
    blocks = iter([with_leading_axes(array_of_number(a), rank) for a in leaves])
    nested = _replaced(arrays, blocks)
    if depth == 0 and nested.sorted_order() is None:
        return copy_of(nested, nested.dtype, nested.sorted_order(), "copy", Kind.ARRAY)
    if any(a.sorted_order() is not None for a in leaves):
        # NumPy joins them level by level, or stores them one by one if they are large
        what = "np.block of arrays that are not in C order is not traced"
        raise unsupported(what, "copy them in C order first")
    extents, placed = _placed(nested, rank - depth)
    dtype = supported(np.result_type(*(a.dtype for a in leaves)))
    if len(placed) == 1:
        return concatenate([placed[0][1]], 0)
    result = new_array(extents, dtype)
    for starts, part in placed:
        target = result
        for axis, start in enumerate(starts):
            target = section(target, axis, start, part.extents[axis])
        store(target, part)
    return result


def _depth(arrays: Any) -> int:
    """How deep the lists are nested, all alike."""
    if isinstance(arrays, tuple):
        raise numpy_raises("TypeError: arrays is a tuple. Only lists can be used to arrange blocks")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise numpy_raises("ValueError: List at arrays cannot be empty")
    depths = {_depth(a) for a in arrays}
    if len(depths) > 1:
        raise numpy_raises("ValueError: List depths are mismatched.")
    return 1 + depths.pop()


def _leaves(arrays: Any) -> Iterator[Any]:
    if not isinstance(arrays, list):
        yield arrays
        return
    for inner in arrays:
        yield from _leaves(inner)


def _replaced(arrays: Any, blocks: Iterator[TracedArray]) -> Any:
    if not isinstance(arrays, list):
        return next(blocks)
    return [_replaced(inner, blocks) for inner in arrays]


def _placed(nested: Any, axis: int) -> tuple[Extents, list[tuple[Starts, TracedArray]]]:
    """The extents of nested blocks that are joined along ``axis`` and those after it."""
    if isinstance(nested, TracedArray):
        return nested.extents, [((ZERO,) * nested.ndim, nested)]
    placed: list[tuple[Starts, TracedArray]] = []
    whole: list[AffineExpr] = []
    for inner in nested:
        extents, parts = _placed(inner, axis + 1)
        decisions = parts[0][1].trace.decisions
        if not whole:
            whole = [*extents[:axis], ZERO, *extents[axis + 1 :]]
        for k, (a, b) in enumerate(zip(whole, extents, strict=True)):
            if k != axis and not decisions.equal(
                a, b, "blocks side by side have one shape", or_raises=True
            ):
                raise numpy_raises("ValueError: all the input array dimensions must match")
        for starts, part in parts:
            moved = (*starts[:axis], starts[axis] + whole[axis], *starts[axis + 1 :])
            placed.append((moved, part))
        whole[axis] = decisions.canonical(whole[axis] + extents[axis])
    return tuple(whole), placed
