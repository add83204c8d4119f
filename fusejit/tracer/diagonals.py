"""Diagonals and triangles: what is chosen by comparing a row's number with a column's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import GenericOp, Init
from fusejit.ir.graph import Operand as GraphOperand
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import PayloadBuilder, identity_payload
from fusejit.ir.types import IteratorType
from fusejit.tracer.array import TracedArray
from fusejit.tracer.context import current_trace
from fusejit.tracer.creation import order_argument, shape_argument
from fusejit.tracer.declined import numpy_raises
from fusejit.tracer.dispatch import HANDLERS, handles
from fusejit.tracer.elementwise import Order
from fusejit.tracer.indexing import integer
from fusejit.tracer.locations import unsupported
from fusejit.tracer.operands import dtype_argument
from fusejit.tracer.shapes import Extents
from fusejit.tracer.views import array_operand, normalize_axis

_BOOL = np.dtype(np.bool_)


def _compared(extents: Extents, compare: str, k: Any, dtype: np.dtype, order: Order) -> TracedArray:
    """``out[i, j] = (i + k <compare> j)`` in a dtype."""
    trace = current_trace()
    builder = PayloadBuilder([], [dtype])
    row = builder.index(AffineExpr.dim(0) + integer(k))
    chosen = builder.op(compare, [row, builder.index(AffineExpr.dim(1))], _BOOL)
    result = trace.new_value(dtype, extents, order=order)
    trace.emit(
        GenericOp(
            results=(result,),
            domain=result.type.extents,
            iterators=(IteratorType.PARALLEL,) * 2,
            inputs=(),
            inits=(Init(IndexingMap.identity(2)),),
            payload=builder.finish([builder.cast(chosen, dtype)]),
            name={"equal": "eye", "greater_equal": "tri", "greater": "tri"}[compare],
        )
    )
    return TracedArray.of_value(trace, result)


@handles(np.eye)
def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C") -> TracedArray:
    """``out[i, j] = 1`` where ``i + k == j``, else 0."""
    extents = shape_argument(current_trace(), (N, N if M is None else M))
    return _compared(extents, "equal", k, dtype_argument(dtype), order_argument(order, 2))


@handles(np.identity)
def identity(n: Any, dtype: Any = None) -> TracedArray:
    """``np.eye(n)``."""
    return eye(n, dtype=float if dtype is None else dtype)


@handles(np.tri)
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> TracedArray:
    """``out[i, j] = 1`` where ``i + k >= j``, else 0."""
    extents = shape_argument(current_trace(), (N, N if M is None else M))
    return _compared(extents, "greater_equal", k, dtype_argument(dtype), None)


def _triangle(m: Any, choose: Callable[[TracedArray, TracedArray, Any], Any], k: Any) -> Any:
    array = array_operand(m)
    if not array.ndim:
        raise numpy_raises("ValueError or IndexError: a triangle of a number")
    extents = (array.extents[-2 if array.ndim > 1 else -1], array.extents[-1])
    mask = _compared(extents, "greater_equal", k, _BOOL, None)
    return choose(mask, array, array.dtype.type(0))


@handles(np.tril)
def tril(m: Any, k: Any = 0) -> Any:
    """``out[.., i, j] = m[.., i, j]`` where ``i + k >= j``, else 0."""
    where = HANDLERS[np.where]
    return _triangle(m, lambda mask, array, zero: where(mask, array, zero), k)


@handles(np.triu)
def triu(m: Any, k: Any = 0) -> Any:
    """``out[.., i, j] = m[.., i, j]`` where ``i + k <= j``, else 0."""
    where = HANDLERS[np.where]
    return _triangle(m, lambda mask, array, zero: where(mask, zero, array), k - 1)


@handles(np.diagonal)
def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> TracedArray:
    """``out[.., i] = a[.., i, i + offset]`` of two axes: read as they are now."""
    array = array_operand(a)
    if array.ndim < 2:
        raise numpy_raises("ValueError: diag requires an array of at least two dimensions")
    first, second = (normalize_axis(axis, array.ndim) for axis in (axis1, axis2))
    if first == second:
        raise numpy_raises("ValueError: axis1 and axis2 cannot be the same")
    trace = array.trace
    decisions = trace.decisions
    shift = integer(offset)
    down = decisions.nonnegative(shift, "a diagonal is above the main one")
    starts = {first: AffineExpr.const(0) if down else -shift}
    starts[second] = shift if down else AffineExpr.const(0)
    lengths = [decisions.canonical(array.extents[a] - starts[a]) for a in (first, second)]
    extent = lengths[not decisions.at_most(*lengths, "the shorter axis of a diagonal")]
    if not decisions.nonnegative(extent, "a diagonal is within the array"):
        extent = AffineExpr.const(0)
    others = [a for a in range(array.ndim) if a not in starts]
    extents = (*(array.extents[a] for a in others), extent)
    along = AffineExpr.dim(len(others))
    index_map = IndexingMap(
        len(extents),
        tuple(
            starts[a] + along if a in starts else AffineExpr.dim(others.index(a))
            for a in range(array.ndim)
        ),
    )
    order = _view_order(array, others, (first, second), index_map, extents)
    result = trace.new_value(array.dtype, extents, order=order)
    trace.emit(
        GenericOp(
            results=(result,),
            domain=result.type.extents,
            iterators=(IteratorType.PARALLEL,) * len(extents),
            inputs=(GraphOperand(array.value(), index_map),),
            inits=(Init(IndexingMap.identity(len(extents))),),
            payload=identity_payload(array.dtype),
            name="diagonal",
        )
    )
    made = TracedArray.of_value(trace, result)
    made.writeable = False
    storage, base = made.storage, array.storage.root
    storage.copied_from, storage.copied_after = base, base.num_stores  # NumPy has a view
    storage.may_leave = False
    return made


def _view_order(
    array: TracedArray,
    others: list[int],
    pair: tuple[int, int],
    index_map: IndexingMap,
    extents: Extents,
) -> Order:
    """The axis order of NumPy's view: the diagonal lies where the outer one of its axes does."""
    outer = pair[(array.compare_strides(*pair) or 0) < 0]
    zero = AffineExpr.const(0)
    kept = (*others, outer)
    results = tuple(r if a in kept else zero for a, r in enumerate(index_map.results))
    return array.view(IndexingMap(index_map.num_dims, results), extents).sorted_order()


@handles(np.trace)
def trace_of(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    """``out[..] = sum_i a[.., i, i + offset]``."""
    return HANDLERS[np.sum](diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


@handles(np.diag)
def diag(v: Any, k: Any = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a diagonal: ``out[i, i] = v[i]``, else 0."""
    array = array_operand(v)
    if array.ndim == 2:
        return diagonal(array, k)
    if array.ndim != 1:
        raise numpy_raises("ValueError: Input must be 1- or 2-d.")
    if k != 0:
        what = "np.diag(v, k) of a row is not traced for k != 0"
        raise unsupported(what, "multiply: np.eye(n, k=k) * v")
    size = array.extents[0]
    mask = _compared((size, size), "equal", 0, _BOOL, None)
    return HANDLERS[np.where](mask, array[:, None], array.dtype.type(0))
