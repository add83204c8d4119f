"""Arrays made like others: `np.empty_like`, `np.zeros_like`, `np.ones_like`, `np.full_like`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.indexing.creation import (
    natural_dtype,
    order_argument,
    require_cpu,
    shape_argument,
    uninitialised,
)
from fusejit.tracer.np.arrays.conversions import axes_of_contiguous_order, axes_of_order
from fusejit.tracer.ops.axis_order import Order
from fusejit.tracer.ops.elementwise_op import full
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import dtype_argument, operand_of


def _like(prototype: Any, dtype: Any, order: Any, shape: Any) -> tuple[Extents, np.dtype, Order]:
    operand = operand_of(prototype)
    array = operand.array
    own = natural_dtype(operand) if array is None else array.dtype
    wanted = own if dtype is None else dtype_argument(dtype)
    extents = operand.extents if shape is None else shape_argument(shape)
    if array is None:
        return extents, wanted, None
    if order in ("K", "A", "k", "a") and len(extents) == array.ndim:
        if shape is not None and order in ("K", "k"):
            return extents, wanted, axes_of_contiguous_order(array)
        return extents, wanted, axes_of_order(array, order)
    order = "C" if order in ("K", "A", "k", "a") else order
    return extents, wanted, order_argument(order, len(extents))


@primitive(np.empty_like, complex=True)
def empty_like(
    prototype: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> TracedArray:
    """``np.empty_like``."""
    require_cpu(device)
    return uninitialised(*_like(prototype, dtype, order, shape))


def _filled_like(number: int) -> Callable[..., TracedArray]:
    """``np.zeros_like`` and ``np.ones_like``."""

    def like(
        a: Any,
        dtype: Any = None,
        order: Any = "K",
        subok: Any = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> TracedArray:
        return full_like(a, number, dtype, order, shape=shape, device=device)

    like.__name__ = like.__qualname__ = "ones_like" if number else "zeros_like"
    return like


zeros_like = primitive(np.zeros_like, complex=True)(_filled_like(0))


ones_like = primitive(np.ones_like, complex=True)(_filled_like(1))


@primitive(np.full_like, complex=True)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> TracedArray:
    """``np.full_like``."""
    require_cpu(device)
    extents, wanted, axes = _like(a, dtype, order, shape)
    return full(extents, operand_of(fill_value), wanted, axes)
