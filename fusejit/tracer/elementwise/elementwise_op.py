"""Elementwise operations: one generic op over the broadcast extents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from fusejit.ir import ops as ir
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.elementwise.axis_order import Order, result_order
from fusejit.tracer.graph_breaks.fallback import numpy_raises
from fusejit.tracer.runtime.active_trace import current_trace
from fusejit.tracer.runtime.trace import Trace
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.broadcasting import broadcast, broadcast_map
from fusejit.tracer.values.operand_types import (
    Operand,
    literal_as,
    number_ref,
    operand_of,
    require_number_fits,
)
from fusejit.tracer.values.shapes import Extents

Compute = Callable[[PayloadBuilder, list[int]], int]


def emit_elementwise(
    trace: Trace,
    name: str,
    operands: Sequence[Operand],
    loop_dtypes: Sequence[np.dtype],
    dtype: np.dtype,
    compute: Compute,
    *,
    extents: Extents | None = None,
    kind: Kind | None = None,
    order: Order | str = "nditer",
) -> TracedArray:
    """One parallel generic op: ``compute`` makes the result from refs in the loop's dtypes.

    ``extents`` fixes the extents of the result (operands must broadcast to them). ``order`` is the
    axis order of the result, ``"nditer"`` that of a ufunc.
    """
    decisions = trace.decisions
    shapes = [o.extents for o in operands]
    domain = broadcast(decisions, shapes if extents is None else [extents, *shapes])
    if extents is not None:
        require_extents(trace, domain, extents)
        domain = extents
    domain = tuple(map(decisions.canonical, domain))

    inputs: list[ir.Operand] = []
    positions: list[int | None] = []
    for operand, loop in zip(operands, loop_dtypes, strict=True):
        require_number_fits(operand, loop)
        if operand.literal is not None:
            positions.append(None)
            continue
        if operand.array is not None:
            index_map = broadcast_map(decisions, operand.extents, domain)
            entry = ir.Operand(operand.array.value(), index_map)
        else:
            assert operand.number is not None
            entry = ir.Operand(trace.scalar(operand.number), IndexingMap.scalar(len(domain)))
        if entry not in inputs:
            inputs.append(entry)
        positions.append(inputs.index(entry))

    builder = PayloadBuilder([i.value.type.dtype for i in inputs], [dtype])
    refs: list[int] = []
    for operand, loop, position in zip(operands, loop_dtypes, positions, strict=True):
        if position is None:
            refs.append(builder.const(literal_as(operand.literal, loop), loop))
        elif operand.array is not None:
            refs.append(builder.cast(position, loop))
        else:
            refs.append(number_ref(builder, position, operand, loop))
    payload = builder.finish([builder.cast(compute(builder, refs), dtype)])

    if kind is None:
        kind = Kind.ARRAY if domain else Kind.SCALAR
    if order == "nditer":
        order = result_order(trace, [o.array for o in operands if o.array is not None], domain)
    assert not isinstance(order, str)
    result = trace.new_value(dtype, domain, kind, order)
    return TracedArray.of_value(trace, trace.emit_generic(name, result, inputs, payload))


def emit_scalar(
    name: str,
    numbers: Iterable[Any],
    loop_dtypes: Sequence[np.dtype],
    dtype: np.dtype,
    compute: Compute,
    kind: Kind = Kind.PYTHON,
) -> TracedArray:
    """A number that the kernel computes of numbers: Python's, NumPy's or operands."""
    operands = [n if isinstance(n, Operand) else operand_of(n) for n in numbers]
    return emit_elementwise(
        current_trace(),
        name,
        operands,
        loop_dtypes,
        dtype,
        compute,
        extents=(),
        kind=kind,
        order=None,
    )


def require_extents(trace: Trace, extents: Extents, expected: Extents) -> None:
    """Fall back where a result does not have the shape of the memory it is stored into."""
    if not has_extents(trace, extents, expected):
        raise numpy_raises("ValueError: could not broadcast the result into the output")


def has_extents(trace: Trace, extents: Extents, expected: Extents) -> bool:
    """Decide whether a result has the shape of the memory it is stored into."""
    reason = "a result fits where it is stored"
    return len(extents) == len(expected) and all(
        trace.decisions.checked_equal(a, b, reason) for a, b in zip(extents, expected, strict=True)
    )


def copy_of(
    array: TracedArray, dtype: np.dtype, order: Order, name: str, kind: Kind | None = None
) -> TracedArray:
    """A fresh array with the elements of ``array`` in ``dtype``."""
    operand = Operand(array.dtype, array=array)
    return emit_elementwise(
        array.trace,
        name,
        [operand],
        [array.dtype],
        dtype,
        lambda builder, refs: builder.cast(refs[0], dtype),
        kind=array.kind if kind is None else kind,
        order=order,
    )


def array_of_number(array: TracedArray) -> TracedArray:
    """What NumPy makes of a number before it rearranges it: an array of rank 0."""
    if array.kind is Kind.ARRAY:
        return array
    return copy_of(array, array.dtype, None, "copy", Kind.ARRAY)


def full(
    trace: Trace, extents: Extents, value: Any, dtype: np.dtype, order: Order, name: str = "full"
) -> TracedArray:
    """An array filled with one number."""
    return emit_elementwise(
        trace,
        name,
        [value],
        [dtype],
        dtype,
        lambda builder, refs: refs[0],
        extents=extents,
        kind=Kind.ARRAY,
        order=order,
    )
