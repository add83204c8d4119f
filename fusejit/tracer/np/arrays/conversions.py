"""Arrays of a given dtype, order and rank: `np.array`, `np.asarray`, `np.require`, copies.

Each is a copy of its argument, or the very argument where that has all that is asked for.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.basic import require_int_fits
from fusejit.tracer.indexing.creation import array_from, order_argument, require_cpu
from fusejit.tracer.indexing.reshape_functions import is_in_order, resolved_order
from fusejit.tracer.indexing.view_functions import with_leading_axes
from fusejit.tracer.np.arrays.joins import array_of_list
from fusejit.tracer.ops.axis_order import Order
from fusejit.tracer.ops.elementwise_op import copy_of, full
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.guards import is_converted_by_user_code
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.masked import as_array as with_selected
from fusejit.tracer.values.operand_types import (
    can_cast,
    contains_traced,
    dtype_argument,
    operand_of,
)

_ORDERS = ("K", "A", "C", "F")
_MAX_AXES = 64
_FLAGS = {
    flag: names[0]
    for names in (
        ("C", "C_CONTIGUOUS", "CONTIGUOUS"),
        ("F", "F_CONTIGUOUS", "FORTRAN"),
        ("A", "ALIGNED"),
        ("W", "WRITEABLE"),
        ("O", "OWNDATA"),
        ("E", "ENSUREARRAY"),
    )
    for flag in names
}


def _order(order: Any, default: str = "K") -> str:
    """``order=`` as one of `_ORDERS`."""
    if order is None:
        return default
    if not isinstance(order, str) or order.upper() not in _ORDERS:
        raise numpy_raises(f"ValueError: order must be one of 'C', 'F', 'A', or 'K' ({order!r})")
    return order.upper()


def axes_of_order(array: TracedArray, order: Any) -> Order:
    """The axis order of a copy of ``array`` that is asked for in ``order``."""
    order = _order(order)
    if order == "K":
        return array.sorted_order()
    return order_argument(resolved_order(array, order), array.ndim)


def axes_of_contiguous_order(array: TracedArray) -> Order:
    """The axis order of a contiguous array, for an array of another shape.

    Axes of length 1 have a say in that of other arrays: their strides are compared too.
    """
    if array.ndim < 2 or is_in_order(array, "C"):
        return None
    if not is_in_order(array, "F"):
        raise unsupported(
            "gives another shape to what is made like an array with gaps", 'pass order="C"'
        )
    return order_argument("F", array.ndim)


def _is_ordered(array: TracedArray, order: Any) -> bool:
    """Whether an array has what ``order`` asks for already."""
    order = _order(order)
    return order in ("K", "A") or is_in_order(array, order)


# ---------------------------------------------------------------------------------------- copies
@primitive(np.ndarray.astype, np.astype, complex=True)
def astype(
    x: Any,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: Any = True,
    copy: Any = True,
    device: Any = None,
) -> TracedArray:
    """``x.astype(dtype)``."""
    require_cpu(device)
    array = operand_of(x).array
    wanted = dtype_argument(dtype)
    if array is None:
        return full((), operand_of(x), wanted, name="astype")[()]
    if not can_cast(array.dtype, wanted, casting):
        raise numpy_raises(f"TypeError: cannot cast {array.dtype} to {wanted} with {casting}")
    if not copy and array.dtype == wanted and _is_ordered(array, order):
        return array
    return copy_of(array, wanted, axes_of_order(array, order), "astype")


@primitive(np.ndarray.copy, complex=True)
def copy_method(x: TracedArray, order: Any = "C") -> TracedArray:
    """``x.copy()``."""
    return copy_of(x, x.dtype, axes_of_order(x, order), "copy")


@primitive(np.copy, complex=True)
def copy_function(a: Any, order: Any = "K", subok: Any = False) -> TracedArray:
    """``np.copy(x)``: an array, of a scalar too."""
    a = with_selected(a)
    if not contains_traced(a):
        a = current_trace().captured_reads.constant(np.asarray(a))
    array = array_from(a)
    return copy_of(array, array.dtype, axes_of_order(array, order), "copy", Kind.ARRAY)


# ---------------------------------------------------------------------------------------- arrays
@primitive(np.array, complex=True)
def array_of(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: Any = 0,
    ndmax: Any = 0,
    like: Any = None,
) -> TracedArray:
    """``np.array(x)``: a copy of an array, or static data as a fresh array."""
    object = with_selected(object)
    if like is not None or (ndmax and not isinstance(object, TracedArray)):
        raise unsupported("calls np.array with like= or ndmax=", "leave it out")
    rank = operator.index(ndmin)
    if not 0 <= rank <= _MAX_AXES:
        raise numpy_raises(f"ValueError: ndmin={rank}")
    return with_leading_axes(_converted(object, dtype, copy, _order(order)), rank)


def require_dtype_of_items(obj: Any, array: TracedArray, wanted: np.dtype) -> None:
    """Leave a list to Python whose items are converted one by one, with checks of their own."""
    if isinstance(obj, TracedContainer) and wanted != array.dtype:
        what = f"makes an array of {wanted} of a list of {array.dtype}"
        raise needs_python(what, "convert it afterwards: np.array(xs).astype(..)")


def _converted(obj: Any, dtype: Any, copy: Any, order: str) -> TracedArray:
    """An array with the dtype and order that are asked for; ``copy`` as in `np.array`."""
    mode = getattr(np, "_CopyMode", None)  # SciPy asks with it for a copy where one is needed
    if mode is not None and isinstance(copy, mode):
        copy = {mode.ALWAYS: True, mode.NEVER: False, mode.IF_NEEDED: None}[copy]
    if not contains_traced(obj) and not isinstance(obj, np.ndarray):
        _require_plain_items(obj)
        try:
            made = np.array(obj, dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise numpy_raises(error) from error
        dtype_argument(made.dtype)
        if made.ndim == 0:
            return full((), operand_of(made[()]), made.dtype, name="array")
        obj = current_trace().captured_reads.constant(made)
    if isinstance(obj, list | tuple) and contains_traced(obj):
        return _of_list(obj, dtype, order)
    if isinstance(obj, TracedContainer) and dtype is not None:
        array = obj.as_array(dtype_argument(dtype))
        require_dtype_of_items(obj, array, dtype_argument(dtype))
        obj = array
    array = array_from(obj)
    wanted = array.dtype if dtype is None else dtype_argument(dtype)
    operand = operand_of(obj)
    require_int_fits(operand, wanted)
    if operand.array is None:  # known before the kernel runs
        array = full((), operand, wanted, name="array")
    if copy is None or (not copy and type(copy) is bool):
        if wanted == array.dtype and wanted.char != array.dtype.char:
            raise unsupported(f"{array.dtype.name} seen as {wanted.name}", "leave the dtype out")
        if wanted == array.dtype and array.kind is Kind.ARRAY and _is_ordered(array, order):
            return array
        if copy is not None:
            raise numpy_raises("ValueError: Unable to avoid copy while creating an array")
    if wanted == array.dtype:
        wanted = array.dtype  # a copy of longlong is not int64
    return copy_of(array, wanted, axes_of_order(array, order), "copy", Kind.ARRAY)


def _require_plain_items(obj: Any) -> None:
    """Leave an array to Python if making it runs the user's code, which may meet traced values."""
    for item in obj if isinstance(obj, list | tuple) else (obj,):
        if type(item) in (list, tuple):
            _require_plain_items(item)
        elif is_converted_by_user_code(type(item)):
            what = f"makes an array of objects of class {type(item).__name__}"
            raise needs_python(what, "make it of the numbers that they hold")


