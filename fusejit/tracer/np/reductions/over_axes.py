"""Reductions over axes: sum, mean, max, min, any, all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Init, ViewOp
from fusejit.ir.ops import Operand as GraphOperand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import Kind, part_dtype
from fusejit.ir.values import Value
from fusejit.tracer.builder.layout import arrange
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.shapes import Varies, normal_order
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import kept_axes_map, normalize_axes, normalize_axis
from fusejit.tracer.np.numbers.complex_parts import joined_parts, part_of
from fusejit.tracer.np.reductions.order_of_sums import memory_order, steps_of_sum
from fusejit.tracer.ops.axis_order import Order
from fusejit.tracer.ops.elementwise_op import copy_of, emit_elementwise
from fusejit.tracer.ops.stores import store_result
from fusejit.tracer.program.fallback import Fallback, numpy_raises, numpy_warns
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, C128, F64, dtype_argument, operand_of
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number

NO_VALUE = np._NoValue
_REMEDIES = {
    "where": "choose with np.where(mask, x, neutral) first",
    "initial": "combine the result with the initial value afterwards",
}
_WIDENED = {"b": np.dtype(np.int64), "i": np.dtype(np.int64), "u": np.dtype(np.uint64)}


def accumulate_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which NumPy sums: integers narrower than the platform's are widened."""
    if dtype.kind in "biu" and dtype.itemsize < 8:
        return _WIDENED[dtype.kind]
    return dtype


def reduce_array(
    array: TracedArray,
    name: str,
    combiner: str,
    axis: Any,
    keepdims: Any,
    dtype: np.dtype,
    may_be_empty: bool,
    layout: TracedArray | None = None,
) -> TracedArray:
    """Generic ops whose reduced axes are reduction dims, elements cast to ``dtype`` first.

    Sums of floats are added in NumPy's order: in a tree along the axes that are innermost in
    memory, and the totals of these, or whole rows, in turn, as numbers are multiplied for products.
    A sum of complex numbers is that of the real and that of the imaginary parts; the array of both
    has the ``layout`` that counts.
    """
    if dtype.kind == "c":
        if combiner != "add":
            raise Fallback(f"np.{name} of {dtype}")
        whole = copy_of(array, dtype, None, "astype", array.kind) if array.dtype != dtype else array
        options = (axis, keepdims, part_dtype(dtype), True, array)
        sums = [
            reduce_array(part_of(whole, part), name, "add_parts", *options)
            for part in ("real", "imag")
        ]
        return joined_parts(*sums)
    trace = array.trace
    decisions = trace.decisions
    rank = array.ndim
    reduced = normalize_axes(axis, rank)
    if not may_be_empty:
        for a in reduced:
            # over several axes NumPy raises if any is empty while the result is not
            if decisions.is_empty(array.extents[a], name):
                raise numpy_raises("ValueError: zero-size array to reduction operation")
    kept = tuple(a for a in range(rank) if a not in reduced)
    is_ordered = dtype.kind in COMBINERS[combiner].ordered
    layout = array if layout is None else layout
    order = memory_order(layout) if is_ordered or len(kept) > 1 else tuple(range(rank))
    steps = [(combiner, tuple(a for a in order if a in reduced))]
    if is_ordered and COMBINERS[combiner].in_tree:
        steps = steps_of_sum(layout, combiner, order, reduced, casts=array.dtype != dtype)
    source: TracedArray | Value = array
    axes = tuple(range(rank))
    for combined, over in steps:
        source = result = _reduced(trace, name, combined, source, axes, over, dtype, order)
        axes = tuple(a for a in axes if a not in over)
    if not keepdims or not rank:
        return TracedArray.of_value(trace, result)
    extents = tuple(
        AffineExpr.const(1) if a in reduced else decisions.canonical(array.extents[a])
        for a in range(rank)
    )
    expanded = None if result.order is None else arrange([kept[a] for a in result.order], rank)
    wide = trace.new_value(dtype, extents, Kind.ARRAY, expanded)
    trace.emit(ViewOp(results=(wide,), source=result, map=kept_axes_map(rank, reduced)))
    return TracedArray.of_value(trace, wide)


