"""Arrays made from nothing, and copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind
from fusejit.tracer.array import TracedArray
from fusejit.tracer.axis_order import Order
from fusejit.tracer.context import current_trace
from fusejit.tracer.declined import numpy_raises
from fusejit.tracer.dispatch import HANDLERS, handles
from fusejit.tracer.elementwise import copy_of, full
from fusejit.tracer.locations import unsupported
from fusejit.tracer.number import TracedNumber
from fusejit.tracer.operands import (
    C128,
    F64,
    I64,
    Operand,
    contains_traced,
    dtype_argument,
    operand_of,
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
            if size.ndim or size.dtype.kind not in "iu":
                raise numpy_raises("TypeError: an array is no size")
            extents.append(HANDLERS["size_of_kernel"](trace, size))
            continue
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
    raise unsupported(f"order={order!r} is not traced", "use order='C', 'F' or 'K'")


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
    if operand.token is complex:
        return C128
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


@handles("scalar")
def scalar_of(number: TracedNumber) -> TracedArray:
    """A NumPy scalar from outside as an array of rank 0 that is handed out as a scalar."""
    operand = operand_of(number)
    return full(current_trace(), (), operand, operand.token, None, "scalar")[()]


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
        a = current_trace().constant(np.asarray(a))
    array = array_from(a)
    return copy_of(array, array.dtype, _copy_order(array, order), "copy", Kind.ARRAY)


@handles(np.array)
def array_of(
    object: Any,
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
        what = "calls np.array with ndmin= or like=, which are not traced"
        raise unsupported(what, "write x[None, ...] for new axes")
    if not contains_traced(object) and not isinstance(object, np.ndarray):
        try:
            made = np.array(object, dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise numpy_raises(error) from error
        dtype_argument(made.dtype)
        if made.ndim == 0:
            return full(current_trace(), (), operand_of(made[()]), made.dtype, None, "array")
        object = current_trace().constant(made)
    if isinstance(object, list | tuple) and contains_traced(object):
        return _of_list(object, dtype, order)
    array = array_from(object)
    wanted = array.dtype if dtype is None else dtype_argument(dtype)
    if copy in (None, False) and wanted == array.dtype and array.kind is Kind.ARRAY:
        return array
    return copy_of(array, wanted, _copy_order(array, order), "copy", Kind.ARRAY)


def _of_list(items: Any, dtype: Any, order: Any) -> TracedArray:
    """An array of a list with traced values in it: fresh already, in C order."""
    wanted = None if dtype is None else dtype_argument(dtype)
    made: TracedArray = HANDLERS["array of a list"](items, wanted)
    axes = None if order == "K" else order_argument(order, made.ndim)
    return made if axes is None else copy_of(made, made.dtype, axes, "copy", Kind.ARRAY)


@handles(np.asarray, np.asanyarray)
def as_array(a: Any, dtype: Any = None, order: Any = None, **_: Any) -> TracedArray:
    """``np.asarray(x)``: the array itself where nothing has to change."""
    if order not in (None, "K"):
        what = f"calls np.asarray with order={order!r}, which is not traced"
        raise unsupported(what, "use np.array(x, order=...), which copies")
    return array_of(a, dtype, copy=None)


def array_from(obj: Any) -> TracedArray:
    """The array that a function is given; a number as a 0-d array."""
    operand = operand_of(obj)
    if operand.array is not None:
        return operand.array
    dtype = natural_dtype(operand)
    if operand.number is not None and operand.is_weak_int:
        dtype = I64
    return full(current_trace(), (), operand, dtype, None, "array")
