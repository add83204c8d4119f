"""Arrays made from nothing, and copies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import GenericOp, Init
from fusejit.ir.graph import Operand as GraphOperand
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import IteratorType, Kind
from fusejit.tracer.array import TracedArray
from fusejit.tracer.context import current_trace
from fusejit.tracer.declined import numpy_raises
from fusejit.tracer.dispatch import handles
from fusejit.tracer.elementwise import Order, copy_of, full
from fusejit.tracer.locations import current_location
from fusejit.tracer.number import TracedNumber, apply_host, value_of
from fusejit.tracer.operands import (
    F64,
    I64,
    Operand,
    contains_traced,
    dtype_argument,
    literal_as,
    number_ref,
    operand_of,
    require_number_fits,
)
from fusejit.tracer.shapes import Extents
from fusejit.tracer.storage import Storage
from fusejit.tracer.trace import Trace


# ------------------------------------------------------------------------------- filled arrays
def shape_argument(trace: Trace, shape: Any) -> Extents:
    """The ``shape`` argument of a function that allocates."""
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    extents: list[AffineExpr] = []
    for size in sizes:
        if isinstance(size, TracedNumber):
            extent = trace.decisions.canonical(size.as_affine())
        elif isinstance(size, TracedArray):
            raise UnsupportedError(
                f"{current_location()}: a shape that is an element of an array is known only when "
                "the kernel runs"
            )
        else:
            try:
                extent = AffineExpr.const(size.__index__())
            except AttributeError as error:
                raise numpy_raises(f"TypeError: {size!r} is not a size") from error
        if not trace.decisions.nonnegative(extent, "a size is not negative"):
            raise numpy_raises("ValueError: negative dimensions are not allowed")
        extents.append(extent)
    return tuple(extents)


def order_argument(order: Any, rank: int) -> Order:
    """``order="C"`` or ``"F"`` as an axis order."""
    if order in ("C", None):
        return None
    if order == "F":
        return None if rank < 2 else tuple(range(rank))[::-1]
    raise UnsupportedError(f"{current_location()}: order={order!r} is not traced")


def _uninitialised(trace: Trace, extents: Extents, dtype: np.dtype, order: Order) -> TracedArray:
    storage = Storage(trace, dtype, extents)
    storage.order = order
    return TracedArray.whole(storage)


@handles(np.empty)
def empty(shape: Any, dtype: Any = float, order: Any = "C", **_: Any) -> TracedArray:
    """``np.empty``: memory whose contents are arbitrary until something is stored."""
    trace = current_trace()
    extents = shape_argument(trace, shape)
    return _uninitialised(
        trace, extents, dtype_argument(dtype), order_argument(order, len(extents))
    )


@handles(np.zeros)
def zeros(shape: Any, dtype: Any = float, order: Any = "C", **_: Any) -> TracedArray:
    """``np.zeros``."""
    return _filled(shape, 0, dtype, order)


@handles(np.ones)
def ones(shape: Any, dtype: Any = None, order: Any = "C", **_: Any) -> TracedArray:
    """``np.ones``."""
    return _filled(shape, 1, dtype, order)


@handles(np.full)
def full_of(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **_: Any
) -> TracedArray:
    """``np.full``; without ``dtype`` that of ``np.array(fill_value)``."""
    if dtype is None:
        dtype = natural_dtype(operand_of(fill_value))
    return _filled(shape, fill_value, dtype, order)


def natural_dtype(operand: Operand) -> np.dtype:
    """The dtype of ``np.array(operand)``."""
    if operand.is_weak_int:
        return I64
    dtype: np.dtype = F64 if operand.token is float else operand.token
    return dtype


def _filled(shape: Any, value: Any, dtype: Any, order: Any) -> TracedArray:
    trace = current_trace()
    extents = shape_argument(trace, shape)
    wanted = dtype_argument(dtype)
    return _fill(trace, extents, value, wanted, order_argument(order, len(extents)))


def _fill(trace: Trace, extents: Extents, value: Any, dtype: np.dtype, order: Order) -> TracedArray:
    operand = operand_of(value)
    result = full(trace, extents, operand, dtype, order)
    return result


def _like(
    prototype: Any, dtype: Any, order: Any, shape: Any
) -> tuple[Trace, Extents, np.dtype, Order]:
    trace = current_trace()
    array = operand_of(prototype).array
    if array is None:
        made = natural_dtype(operand_of(prototype)) if dtype is None else dtype_argument(dtype)
        return trace, () if shape is None else shape_argument(trace, shape), made, None
    wanted = array.dtype if dtype is None else dtype_argument(dtype)
    extents = array.extents if shape is None else shape_argument(trace, shape)
    if order == "K" and len(extents) == array.ndim:
        return trace, extents, wanted, array.sorted_order()
    return trace, extents, wanted, order_argument("C" if order == "K" else order, len(extents))


@handles(np.empty_like)
def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
) -> TracedArray:
    """``np.empty_like``."""
    return _uninitialised(*_like(prototype, dtype, order, shape))


@handles(np.zeros_like)
def zeros_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
) -> TracedArray:
    """``np.zeros_like``."""
    trace, extents, wanted, axes = _like(a, dtype, order, shape)
    return _fill(trace, extents, 0, wanted, axes)


@handles(np.ones_like)
def ones_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
) -> TracedArray:
    """``np.ones_like``."""
    trace, extents, wanted, axes = _like(a, dtype, order, shape)
    return _fill(trace, extents, 1, wanted, axes)


@handles(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
) -> TracedArray:
    """``np.full_like``."""
    trace, extents, wanted, axes = _like(a, dtype, order, shape)
    return _fill(trace, extents, fill_value, wanted, axes)


# --------------------------------------------------------------------------------------- arange
@handles(np.arange)
def arange(*args: Any, dtype: Any = None, **kwargs: Any) -> TracedArray:
    """``np.arange([start,] stop[, step])``: ``start + i * ((start + step) - start)``."""
    names = {k: kwargs.pop(k) for k in ("start", "stop", "step") if k in kwargs}
    if kwargs.get("device") is None:
        kwargs.pop("device", None)
    if kwargs or not 1 <= len(args) + len(names) <= 4:
        raise UnsupportedError(f"{current_location()}: np.arange with {sorted(kwargs)}")
    if len(args) == 4:
        *args, dtype = args  # type: ignore[assignment]
    if len(args) == 1 and "stop" not in names:
        start, stop, step = names.get("start", 0), args[0], names.get("step", 1)
    else:
        given = dict(zip(("start", "stop", "step"), args, strict=False)) | names
        start, stop, step = given.get("start", 0), given.get("stop"), given.get("step", 1)
        if stop is None:
            start, stop = 0, start
    start = 0 if start is None else start
    step = 1 if step is None else step
    if any(isinstance(p, TracedArray) for p in (start, stop, step)):
        raise UnsupportedError(
            f"{current_location()}: np.arange up to an element of an array: its size is known only "
            "when the kernel runs"
        )
    parts = [operand_of(p) for p in (start, stop, step)]
    if dtype is None:
        wanted = np.result_type(*(natural_dtype(p) for p in parts))
    else:
        wanted = dtype
    result_dtype = dtype_argument(wanted)
    if result_dtype.kind == "b":
        raise UnsupportedError(f"{current_location()}: np.arange of bools")
    trace = current_trace()
    if all(natural_dtype(p).kind in "iu" for p in parts):
        extent = _int_length(trace, start, stop, step)
    else:
        extent = _float_length(trace, start, stop, step)
    return _progression(trace, extent, start, step, result_dtype)


def _affine(number: Any) -> AffineExpr:
    if isinstance(number, TracedNumber):
        return number.as_affine()
    return AffineExpr.const(int(number))


def _int_length(trace: Trace, start: Any, stop: Any, step: Any) -> AffineExpr:
    decisions = trace.decisions
    stride = int(step)
    if stride == 0:
        raise numpy_raises("ZeroDivisionError: division by zero")
    length = _affine(stop) - _affine(start)
    if stride < 0:
        length, stride = -length, -stride
    if not decisions.nonnegative(length, "np.arange is not empty"):
        return AffineExpr.const(0)
    return decisions.canonical((length + (stride - 1)).floordiv(stride))


def _float_length(trace: Trace, start: Any, stop: Any, step: Any) -> AffineExpr:
    try:
        count = (stop - start) / step
        if isinstance(count, TracedNumber):
            number = apply_host("ceil", apply_host("float", count))
            extent = _affine(number)
        else:
            extent = AffineExpr.const(math.ceil(float(count)))
    except (ArithmeticError, ValueError) as error:
        raise numpy_raises(error) from error
    if not trace.decisions.nonnegative(extent, "np.arange is not empty"):
        return AffineExpr.const(0)
    return extent


def _progression(
    trace: Trace, extent: AffineExpr, start: Any, step: Any, dtype: np.dtype
) -> TracedArray:
    """Element 0 is start, 1 is start + step, i is start + i * delta, as NumPy's fill does it."""
    second = start + step
    operands = [operand_of(start), operand_of(second)]
    inputs: list[GraphOperand] = []
    for operand in operands:
        require_number_fits(operand, dtype)
        if operand.number is not None:
            inputs.append(GraphOperand(trace.scalar(operand.number), IndexingMap.scalar(1)))
    builder = PayloadBuilder([i.value.type.dtype for i in inputs], [dtype])
    refs: list[int] = []
    free = iter(range(len(inputs)))
    for operand in operands:
        if operand.number is not None:
            refs.append(number_ref(builder, next(free), operand, dtype))
        else:
            refs.append(builder.const(literal_as(operand.literal, dtype), dtype))
    index = builder.index(AffineExpr.dim(0))
    first, next_one = refs
    exact = dtype.kind in "iu"
    if isinstance(value_of(second), TracedNumber):
        raise AssertionError("nested numbers")
    if operands[0].number is None and operands[1].number is None:
        a, b = dtype.type(literal_as(start, dtype)), dtype.type(literal_as(second, dtype))
        with np.errstate(all="ignore"):
            delta_value = b - a
            exact = exact or bool(a + delta_value == b)
        delta = builder.const(delta_value.item(), dtype)
        if exact and a == 0 and delta_value == 1:
            return _emit_index(trace, extent, dtype, inputs, builder, builder.cast(index, dtype))
    else:
        delta = builder.op("subtract", [next_one, first], dtype)
    result = builder.op(
        "add", [first, builder.op("multiply", [builder.cast(index, dtype), delta], dtype)], dtype
    )
    if not exact:
        boolean = np.dtype(np.bool_)
        one = builder.const(1, I64)
        is_one = builder.op("equal", [index, one], boolean)
        result = builder.op("select", [is_one, next_one, result], dtype)
    return _emit_index(trace, extent, dtype, inputs, builder, result)


