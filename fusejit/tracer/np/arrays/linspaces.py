"""Evenly spaced numbers: ``linspace``, ``logspace``, ``geomspace``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.creation import array_from, shape_argument
from fusejit.tracer.indexing.view_functions import moveaxis, normalize_axis
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc, call_ufunc
from fusejit.tracer.ops.elementwise_op import emit_elementwise
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import (
    BOOL,
    I64,
    contains_traced,
    dtype_argument,
    operand_of,
    supported,
)
from fusejit.tracer.values.symbolic_number import affine_number, is_host_number
from fusejit.tracer.values.traced_primitives import primitive_of


def _ends(start: Any, stop: Any) -> tuple[TracedArray, TracedArray, np.dtype]:
    """Both ends as NumPy computes with them, in the dtype of the computation; and that dtype."""
    operands = [operand_of(start), operand_of(stop)]
    computed = supported(np.result_type(*(e.promotion for e in operands), 0.0))
    arrays = map(array_from, (start, stop))
    given, last = (a if a.dtype == computed else astype(a, computed) for a in arrays)
    return given, last, computed


@primitive(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    **others: Any,
) -> Any:
    """``np.linspace``: ``start + i * ((stop - start) / (num - 1))``, the last one ``stop`` itself.

    Source: ``numpy._core.function_base.linspace``.
    """
    if not contains_traced([start, stop, num]) or any(v is not None for v in others.values()):
        return NotImplemented
    if retstep:
        raise unsupported("np.linspace with retstep=True is not traced", "compute the step")
    trace = current_trace()
    (extent,) = shape_argument((num,))
    given, last, computed = _ends(start, stop)
    delta = apply_ufunc(np.subtract, (last, given))
    count = extent - 1 if endpoint else extent
    index = PRIMITIVES[np.arange](affine_number(trace, extent), dtype=computed)
    index = index[(slice(None), *(None,) * delta.ndim)]
    has_step = trace.decisions.nonnegative(count - 1, "np.linspace has a step")
    if has_step:
        # the divisor is a Python int, which is weak
        divisor = affine_number(trace, count)
        step = apply_ufunc(np.true_divide, (delta, divisor))
        usual = apply_ufunc(np.multiply, (index, step))
        tiny = apply_ufunc(np.multiply, (apply_ufunc(np.true_divide, (index, divisor)), delta))
        is_zero = apply_ufunc(np.equal, (step, 0))
        some = PRIMITIVES[np.any](is_zero) if delta.ndim else is_zero
        result = PRIMITIVES[np.where](some, tiny, usual)
    else:
        result = apply_ufunc(np.multiply, (index, delta))
    result = apply_ufunc(np.add, (result, given))
    wanted = computed if dtype is None else dtype_argument(dtype)
    exact = bool(endpoint) and trace.decisions.nonnegative(extent - 2, "np.linspace has two ends")
    result = _finished(result, last, extent, exact, wanted)
    is_converted = wanted != computed  # at the end, into memory of its own
    if has_step and not delta.ndim and not is_converted:
        result = result.as_view()  # NumPy computes in the memory of a reshaped range
    return _with_points_at(result, axis, is_converted)


def _with_points_at(result: TracedArray, axis: Any, is_converted: bool) -> TracedArray:
    """The points, which lie along the first axis, along another one: a view, unless converted."""
    at = normalize_axis(axis, result.ndim)
    if is_host_number(axis) and axis == 0:
        return result
    moved = moveaxis(result, 0, at) if at else result.as_view()
    return moved.as_owner() if is_converted else moved


def _finished(
    result: TracedArray, last: TracedArray, extent: AffineExpr, exact: bool, wanted: np.dtype
) -> TracedArray:
    """The last element replaced, rounded down for integers, and converted."""
    computed = result.dtype

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        value = refs[0]
        if exact:
            place = [builder.index(AffineExpr.dim(0)), builder.index(extent - 1)]
            value = builder.op(
                "select", [builder.op("equal", place, BOOL), refs[1], value], computed
            )
        if wanted.kind in "iu":
            value = builder.op("floor", [value], computed)
        return builder.cast(value, wanted)

    operands = [result, last] if exact else [result]
    return emit_elementwise("linspace", operands, None, wanted, compute, kind=Kind.ARRAY)


@primitive_of("start stop num", np.geomspace)
def geomspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """``np.geomspace`` between positive Python numbers.

    Source: ``numpy._core.function_base.geomspace``.
    """
    if not all(is_host_number(e) and e > 0 for e in (start, stop)):
        what = "np.geomspace between arrays, or numbers that are not positive, is not traced"
        raise unsupported(what, "take np.exp of np.linspace between the logarithms")
    given, last, computed = _ends(start, stop)
    logarithms = [call_ufunc(np.log10, e) for e in (given, last)]
    exponents = linspace(logarithms[0], logarithms[1], num, endpoint=endpoint)
    result = call_ufunc(np.power, 10.0, exponents)
    trace, extent = result.trace, result.extents[0]
    ends_inside = bool(endpoint) and trace.decisions.nonnegative(extent - 2, "two ends")

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        place = builder.index(AffineExpr.dim(0))
        first = builder.op("equal", [place, builder.const(0, I64)], BOOL)
        value = builder.op("select", [first, refs[1], refs[0]], computed)
        if ends_inside:
            at_end = builder.op("equal", [place, builder.index(extent - 1)], BOOL)
            value = builder.op("select", [at_end, refs[2], value], computed)
        return value

    wanted = computed if dtype is None else dtype_argument(dtype)
    operands = [result, given, last]
    made = emit_elementwise(
        "geomspace", operands, [computed] * 3, computed, compute, kind=Kind.ARRAY
    )
    is_converted = wanted != computed
    converted = astype(made, wanted) if is_converted else made
    return _with_points_at(converted, axis, is_converted)


@primitive_of("start stop num base", np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """``np.logspace``: powers of ``base`` at the points of ``linspace``."""
    if isinstance(base, TracedArray) and base.ndim:
        raise unsupported("np.logspace with an array of bases is not traced", MOVE_OUTSIDE)
    exponents = PRIMITIVES[np.linspace](start, stop, num, endpoint=endpoint, axis=axis)
    if exponents is NotImplemented:
        exponents = array_from(np.linspace(start, stop, num, endpoint=endpoint, axis=axis))
    result = call_ufunc(np.power, base, exponents)
    return result if dtype is None else astype(result, dtype)
