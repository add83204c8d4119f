"""Running totals: ``cumsum``, ``cumprod`` and ``ufunc.accumulate``.

One generic op with a sequential dim and two results: the running total, which each point reads and
overwrites, and the array of all totals::

    %t, %r = generic "cumsum" domain (s0) iterators (sequential) ins (%x) outs (write, write)
             { t0 = add out0, in0; t1 = i == 0 ? in0 : t0; yield t1, t1 }
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init
from fusejit.ir.ops import Operand as GraphOperand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.scalar_ops.scalar_op_table import UFUNC_ROWS
from fusejit.ir.types import IteratorType, Kind
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import normalize_axis
from fusejit.tracer.np.arrays.joins import concatenate
from fusejit.tracer.np.reductions.nan_functions import chosen
from fusejit.tracer.np.reductions.over_axes import accumulate_dtype, into, of_out, one_axis
from fusejit.tracer.ops.axis_order import result_order
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, contains_traced, dtype_argument
from fusejit.tracer.values.traced_primitives import primitive_of


def accumulate(array: TracedArray, ufunc: np.ufunc, axis: int, dtype: np.dtype) -> TracedArray:
    """``out[0] = a[0]``, ``out[i] = ufunc(out[i - 1], a[i])``, along an axis."""
    trace = array.trace
    domain = tuple(map(trace.decisions.canonical, array.extents))
    rank = array.ndim
    kept = [k for k in range(rank) if k != axis]
    name = UFUNC_ROWS[ufunc].name
    builder = PayloadBuilder([array.dtype], [dtype, dtype])
    element = builder.cast(0, dtype)
    total = builder.op(name, [1, element], dtype)
    place = [builder.index(AffineExpr.dim(axis)), builder.const(0, np.dtype(np.int64))]
    is_first = builder.op("equal", place, BOOL)
    result = builder.op("select", [is_first, element, total], dtype)
    running = trace.new_value(dtype, tuple(domain[k] for k in kept))
    totals = trace.new_value(dtype, domain, Kind.ARRAY, result_order(trace, [array], domain))
    trace.emit(
        GenericOp(
            results=(running, totals),
            domain=domain,
            iterators=tuple(
                IteratorType.SEQUENTIAL if k == axis else IteratorType.PARALLEL for k in range(rank)
            ),
            inputs=(GraphOperand(array.value(), IndexingMap.identity(rank)),),
            inits=(Init(IndexingMap.select(rank, kept)), Init(IndexingMap.identity(rank))),
            payload=builder.finish([result, result]),
            name=f"{ufunc.__name__}.accumulate",
        )
    )
    return TracedArray.of_value(trace, totals)


def _cumulative(ufunc: np.ufunc, a: Any, axis: Any, dtype: Any, out: Any) -> TracedArray:
    array = array_from(a)
    if array.kind is not Kind.ARRAY or not array.ndim or axis is None:
        array, axis = PRIMITIVES[np.ravel](array), 0 if axis is None or array.ndim else axis
    at = one_axis(axis, array.ndim)
    wanted = accumulate_dtype(array.dtype) if dtype is None else dtype_argument(dtype)
    if wanted == BOOL:
        what = f"np.{ufunc.__name__}.accumulate of bools as bools is not traced"
        raise unsupported(what, "use np.logical_or.accumulate, or convert to integers")
    return into(accumulate(array, ufunc, at, of_out(wanted, dtype, out)), out)


@primitive(np.cumsum, complex=True)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``out[i] = a[0] + .. + a[i]``, one after the other as NumPy adds them."""
    return _cumulative(np.add, a, axis, dtype, out) if contains_traced(a) else NotImplemented


@primitive(np.cumprod, complex=True)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``out[i] = a[0] * .. * a[i]``."""
    return _cumulative(np.multiply, a, axis, dtype, out) if contains_traced(a) else NotImplemented


@primitive_of("a", np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``np.nancumsum``: NaN counts as 0."""
    array = array_from(a)
    return cumsum(chosen(array, 0)[0] if array.dtype.kind == "f" else array, axis, dtype, out)


@primitive_of("a", np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``np.nancumprod``: NaN counts as 1."""
    array = array_from(a)
    return cumprod(chosen(array, 1)[0] if array.dtype.kind == "f" else array, axis, dtype, out)


def _including(ufunc: np.ufunc, x: Any, axis: Any, dtype: Any, include_initial: Any) -> Any:
    """The functions of the array standard: an axis must be named, the neutral one may lead."""
    array = array_from(x)
    if axis is None and array.ndim != 1:
        raise unsupported("a cumulative function without an axis", "name the axis")
    at = normalize_axis(0 if axis is None else axis, array.ndim)
    result = _cumulative(ufunc, array, at, dtype, None)
    if not include_initial:
        return result
    shape = list(result.shape)
    shape[at] = 1
    first = PRIMITIVES[np.full](tuple(shape), ufunc.identity, result.dtype)
    return concatenate([first, result], at)


def _of_standard(function: Any, ufunc: np.ufunc) -> None:
    """``np.cumulative_sum``: ``cumsum``, with a 0 in front if asked for; ``prod`` with a 1."""

    @primitive(function)
    def cumulative(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: Any = False,
    ) -> Any:
        if not contains_traced(x) or out is not None:
            return NotImplemented
        return _including(ufunc, x, axis, dtype, include_initial)

    cumulative.__name__ = cumulative.__qualname__ = function.__name__


_of_standard(np.cumulative_sum, np.add)
_of_standard(np.cumulative_prod, np.multiply)


def _register(ufunc: np.ufunc) -> None:
    """``ufunc.accumulate`` along the first axis by default."""

    def method(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        if not contains_traced(array):
            return NotImplemented
        operand = array_from(array)
        if axis is None:
            raise numpy_raises("ValueError: accumulate does not allow multiple axes")
        if ufunc in (np.add, np.multiply):
            return _cumulative(ufunc, operand, axis, dtype, out)
        at = normalize_axis(axis, operand.ndim)
        if dtype is not None and dtype_argument(dtype) != operand.dtype:
            what = f"np.{ufunc.__name__}.accumulate with dtype= is not traced"
            raise unsupported(what, "convert the array with astype first")
        if ufunc in (np.logical_and, np.logical_or) and operand.dtype != BOOL:
            operand = copy_of(operand, BOOL, operand.sorted_order(), "astype")
        return into(accumulate(operand, ufunc, at, operand.dtype), out)

    method.__name__ = "accumulate"
    method.__doc__ = f"Running results of ``np.{ufunc.__name__}`` along an axis."
    primitive(ufunc.accumulate, complex=True)(method)


for _ufunc in (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or):
    _register(_ufunc)