def _emit_index(
    trace: Trace,
    extent: AffineExpr,
    dtype: np.dtype,
    inputs: list[GraphOperand],
    builder: PayloadBuilder,
    ref: int,
) -> TracedArray:
    result = trace.new_value(dtype, (extent,))
    trace.emit(
        GenericOp(
            results=(result,),
            domain=result.type.extents,
            iterators=(IteratorType.PARALLEL,),
            inputs=tuple(inputs),
            inits=(Init(IndexingMap.identity(1)),),
            payload=builder.finish([ref]),
            name="arange",
        )
    )
    return TracedArray.of_value(trace, result)


# --------------------------------------------------------------------------------------- copies
@handles("astype", np.astype)
def astype(
    x: Any,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: Any = True,
    copy: Any = True,
    **_: Any,
) -> TracedArray:
    """``x.astype(dtype)``."""
    array = operand_of(x).array
    wanted = dtype_argument(dtype)
    if array is None:
        return full(current_trace(), (), operand_of(x), wanted, None, "astype")[()]
    if not np.can_cast(array.dtype, wanted, casting):
        raise numpy_raises(f"TypeError: cannot cast {array.dtype} to {wanted} with {casting}")
    if not copy and array.dtype == wanted and order == "K":
        return array
    return copy_of(array, wanted, _copy_order(array, order), "astype")