def _reduced(
    trace: Trace,
    name: str,
    combiner: str,
    source: TracedArray | Value,
    axes: tuple[int, ...],
    over: Sequence[int],
    dtype: np.dtype,
    order: Sequence[int],
) -> Value:
    """One generic op that reduces some axes of an array, or of what others have left of it.

    ``axes`` says which axes are left, and ``order`` how they lie in memory.
    """
    known = source.extents if isinstance(source, TracedArray) else source.type.extents
    extents = dict(zip(axes, map(trace.decisions.canonical, known), strict=True))
    kept = tuple(a for a in axes if a not in over)
    dims = axes if list(over) == sorted(over) else (*kept, *over)
    result = trace.new_value(
        dtype,
        tuple(extents[a] for a in kept),
        Kind.ARRAY if kept else Kind.SCALAR,
        _kept_order(trace, extents, kept, order),
    )
    value = source.value() if isinstance(source, TracedArray) else source
    builder = PayloadBuilder([value.type.dtype], [dtype])
    payload = builder.finish([builder.cast(0, dtype)])
    operand_map = IndexingMap(len(dims), tuple(AffineExpr.dim(dims.index(a)) for a in axes))
    trace.emit_generic(
        name,
        result,
        (GraphOperand(value, operand_map),),
        payload,
        domain=tuple(extents[a] for a in dims),
        reduced=tuple(dims.index(a) for a in over),
        init=Init(IndexingMap.select(len(dims), [dims.index(a) for a in kept]), combiner),
    )
    return result


def _kept_order(
    trace: Trace, extents: Mapping[int, AffineExpr], kept: Sequence[int], order: Sequence[int]
) -> Order:
    """The axis order of a reduction's result: that of its operand, the reduced axes left out."""
    long = [kept.index(a) for a in order if a in kept and trace.decisions.constant(extents[a]) != 1]
    return normal_order(arrange(long, len(kept)))


def arguments(name: str, a: Any, unsupported_arguments: dict[str, Any]) -> TracedArray:
    """The array that is reduced; arguments that are not traced must have their default."""
    for key, value in unsupported_arguments.items():
        if value is not NO_VALUE and not (key == "where" and value is True):
            remedy = _REMEDIES.get(key, MOVE_OUTSIDE)
            raise unsupported(f"calls np.{name} with {key}=, which is not traced", remedy)
    return array_from(a)


def of_out(wanted: np.dtype, dtype: Any, out: Any) -> np.dtype:
    """The dtype in which NumPy adds: that of ``out=``, if that is given and ``dtype=`` is not."""
    if isinstance(out, tuple):
        (out,) = out
    if dtype is not None or not isinstance(out, TracedArray) or out.dtype == wanted:
        return wanted
    if wanted.kind not in "iuf" or out.dtype.kind not in ("f" if wanted.kind == "f" else "iuf"):
        raise Fallback(f"numbers of {wanted} are added in {out.dtype}, that of out=")
    return out.dtype


def into(result: TracedArray, out: Any) -> TracedArray:
    """``result``, stored into ``out`` where given."""
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if out is None:
        return result
    if not isinstance(out, TracedArray):
        raise Fallback("out= is neither an argument nor an array that the function makes")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise numpy_raises("UFuncTypeError: cannot cast the result to the dtype of out")
    return store_result(result, out)


def one_axis(axis: Any, rank: int) -> int:
    """The axis counted from the first one; a function that takes one axis takes no bool."""
    if type(axis) is bool:
        raise numpy_raises("TypeError: an integer is required for the axis")
    return normalize_axis(axis, rank)


def is_true(keepdims: Any) -> bool:
    """Whether ``keepdims`` is given and true: of all numbers NumPy takes integers here."""
    if keepdims is NO_VALUE:
        return False
    kind = type(keepdims.value) if isinstance(keepdims, SymbolicNumber) else type(keepdims)
    if issubclass(kind, np.bool_) or not hasattr(kind, "__index__"):
        raise numpy_raises(f"TypeError: '{kind.__name__}' object is no integer")
    return bool(keepdims)


