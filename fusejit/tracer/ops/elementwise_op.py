"""Elementwise operations: one generic op over the broadcast extents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from fusejit.ir import ops as ir
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.ops.axis_order import Order, result_order
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.broadcasting import broadcast, broadcast_map
from fusejit.tracer.values.graph_scalars import scalar_value
from fusejit.tracer.values.operand_types import (
    Operand,
    literal_as,
    number_ref,
    operand_of,
    require_number_fits,
)

Compute = Callable[[PayloadBuilder, list[int]], int]


def emit_elementwise(
    name: str,
    operands: Sequence[Operand | TracedArray],
    loop: Sequence[np.dtype] | None,
    dtype: np.dtype,
    compute: Compute = lambda builder, refs: refs[0],
    *,
    extents: Extents | None = None,
    kind: Kind | None = None,
    order: Order | str = "nditer",
) -> TracedArray:
    """One parallel generic op: ``compute`` makes the result from refs in the loop's dtypes.

    Where ``loop`` is None, arrays are read in their own dtypes, and numbers in that of the result.
    ``extents`` fixes the extents of the result (operands must broadcast to them). ``order`` is the
    axis order of the result, ``"nditer"`` that of a ufunc.
    """
    trace = current_trace()
    decisions = trace.decisions
    given = [Operand(o.dtype, array=o) if isinstance(o, TracedArray) else o for o in operands]
    if loop is None:
        loop = [dtype if o.array is None else o.array.dtype for o in given]
    shapes = [o.extents for o in given]
    domain = broadcast(decisions, shapes if extents is None else [extents, *shapes])
    if extents is not None:
        require_extents(domain, extents)
        domain = extents
    domain = tuple(map(decisions.canonical, domain))

    inputs: list[ir.Operand] = []
    positions: list[int | None] = []
    for operand, read_as in zip(given, loop, strict=True):
        require_number_fits(operand, read_as)
        if operand.literal is not None:
            positions.append(None)
            continue
        if operand.array is not None:
            index_map = broadcast_map(decisions, operand.extents, domain)
            entry = ir.Operand(operand.array.value(), index_map)
        else:
            assert operand.number is not None
            entry = ir.Operand(scalar_value(operand.number), IndexingMap.scalar(len(domain)))
        if entry not in inputs:
            inputs.append(entry)
        positions.append(inputs.index(entry))

    builder = PayloadBuilder([i.value.type.dtype for i in inputs], [dtype])
    refs: list[int] = []
    for operand, read_as, position in zip(given, loop, positions, strict=True):
        if position is None:
            refs.append(builder.const(literal_as(operand.literal, read_as), read_as))
        elif operand.array is not None:
            refs.append(builder.cast(position, read_as))
        else:
            refs.append(number_ref(builder, position, operand, read_as))
    payload = builder.finish([builder.cast(compute(builder, refs), dtype)])

    if kind is None:
        kind = Kind.ARRAY if domain else Kind.SCALAR
    if order == "nditer":
        order = result_order(trace, [o.array for o in given if o.array is not None], domain)
    assert not isinstance(order, str)
    result = trace.new_value(dtype, domain, kind, order)
    return TracedArray.of_value(trace, trace.emit_generic(name, result, inputs, payload))


def emit_scalar(
    name: str,
    numbers: Iterable[Any],
    loop: Sequence[np.dtype] | None,
    dtype: np.dtype,
    compute: Compute,
    kind: Kind = Kind.PYTHON,
) -> TracedArray:
    """A number that the kernel computes of numbers: Python's, NumPy's or operands."""
    operands = [n if isinstance(n, Operand) else operand_of(n) for n in numbers]
    return emit_elementwise(name, operands, loop, dtype, compute, extents=(), kind=kind, order=None)


def require_extents(extents: Extents, expected: Extents) -> None:
    """Fall back where a result does not have the shape of the memory it is stored into."""
    if not has_extents(extents, expected):
        raise numpy_raises("ValueError: could not broadcast the result into the output")


def has_extents(extents: Extents, expected: Extents) -> bool:
    """Decide whether a result has the shape of the memory it is stored into."""
    equal, reason = current_trace().decisions.checked_equal, "a result fits where it is stored"
    return len(extents) == len(expected) and all(
        equal(a, b, reason) for a, b in zip(extents, expected, strict=True)
    )


def copy_of(
    array: TracedArray, dtype: np.dtype, order: Order, name: str, kind: Kind | None = None
) -> TracedArray:
    """A fresh array with the elements of ``array`` in ``dtype``."""
    return emit_elementwise(name, [array], None, dtype, kind=kind or array.kind, order=order)


def array_of_number(array: TracedArray) -> TracedArray:
    """What NumPy makes of a number before it rearranges it: an array of rank 0."""
    if array.kind is Kind.ARRAY:
        return array
    return copy_of(array, array.dtype, None, "copy", Kind.ARRAY)


def full(
    extents: Extents, value: Operand, dtype: np.dtype, order: Order = None, name: str = "full"
) -> TracedArray:
    """An array filled with one number."""
    return emit_elementwise(
        name, [value], [dtype], dtype, extents=extents, kind=Kind.ARRAY, order=order
    )


def stored_value(
    extents: Extents, operand: Operand, dtype: np.dtype, order: Order, name: str = ""
) -> TracedArray:
    """What a store puts into memory of these extents and this dtype."""
    name = name or ("full" if operand.array is None else "copy")
    return emit_elementwise(
        name, [operand], None, dtype, extents=extents, kind=Kind.ARRAY, order=order
    )