def _copy_order(array: TracedArray, order: Any) -> Order:
    return array.sorted_order() if order == "K" else order_argument(order, array.ndim)


@handles("copy")
def copy_method(x: TracedArray, order: Any = "C") -> TracedArray:
    """``x.copy()``."""
    return copy_of(x, x.dtype, _copy_order(x, order), "copy")


@handles(np.copy)
def copy_function(a: Any, order: Any = "K", subok: Any = False) -> TracedArray:
    """``np.copy(x)``: an array, of a scalar too."""
    if not contains_traced(a):
        a = operand_of(np.asarray(a)).array
    array = _as_array(a)
    return copy_of(array, array.dtype, _copy_order(array, order), "copy", Kind.ARRAY)


@handles(np.array)
def array_of(
    object: Any,  # noqa: A002 - NumPy's name
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: int = 0,
    like: Any = None,
) -> TracedArray:
    """``np.array(x)``: a copy of an array, or static data as a fresh array."""
    if ndmin or like is not None:
        raise UnsupportedError(f"{current_location()}: np.array with ndmin= or like=")
    if not contains_traced(object) and not isinstance(object, np.ndarray):
        try:
            made = np.array(object, dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise numpy_raises(error) from error
        dtype_argument(made.dtype)
        if made.ndim == 0:
            return full(current_trace(), (), operand_of(made[()]), made.dtype, None, "array")
        object = made  # noqa: A001
    array = _as_array(object)
    wanted = array.dtype if dtype is None else dtype_argument(dtype)
    if copy in (None, False) and wanted == array.dtype and array.kind is Kind.ARRAY:
        return array
    return copy_of(array, wanted, _copy_order(array, order), "copy", Kind.ARRAY)


@handles(np.asarray, np.asanyarray)
def as_array(a: Any, dtype: Any = None, order: Any = None, **_: Any) -> TracedArray:
    """``np.asarray(x)``: the array itself where nothing has to change."""
    if order not in (None, "K"):
        raise UnsupportedError(f"{current_location()}: np.asarray with order={order!r}")
    return array_of(a, dtype, copy=None)


def _as_array(obj: Any) -> TracedArray:
    operand = operand_of(obj)
    if operand.array is not None:
        return operand.array
    dtype = natural_dtype(operand)
    if operand.number is not None and operand.is_weak_int:
        dtype = I64
    return full(current_trace(), (), operand, dtype, None, "array")