@primitive(np.sum, complex=True)
def sum_of(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> TracedArray:
    """``out[i] = sum_k a[i, k]`` in NumPy's accumulation dtype."""
    array = arguments("sum", a, {"initial": initial, "where": where})
    wanted = accumulate_dtype(array.dtype) if dtype is None else dtype_argument(dtype)
    wanted = of_out(wanted, dtype, out)
    combiner = "or" if wanted == BOOL else "add"
    return into(reduce_array(array, "sum", combiner, axis, is_true(keepdims), wanted, True), out)


def _extremum(name: str) -> Callable[..., TracedArray]:
    def extremum(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> TracedArray:
        array = arguments(name, a, {"initial": initial, "where": where})
        keeps = is_true(keepdims)
        return into(reduce_array(array, name, name, axis, keeps, array.dtype, False), out)

    extremum.__name__ = extremum.__qualname__ = f"{name}_of"
    extremum.__doc__ = f"``out[i] = {name}_k a[i, k]``; NaN if any is NaN."
    return extremum


max_of = primitive(np.max, np.amax)(_extremum("max"))
min_of = primitive(np.min, np.amin)(_extremum("min"))


def _truth(name: str, combiner: str) -> Callable[..., TracedArray]:
    def truth(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        *,
        where: Any = NO_VALUE,
    ) -> TracedArray:
        array = arguments(name, a, {"where": where})
        return into(reduce_array(array, name, combiner, axis, is_true(keepdims), BOOL, True), out)

    truth.__name__ = truth.__qualname__ = f"{name}_of"
    truth.__doc__ = f"Whether {name} elements are not zero."
    return truth


any_of = primitive(np.any, complex=True)(_truth("any", "or"))
all_of = primitive(np.all, complex=True)(_truth("all", "and"))


@primitive(np.mean, complex=True)
def mean_of(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
) -> TracedArray:
    """``sum / count``: integers are summed in float64, the quotient is taken in float64.

    Source: ``numpy._core._methods._mean``.
    """
    array = arguments("mean", a, {"where": where})
    count = count_of_elements(array, axis, "mean")
    wanted = mean_dtype(array, dtype, "mean")
    if array.dtype.kind == "f":
        wanted = of_out(wanted, dtype, out)
    total = reduce_array(array, "mean", "add", axis, is_true(keepdims), wanted, True)
    return into(quotient(total, count, "mean"), out)


def count_of_elements(array: TracedArray, axis: Any, name: str) -> Any:
    """How many elements a mean is taken over: an int or a number; falls back for none.

    Where it differs between iterations of a loop, a mean of none is NaN without NumPy's warning.
    """
    reduced = normalize_axes(axis, array.ndim)
    if not array.ndim and axis not in (None, ()):
        raise numpy_raises("AxisError: the array has no axes")
    count: Any = 1
    for axis_number in reduced:
        extent = array.extents[axis_number]
        count = count * affine_number(array.trace, extent)
        try:
            is_empty = array.trace.decisions.equal(extent, 0, f"{name} of an empty array")
        except Varies:
            continue
        if is_empty:
            raise numpy_warns(f"{name} of an empty slice")
    return count


def mean_dtype(array: TracedArray, dtype: Any, name: str) -> np.dtype:
    """The float dtype in which NumPy adds for a mean."""
    if dtype is None:
        return F64 if array.dtype.kind in "biu" else array.dtype
    wanted = dtype_argument(dtype)
    if wanted.kind not in "fc":
        what = f"calls np.{name} with dtype={wanted}, which is not traced"
        raise unsupported(what, f"take the {name} of floats and convert it with astype")
    return wanted


def quotient(
    total: TracedArray, count: Any, name: str, loop: np.dtype | None = None
) -> TracedArray:
    """``total / count`` computed in float64 or complex128, in the dtype of ``total``."""
    if loop is None:
        loop = C128 if total.dtype.kind == "c" else F64
    is_known = not isinstance(count, SymbolicNumber | TracedArray)
    divisor = operand_of(np.asarray(count)[()] if is_known else count)

    def divided(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.op("divide", refs, loop)

    order = total.storage.order
    return emit_elementwise(name, [total, divisor], [loop, loop], total.dtype, divided, order=order)


# ------------------------------------------------------------------------------- ufunc.reduce
def register_reduce(ufunc: np.ufunc, function: Any, sums: bool, dtype_of_result: Any) -> None:
    """``ufunc.reduce``: as the function of that name, but over the first axis by default."""

    def reduce(
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        operand = arguments(f"{ufunc.__name__}.reduce", array, {"initial": initial, "where": where})
        if sums:
            return function(operand, axis, dtype, out, keepdims)
        if dtype is not None and dtype_argument(dtype) != (dtype_of_result or operand.dtype):
            what = f"calls np.{ufunc.__name__}.reduce with dtype={np.dtype(dtype)}"
            raise unsupported(what, "convert the array with astype first")
        return function(operand, axis, out, keepdims)

    primitive(ufunc.reduce, complex=True)(reduce)


for _ufunc, _function, _sums, _dtype in (
    (np.add, sum_of, True, None),
    (np.maximum, max_of, False, None),
    (np.minimum, min_of, False, None),
    (np.logical_or, any_of, False, BOOL),
    (np.logical_and, all_of, False, BOOL),
):
    register_reduce(_ufunc, _function, _sums, _dtype)
