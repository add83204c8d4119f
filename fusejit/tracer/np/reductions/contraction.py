"""Matrix products: ``out[.., m, n] = sum_k a[.., m, k] * b[.., k, n]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Init
from fusejit.ir.ops import Operand as GraphOperand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.reshape_functions import is_contiguous, without_ones
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc
from fusejit.tracer.ops.axis_order import Order, result_order
from fusejit.tracer.ops.stores import store_result
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.broadcasting import broadcast, broadcast_map
from fusejit.tracer.values.operand_types import (
    Operand,
    contains_traced,
    dtype_argument,
    operand_of,
    resolve,
    supported,
)


@primitive(np.matmul)
def matmul(
    x1: Any, x2: Any, out: Any = None, dtype: Any = None, **kwargs: Any
) -> TracedArray | Any:
    """``a @ b`` for 1-D, 2-D and stacked operands."""
    if kwargs:
        what = f"np.matmul with {', '.join(sorted(kwargs))} is not traced"
        raise unsupported(what, "write a @ b and convert the result")
    if out is None and not contains_traced([x1, x2]):
        return NotImplemented
    operands = [operand_of(x1), operand_of(x2)]
    if any(not o.extents for o in operands):
        raise numpy_raises("ValueError: matmul: input operand does not have enough dimensions")
    wanted = None if dtype is None else dtype_argument(dtype)
    if wanted is not None and wanted.kind == "c":
        raise unsupported(f"a matrix product in {wanted}", "convert the operands with astype")
    loop = resolve(np.matmul, operands, wanted)[-1]
    result = _product(*_arrays(operands), loop)
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, TracedArray):
        raise Fallback("out= is neither an argument nor an array that the function makes")
    if not np.can_cast(loop, out.dtype, "same_kind"):
        raise numpy_raises("UFuncTypeError: cannot cast the product to the dtype of out")
    return store_result(result, out)


@primitive(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """``np.dot`` for operands of rank 0, 1 and 2."""
    if out is None and not contains_traced([a, b]):
        return NotImplemented
    result = _dot(a, b)
    if out is None:
        return result
    if not isinstance(out, TracedArray):
        raise Fallback("out= is neither an argument nor an array that the function makes")
    if out.dtype != result.dtype or out.ndim != result.ndim:
        raise numpy_raises("ValueError: output array is not acceptable")
    if not out.ndim or not is_contiguous(without_ones(out)):  # NumPy returns a scalar of rank 0
        raise Fallback("np.dot with an out= of rank 0, or that is not in C order")
    return store_result(result, out)


def _dot(a: Any, b: Any) -> Any:
    operands = [operand_of(a), operand_of(b)]
    if any(not o.extents for o in operands):  # Python numbers count as int64 and float64
        return apply_ufunc(np.multiply, (array_from(a), array_from(b)))
    if len(operands[1].extents) > 2:
        raise unsupported("np.dot of an array of rank 3 is not traced", "use np.matmul instead")
    dtype = supported(np.result_type(*(o.token for o in operands)))
    return _product(*_arrays(operands), dtype)


def _arrays(operands: list[Operand]) -> tuple[TracedArray, TracedArray]:
    left, right = (o.array for o in operands)
    assert left is not None
    assert right is not None
    return left, right


def _product(left: TracedArray, right: TracedArray, dtype: np.dtype) -> TracedArray:
    trace = left.trace
    decisions = trace.decisions
    depth, other = left.extents[-1], right.extents[-2 if right.ndim > 1 else 0]
    reason = "the inner extents of a matrix product are equal"
    if not decisions.checked_equal(depth, other, reason, or_raises=True):
        raise numpy_raises("ValueError: matmul: mismatch in its core dimension")
    stacks = [left.extents[:-2], right.extents[:-2]]
    stack = broadcast(decisions, stacks)
    rows = left.extents[-2:-1]
    columns = right.extents[-1:] if right.ndim > 1 else ()
    outer = tuple(map(decisions.canonical, (*stack, *rows, *columns)))
    if outer and dtype.kind == "f":  # BLAS multiplies numbers of one dtype
        left, right = (x if x.dtype == dtype else astype(x, dtype) for x in (left, right))
    rank = len(outer) + 1
    k = rank - 1
    domain = (*outer, decisions.canonical(depth))

    def stacked(array: TracedArray, core: tuple[int, ...]) -> IndexingMap:
        batch = (
            broadcast_map(decisions, array.extents[: -len(core)], stack)
            if (array.ndim > 2)
            else IndexingMap.scalar(len(stack))
        )
        return IndexingMap(rank, (*batch.results, *map(AffineExpr.dim, core)))

    row = len(stack)
    column = row + len(rows)
    inputs = (
        GraphOperand(left.value(), stacked(left, (row, k) if rows else (k,))),
        GraphOperand(right.value(), stacked(right, (k, column) if columns else (k,))),
    )
    builder = PayloadBuilder([left.dtype, right.dtype], [dtype])
    product = builder.op("multiply", [builder.cast(0, dtype), builder.cast(1, dtype)], dtype)
    result = trace.new_value(
        dtype, outer, Kind.ARRAY if outer else Kind.SCALAR, _stack_order(left, right, len(outer))
    )
    is_float = dtype.kind == "f"
    call = f"np.errstate(**{trace.errstate})(matmul)" if trace.errstate else "matmul"
    trace.emit_generic(
        "matmul",
        result,
        inputs,
        builder.finish([product]),
        domain=domain,
        reduced=(k,),
        init=Init(IndexingMap.select(rank, range(k)), "or" if dtype.kind == "b" else "add"),
        library_call=call if is_float and left.dtype == right.dtype == dtype else None,
    )
    return TracedArray.of_value(trace, result)


def _stack_order(left: TracedArray, right: TracedArray, rank: int) -> Order:
    """The stacked axes in K order of the operands, the matrices themselves in C order."""
    core = 2 if min(left.ndim, right.ndim) > 1 else 1
    if max(left.ndim, right.ndim) - 2 < 2:
        return None
    stacked = [_without_core(a) for a in (left, right) if a.ndim > 2]
    stack = broadcast(left.trace.decisions, [a.extents for a in stacked])
    order = result_order(left.trace, stacked, stack)
    return None if order is None else (*order, *range(len(order), len(order) + core))


def _without_core(array: TracedArray) -> TracedArray:
    """The first matrix elements of a stack, as the array over the stacked axes."""
    rank = array.ndim - 2
    zeros = (AffineExpr.const(0),) * 2
    chosen = IndexingMap(rank, (*map(AffineExpr.dim, range(rank)), *zeros))
    return array.view(chosen, array.extents[:-2])
