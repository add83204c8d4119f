"""Coordinates: ``meshgrid``, ``ix_`` and ``indices``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.indexing.creation import array_from, shape_argument
from fusejit.tracer.indexing.view_functions import broadcast_to
from fusejit.tracer.np.arrays.mask_indices import positions
from fusejit.tracer.np.arrays.parts import new_array, section, store
from fusejit.tracer.ops.elementwise_op import copy_of, emit_elementwise
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import dtype_argument
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive_of("xi", np.meshgrid)
def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> Any:
    """``np.meshgrid``: each vector along its own axis, copied over the others."""
    if indexing not in ("xy", "ij"):
        raise numpy_raises("ValueError: Valid values for `indexing` are 'xy' and 'ij'.")
    if not copy and not sparse:
        what = "np.meshgrid with copy=False hands out broadcast views, which is not traced"
        raise unsupported(what, "leave out copy=False, or use sparse=True")
    rank = len(xi)
    output: list[TracedArray] = []
    for axis, vector in enumerate(xi):
        flat: TracedArray = PRIMITIVES[np.ravel](array_from(vector))
        at = _own_axis(axis, indexing, rank)
        output.append(flat[tuple(slice(None) if k == at else None for k in range(rank))])
    if not sparse:
        shape = tuple(
            next(x.shape[k] for i, x in enumerate(output) if _own_axis(i, indexing, rank) == k)
            for k in range(rank)
        )
        output = [broadcast_to(x, shape) for x in output]
    if copy:
        output = [copy_of(x, x.dtype, None, "meshgrid", Kind.ARRAY) for x in output]
    return tuple(output) if copy else output


@primitive_of("args", np.ix_)
def ix_(*args: Any) -> Any:
    """``np.ix_``: each vector of integers, or the positions in a mask, along its own axis."""
    output: list[TracedArray] = []
    for axis, given in enumerate(args):
        vector: TracedArray = array_from(given)
        if vector.ndim != 1:
            raise numpy_raises("ValueError: Cross index must be 1 dimensional")
        if vector.dtype == np.bool_:
            (vector,) = positions(vector)
        output.append(vector[tuple(slice(None) if k == axis else None for k in range(len(args)))])
    return tuple(output)


def _own_axis(number: int, indexing: str, rank: int) -> int:
    return 1 - number if indexing == "xy" and rank > 1 and number < 2 else number


def subscripts(extents: tuple[AffineExpr, ...], axis: int, dtype: Any, name: str) -> TracedArray:
    """``out[i0, i1, ..] = i_axis``."""

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.index(AffineExpr.dim(axis))

    return emit_elementwise(
        name, [], [], dtype, compute, extents=extents, kind=Kind.ARRAY, order=None
    )


@primitive_of("dimensions", np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: Any = False) -> Any:
    """``np.indices``: the subscripts of every element, one array per axis."""
    extents = shape_argument(tuple(dimensions))
    wanted = dtype_argument(dtype)
    rank = len(extents)
    one = AffineExpr.const(1)
    if sparse:
        return tuple(
            subscripts((one,) * k + (e,) + (one,) * (rank - k - 1), k, wanted, "indices").as_view()
            for k, e in enumerate(extents)
        )
    result = new_array((AffineExpr.const(rank), *extents), wanted)
    for k in range(rank):
        store(section(result, 0, k, 1)[0, ...], subscripts(extents, k, wanted, "indices"))
    return result
