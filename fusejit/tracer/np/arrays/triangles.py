"""Matrices made by comparing subscripts: ``eye``, ``tri``, ``tril``, ``triu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.creation import order_argument, shape_argument
from fusejit.tracer.indexing.view_functions import array_operand
from fusejit.tracer.ops.axis_order import Order
from fusejit.tracer.ops.elementwise_op import emit_elementwise
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, contains_traced, dtype_argument
from fusejit.tracer.values.symbolic_number import as_affine


def offset_of(k: Any) -> AffineExpr:
    """The number of a diagonal."""
    if isinstance(k, TracedArray):
        what = "a diagonal whose number is an element of an array is not traced"
        raise unsupported(what, "pass its number as a Python int")
    return as_affine(k, "TypeError: {0!r} is not the number of a diagonal")


def compared(
    comparison: str, rows: Any, columns: Any, k: Any, dtype: Any, order: Order
) -> TracedArray:
    """``out[i, j] = (i + k) comparison j``, as 0 and 1 of ``dtype``."""
    extents = shape_argument((rows, rows if columns is None else columns))
    shifted = AffineExpr.dim(0) + offset_of(k)

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        pair = [builder.index(shifted), builder.index(AffineExpr.dim(1))]
        return builder.op(comparison, pair, BOOL)

    wanted = dtype_argument(dtype)
    name = "tri" if comparison == "greater_equal" else "eye"
    return emit_elementwise(
        name, [], [], wanted, compute, extents=extents, kind=Kind.ARRAY, order=order
    )


@primitive(np.eye)
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", **others: Any
) -> Any:
    """``np.eye``: ones on a diagonal."""
    if not contains_traced([N, M, k]) or any(v is not None for v in others.values()):
        return NotImplemented
    return compared("equal", N, M, k, dtype, order_argument(order, 2))


@primitive(np.identity)
def identity(n: Any, dtype: Any = None, **others: Any) -> Any:
    """``np.identity``."""
    return eye(n, dtype=float if dtype is None else dtype, **others)


@primitive(np.tri)
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, **others: Any) -> Any:
    """``np.tri``: ones at and below a diagonal."""
    if not contains_traced([N, M, k]) or any(v is not None for v in others.values()):
        return NotImplemented
    return compared("greater_equal", N, M, k, dtype, None)


def _triangle(m: Any, k: Any, is_lower: bool) -> TracedArray:
    array = array_operand(m)
    if not array.ndim:
        raise numpy_raises("TypeError: tri() takes the sizes of a matrix")
    shape = array.shape[-2:]
    below = k if is_lower else k - 1
    columns = shape[1] if len(shape) > 1 else None
    mask = compared("greater_equal", shape[0], columns, below, BOOL, None)
    nothing = PRIMITIVES[np.zeros](1, array.dtype)
    choices = (array, nothing) if is_lower else (nothing, array)
    result: TracedArray = PRIMITIVES[np.where](mask, *choices)
    return result


@primitive(np.tril, complex=True)
def tril(m: Any, k: Any = 0) -> Any:
    """``np.tril``: zeros above a diagonal of the last two axes."""
    return _triangle(m, k, True) if contains_traced([m, k]) else NotImplemented


@primitive(np.triu, complex=True)
def triu(m: Any, k: Any = 0) -> Any:
    """``np.triu``: zeros below a diagonal of the last two axes."""
    return _triangle(m, k, False) if contains_traced([m, k]) else NotImplemented
