"""Diagonals: views in which one axis steps through two axes of an array; matrices made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.view_functions import array_operand, normalize_axis
from fusejit.tracer.np.arrays.parts import ZERO, store
from fusejit.tracer.np.arrays.subscripts import setitem
from fusejit.tracer.np.arrays.triangles import offset_of
from fusejit.tracer.ops.elementwise_op import emit_elementwise, full
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, operand_of
from fusejit.tracer.values.traced_primitives import primitive_of


def diagonal_view(array: TracedArray, k: Any, first: int, second: int) -> TracedArray:
    """``out[.., i] = array[.., i + max(-k, 0), .., i + max(k, 0)]``, other axes in front."""
    decisions = array.trace.decisions
    offset = offset_of(k)
    rows, columns = array.extents[first], array.extents[second]
    if decisions.nonnegative(offset, "the diagonal is not below the main one"):
        starts, columns = (ZERO, offset), columns - offset
    else:
        starts, rows = (-offset, ZERO), rows + offset
    reason = "where a diagonal ends"
    length = rows if decisions.at_most(rows, columns, reason) else columns
    if not decisions.nonnegative(length, "a diagonal meets the matrix"):
        length, starts = ZERO, (ZERO, ZERO)
    others = [a for a in range(array.ndim) if a not in (first, second)]
    rank = len(others) + 1
    results = [ZERO] * array.ndim
    for at, a in enumerate(others):
        results[a] = AffineExpr.dim(at)
    for a, start in zip((first, second), starts, strict=True):
        results[a] = decisions.canonical(AffineExpr.dim(rank - 1) + start)
    extents = (*(array.extents[a] for a in others), decisions.canonical(length))
    return array.view(IndexingMap(rank, tuple(results)), extents)


@primitive_of("a offset", np.diagonal, complex=True)
def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    """``np.diagonal``: a read-only view, the diagonal as its last axis."""
    array = array_operand(a)
    if array.ndim < 2:
        raise numpy_raises("ValueError: diag requires an array of at least two dimensions")
    first, second = (normalize_axis(x, array.ndim) for x in (axis1, axis2))
    if first == second:
        raise numpy_raises("ValueError: axis1 and axis2 cannot be the same")
    result = diagonal_view(array, offset, first, second)
    result.access = WriteAccess.READ_ONLY
    return result


@primitive_of("a offset", np.trace, complex=True)
def trace_of(
    a: Any,
    offset: Any = 0,
    axis1: Any = 0,
    axis2: Any = 1,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """``np.trace``: the sum of a diagonal."""
    return PRIMITIVES[np.sum](diagonal(a, offset, axis1, axis2), -1, dtype, out)


def diagonal_matrix(values: TracedArray, k: Any) -> TracedArray:
    """Zeros with ``values`` on a diagonal.

    With the main one it is a choice between numbers, which folds into what reads the matrix; other
    diagonals start after the first row or column, and are stored into zeros.
    """
    trace = values.trace
    offset = offset_of(k)
    if offset.as_constant() == 0:
        return _main_diagonal(values)
    away = offset if trace.decisions.nonnegative(offset, "the sign of a diagonal") else -offset
    side = values.extents[0] + away
    zero = operand_of(values.dtype.type(0))
    result = full((side, side), zero, values.dtype, name="diag")
    result.storage.to_buffer()
    store(diagonal_view(result, k, 0, 1), values)
    return result


def _main_diagonal(values: TracedArray) -> TracedArray:
    """``out[i, j] = values[i] if i == j else 0``."""
    rows = PRIMITIVES[np.expand_dims](values, 1)
    side = values.extents[0]

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        place = [builder.index(AffineExpr.dim(0)), builder.index(AffineExpr.dim(1))]
        zero = builder.const(0, values.dtype)
        is_there = builder.op("equal", place, BOOL)
        return builder.op("select", [is_there, refs[0], zero], values.dtype)

    extents = (side, side)
    return emit_elementwise(
        "diag", [rows], None, values.dtype, compute, extents=extents, kind=Kind.ARRAY, order=None
    )


@primitive_of("v k", np.diag, complex=True)
def diag(v: Any, k: Any = 0) -> Any:
    """``np.diag``: the matrix with a diagonal, or a read-only view of the diagonal of a matrix."""
    array = array_operand(v)
    if array.ndim == 1:
        return diagonal_matrix(array, k)
    if array.ndim == 2:
        return diagonal(array, k)
    raise numpy_raises("ValueError: Input must be 1- or 2-d.")


@primitive_of("v k", np.diagflat)
def diagflat(v: Any, k: Any = 0) -> Any:
    """``np.diagflat``: the matrix whose diagonal is the flattened array."""
    return diagonal_matrix(PRIMITIVES[np.ravel](array_operand(v)), k)


@primitive(np.fill_diagonal, complex=True)
def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """``np.fill_diagonal`` of a matrix: one number, or an array of the diagonal's length."""
    if not isinstance(a, TracedArray) or a.kind is not Kind.ARRAY:
        raise Fallback(
            "np.fill_diagonal changes an array from outside the function; pass it as an argument"
        )
    if a.ndim != 2 or wrap is not False:
        raise Fallback("np.fill_diagonal of more than two axes, or wrapping around")
    target = diagonal_view(a, 0, 0, 1)
    value = operand_of(val)
    if value.array is not None and value.extents:
        same = value.array.ndim == 1 and a.trace.decisions.equal(
            value.extents[0], target.extents[0], "as many values as the diagonal has"
        )
        if not same:
            raise Fallback("np.fill_diagonal with values that are repeated")
    setitem(target, (Ellipsis,), val)
