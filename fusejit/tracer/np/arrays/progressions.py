"""``np.arange``: arithmetic progressions, with NumPy's bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Operand as GraphOperand
from fusejit.ir.payload import PayloadBuilder
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.creation import natural_dtype
from fusejit.tracer.indexing.kernel_indices import bound_number, counted, scalar, symbol_of
from fusejit.tracer.ops.kernel_numbers import is_kernel_number
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.graph_scalars import scalar_value
from fusejit.tracer.values.operand_types import (
    BOOL,
    I64,
    dtype_argument,
    literal_as,
    number_ref,
    operand_of,
    require_number_fits,
)
from fusejit.tracer.values.symbolic_number import (
    SymbolicNumber,
    affine_number,
    apply_host,
    as_affine,
)


@primitive(np.arange)
def arange(*args: Any, dtype: Any = None, **kwargs: Any) -> TracedArray:
    """``np.arange([start,] stop[, step])``: ``start + i * ((start + step) - start)``."""
    names = {k: kwargs.pop(k) for k in ("start", "stop", "step") if k in kwargs}
    if kwargs.get("device") is None:
        kwargs.pop("device", None)
    if kwargs or not 1 <= len(args) + len(names) <= 4:
        what = f"np.arange with {', '.join(sorted(kwargs)) or 'these arguments'} is not traced"
        raise unsupported(what, "write np.arange(start, stop, step, dtype) instead")
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
    parts = [operand_of(p) for p in (start, stop, step)]
    trace = current_trace()
    start, stop, step = (_bound_number(trace, p) for p in (start, stop, step))
    if dtype is None:
        dtype = np.result_type(np.int64, *(natural_dtype(p) for p in parts))
    result_dtype = dtype_argument(dtype)
    if result_dtype.kind == "b":
        raise unsupported("np.arange of bools is not traced", "use integers and compare instead")
    if all(natural_dtype(p).kind in "iu" for p in parts):
        strong = [p.token for p in parts[:2] if isinstance(p.token, np.dtype)]
        is_from_zero = type(start) is int and start == 0
        if strong and not is_from_zero and np.result_type(*strong) != np.int64:
            what = "np.arange between integers of NumPy's, whose difference may wrap around"
            raise unsupported(what, "pass Python's: int(start)")
        extent = _int_length(trace, start, stop, step)
    else:
        extent = _float_length(trace, start, stop, step)
    return _progression(trace, extent, start, step, result_dtype)


def _bound_number(trace: Trace, number: Any) -> Any:
    """An integer of the kernel as a symbol, on which a size may depend."""
    if not isinstance(number, TracedArray):
        return number
    if not is_kernel_number(number) or number.dtype.kind not in "iu":
        what = "np.arange up to an element of an array that is not an integer"
        raise unsupported(what, "pass the size as a Python int")
    return affine_number(trace, symbol_of(trace, number))


def _int_length(trace: Trace, start: Any, stop: Any, step: Any) -> AffineExpr:
    decisions = trace.decisions
    stride = int(step)
    if stride == 0:
        raise numpy_raises("ZeroDivisionError: division by zero")
    length = as_affine(stop) - as_affine(start)
    if stride < 0:
        length, stride = -length, -stride
    try:
        if not decisions.nonnegative(length, "np.arange is not empty"):
            return AffineExpr.const(0)
    except Varies:
        return _varying_length(trace, length, stride)
    return decisions.canonical((length + (stride - 1)).floordiv(stride))


def _varying_length(trace: Trace, length: AffineExpr, stride: int) -> AffineExpr:
    """The length where it differs between iterations, as a symbol of its own."""

    def count(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        return counted(builder, ref(length), builder.const(stride, I64))

    return bound_number(trace, scalar(trace, "length", I64, count), AffineExpr.const(0), None)


def _float_length(trace: Trace, start: Any, stop: Any, step: Any) -> AffineExpr:
    try:
        count = (stop - start) / step
        if isinstance(count, SymbolicNumber):
            extent = as_affine(apply_host("ceil", apply_host("float", count)))
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
            inputs.append(GraphOperand(scalar_value(operand.number), IndexingMap.scalar(1)))
    builder = PayloadBuilder([i.value.type.dtype for i in inputs], [dtype])
    refs: list[int] = []
    free = iter(range(len(inputs)))
    for operand in operands:
        if operand.number is not None:
            refs.append(number_ref(builder, next(free), operand, dtype))
        else:
            refs.append(builder.const(literal_as(operand.literal, dtype), dtype))
    index = builder.index(AffineExpr.dim(0))

    def finished(ref: int) -> TracedArray:
        result = trace.new_value(dtype, (extent,))
        made = trace.emit_generic("arange", result, inputs, builder.finish([ref]))
        return TracedArray.of_value(trace, made)

    first, next_one = refs
    exact = dtype.kind in "iu"
    if operands[0].number is None and operands[1].number is None:
        a, b = dtype.type(literal_as(start, dtype)), dtype.type(literal_as(second, dtype))
        with np.errstate(all="ignore"):
            delta_value = b - a
            exact = exact or bool(a + delta_value == b)
        delta = builder.const(delta_value.item(), dtype)
        if exact and a == 0 and delta_value == 1:
            return finished(builder.cast(index, dtype))
    else:
        delta = builder.op("subtract", [next_one, first], dtype)
    result = builder.op(
        "add", [first, builder.op("multiply", [builder.cast(index, dtype), delta], dtype)], dtype
    )
    if not exact:
        one = builder.const(1, I64)
        is_one = builder.op("equal", [index, one], BOOL)
        result = builder.op("select", [is_one, next_one, result], dtype)
    return finished(result)
