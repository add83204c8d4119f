"""Arrays made from nothing, and numbers as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.kernel_indices import size_of_kernel
from fusejit.tracer.ops.axis_order import Order
from fusejit.tracer.ops.elementwise_op import full
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import C128, F64, I64, Operand, dtype_argument, operand_of
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber, as_affine


# ------------------------------------------------------------------------------- filled arrays
def shape_argument(shape: Any) -> Extents:
    """The ``shape`` argument of a function that allocates."""
    trace = current_trace()
    if shape is True or shape is False:
        raise numpy_raises(f"TypeError: {shape} is no size")
    sizes = tuple(shape) if isinstance(shape, tuple | list | range) else (shape,)
    if isinstance(shape, TracedArray) and shape.ndim == 1 and shape.dtype.kind in "iu":
        rank = trace.decisions.exactly(shape.extents[0], "an array is a shape")
        sizes = tuple(shape[axis] for axis in range(rank))
    extents: list[AffineExpr] = []
    for size in sizes:
        if isinstance(size, TracedArray):
            if size.ndim or size.dtype.kind not in "iu":
                raise numpy_raises("TypeError: an array is no size")
            extents.append(size_of_kernel(trace, size))
            continue
        extent = trace.decisions.canonical(as_affine(size, "TypeError: {0!r} is not a size"))
        if not trace.decisions.nonnegative(extent, "a size is not negative"):
            raise numpy_raises("ValueError: negative dimensions are not allowed")
        extents.append(extent)
    return tuple(extents)


def order_argument(order: Any, rank: int) -> Order:
    """``order="C"`` or ``"F"`` as an axis order."""
    if order in ("C", "c", None):
        return None
    if order in ("F", "f"):
        return None if rank < 2 else tuple(range(rank))[::-1]
    raise numpy_raises(f"ValueError: order must be 'C' or 'F' (got {order!r})")


def uninitialised(extents: Extents, dtype: np.dtype, order: Order) -> TracedArray:
    """An array about which nothing is known."""
    storage = Storage(current_trace(), dtype, extents)
    storage.order = order
    return TracedArray.whole(storage)


@primitive(np.empty, complex=True)
def empty(shape: Any, dtype: Any = float, order: Any = "C", **others: Any) -> TracedArray:
    """``np.empty``: memory whose contents are arbitrary until something is stored."""
    require_cpu(**others)
    extents = shape_argument(shape)
    return uninitialised(extents, dtype_argument(dtype), order_argument(order, len(extents)))


@primitive(np.zeros, complex=True)
def zeros(shape: Any, dtype: Any = float, order: Any = "C", **others: Any) -> TracedArray:
    """``np.zeros``."""
    require_cpu(**others)
    return _filled(shape, 0, dtype, order)


@primitive(np.ones, complex=True)
def ones(shape: Any, dtype: Any = None, order: Any = "C", **others: Any) -> TracedArray:
    """``np.ones``."""
    require_cpu(**others)
    return _filled(shape, 1, dtype, order)


@primitive(np.full, complex=True)
def full_of(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **others: Any
) -> TracedArray:
    """``np.full``; without ``dtype`` that of ``np.array(fill_value)``."""
    require_cpu(**others)
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
    extents = shape_argument(shape)
    axes = order_argument(order, len(extents))
    return full(extents, operand_of(value), dtype_argument(dtype), axes)


def require_cpu(device: Any = None, like: Any = None) -> None:
    """Decline any other device: NumPy has an error for it."""
    if device not in (None, "cpu"):
        raise numpy_raises("ValueError: Device not understood")


def scalar_of(number: SymbolicNumber) -> TracedArray:
    """A NumPy scalar from outside as an array of rank 0 that is handed out as a scalar."""
    operand = operand_of(number)
    return full((), operand, operand.token, name="scalar")[()]


def array_from(obj: Any) -> TracedArray:
    """The array that a function is given; a number as a 0-d array."""
    operand = operand_of(obj)
    if operand.array is not None:
        return operand.array
    return full((), operand, natural_dtype(operand), name="array")
