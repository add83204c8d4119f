"""Arrays of one shape: ``broadcast_arrays`` and ``broadcast_shapes``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.write_access import broadcast_access
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.creation import shape_argument
from fusejit.tracer.indexing.view_functions import broadcast_to
from fusejit.tracer.np.arrays.conversions import array_of
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.broadcasting import broadcast
from fusejit.tracer.values.masked import as_array
from fusejit.tracer.values.symbolic_number import affine_number
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive_of("args", np.broadcast_arrays, complex=True)
def broadcast_arrays(*args: Any, subok: Any = False) -> Any:
    """``np.broadcast_arrays``: views of one shape, or the arrays that have it themselves."""
    # of numbers too: no NumPy scalar comes out
    arrays = [array_of(as_array(a), copy=None, order=None) for a in args]
    trace = current_trace()
    extents = broadcast(trace.decisions, [a.extents for a in arrays])
    shape = tuple(affine_number(trace, e) for e in extents)
    return tuple(a if _are_equal(a.extents, extents) else _broadcast(a, shape) for a in arrays)


def _are_equal(extents: Sequence[AffineExpr], others: Sequence[AffineExpr]) -> bool:
    """Whether an array has the shape: a length of 1 beside another one may be that one."""
    decisions = current_trace().decisions
    if len(extents) != len(others):
        return False
    return all(
        decisions.canonical(mine) == decisions.canonical(other)
        or (
            not decisions.is_local(mine)
            and not decisions.is_local(other)
            and decisions.equal(mine, other, "np.broadcast_arrays hands out arrays of the shape")
        )
        for mine, other in zip(extents, others, strict=True)
    )


def _broadcast(array: TracedArray, shape: Any) -> TracedArray:
    result = broadcast_to(array, shape)
    result.access = broadcast_access(array.access)
    return result


@primitive_of("args", np.broadcast_shapes)
def broadcast_shapes(*args: Any) -> Any:
    """``np.broadcast_shapes``: the shape that arrays of given shapes are broadcast to."""
    trace = current_trace()
    shapes = [shape_argument(shape) for shape in args]
    return tuple(affine_number(trace, e) for e in broadcast(trace.decisions, shapes))