def _of_list(items: Any, dtype: Any, order: str) -> TracedArray:
    """An array of a list with traced values in it: fresh already, in C order."""
    wanted = None if dtype is None else dtype_argument(dtype)
    made: TracedArray = array_of_list(items, wanted)
    axes = order_argument("F" if order == "F" else "C", made.ndim)
    return made if axes is None else copy_of(made, made.dtype, axes, "copy", Kind.ARRAY)


@primitive(np.asarray, np.asanyarray, complex=True)
def as_array(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: Any = None,
    like: Any = None,
) -> TracedArray:
    """``np.asarray(x)``: the array itself where nothing has to change."""
    require_cpu(device)
    return array_of(a, dtype, copy=copy, order=order, like=like)


@primitive(np.ascontiguousarray, complex=True)
def in_c_order(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """``np.ascontiguousarray``: of at least one axis, the array itself if it is in C order."""
    return _of_one_axis(a, dtype, "C", like)


@primitive(np.asfortranarray, complex=True)
def in_fortran_order(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """``np.asfortranarray``: the array itself if its transpose is in C order."""
    return _of_one_axis(a, dtype, "F", like)


def _of_one_axis(a: Any, dtype: Any, order: str, like: Any) -> Any:
    a = with_selected(a)
    if not contains_traced(a):
        return NotImplemented
    return array_of(a, dtype, copy=None, order=order, ndmin=1, like=like)


@primitive(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """``np.require``: the array itself if it is in the order that is asked for, else a copy.

    Source: ``numpy._core._asarray.require``.
    """
    a = with_selected(a)
    if not contains_traced(a):
        return NotImplemented
    try:
        asked = {_FLAGS[flag.upper()] for flag in requirements or ()}
    except (KeyError, AttributeError) as error:
        raise numpy_raises(error) from error
    if asked >= {"C", "F"}:
        raise numpy_raises('ValueError: Cannot specify both "C" and "F" order')
    order = "C" if "C" in asked else "F" if "F" in asked else "A"
    array = array_of(a, dtype, copy=None, order=order, like=like)
    is_callers = array.storage.root.array is not None
    if asked & {"O", "W"} and (is_callers or not array.is_whole or array.access):
        what = "np.require asks whether an array of the caller's owns its memory or is writeable"
        raise unsupported(what, MOVE_OUTSIDE)
    return array
