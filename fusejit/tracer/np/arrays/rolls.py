"""``np.roll``: up to two parts along each axis that is rolled."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Operand as GraphOperand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.indexing.reshape_functions import reshape_method
from fusejit.tracer.indexing.view_functions import array_operand, normalize_axis
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.arrays.parts import ZERO, Partition, new_array, store_partitions
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc
from fusejit.tracer.ops.elementwise_op import array_of_number, copy_of
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, I64
from fusejit.tracer.values.symbolic_number import (
    SymbolicNumber,
    affine_number,
    apply_host,
    as_affine,
)
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive_of("a", np.roll, complex=True)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """``np.roll``: elements that leave at one end enter at the other.

    ``shift`` may be a number of each call: the offset ``shift % n`` is then a symbol.
    """
    array = array_of_number(array_operand(a))
    if axis is None:
        flat = roll(PRIMITIVES[np.ravel](array), shift, 0)
        return reshape_method(flat, array.shape)
    if not array.ndim and axis == ():
        raise numpy_raises("ValueError: not enough values to unpack (expected 2, got 0)")
    shifts = _shifts(array, shift, axis)
    if any(isinstance(s, TracedArray) for s in shifts):
        return _gathered(array, shifts)
    partitions = [_partitions(array, k, offset) for k, offset in enumerate(shifts)]
    order = array.sorted_order()
    if all(len(p) == 1 for p in partitions):
        return copy_of(array, array.dtype, order, "copy", Kind.ARRAY)
    result = new_array(array.extents, array.dtype, order)
    return store_partitions(result, array, partitions)


def _shifts(array: TracedArray, shift: Any, axis: Any) -> list[Any]:
    """How far each axis is rolled; an axis may occur several times."""
    axes = list(axis) if isinstance(axis, tuple | list) else [axis]
    given = _given(shift, len(axes))
    axes = [normalize_axis(k, array.ndim) for k in axes]
    if len(axes) != len(given):
        if len(axes) == 1:
            axes = axes * len(given)
        elif len(given) == 1:
            given = given * len(axes)
        else:
            raise numpy_raises("ValueError: shape mismatch of shift and axis")
    shifts: list[Any] = [0] * array.ndim
    for k, each in zip(axes, given, strict=True):
        whole: Any = each
        if isinstance(each, TracedArray):
            if each.ndim or each.dtype.kind not in "iu":
                what = "np.roll by a shift that is not an integer is not traced"
                raise unsupported(what, "pass the shifts as integers")
            # within the axis, so that sums of them do not wrap around
            wide = each if each.dtype == np.uint64 else astype(each, I64)
            whole = astype(apply_ufunc(np.remainder, (wide, array.shape[k])), I64)
        else:
            whole = apply_host("int", each) if isinstance(each, SymbolicNumber) else int(each)
        shifts[k] = whole if type(shifts[k]) is int and not shifts[k] else shifts[k] + whole
    return shifts


def _given(shift: Any, num_axes: int) -> list[Any]:
    """The shifts one by one; of an array whose length varies, one for each axis."""
    if not isinstance(shift, TracedArray):
        return list(shift) if isinstance(shift, tuple | list | np.ndarray) else [shift]
    if shift.ndim != 1:
        return [shift]
    decisions = shift.trace.decisions
    for length in (num_axes, 1):
        if decisions.equal(shift.extents[0], length, "a shift for each axis of a roll"):
            return [shift[k] for k in range(length)]
    num_shifts = decisions.constant(shift.extents[0])
    if num_shifts is None:
        what = "np.roll by as many shifts as an array has, for fewer axes, is not traced"
        raise unsupported(what, "add the shifts of an axis")
    return [shift[k] for k in range(num_shifts)]


def _gathered(array: TracedArray, shifts: list[Any]) -> TracedArray:
    """``out[i] = array[(i - shift) % n]``, for a shift that only the kernel knows."""
    trace, rank = array.trace, array.ndim
    domain = tuple(map(trace.decisions.canonical, array.extents))
    inputs = [GraphOperand(array.value(), IndexingMap.identity(rank))]
    known: dict[int, int] = {}
    for k, shift in enumerate(shifts):
        if trace.decisions.equal(domain[k], 0, "an axis that is rolled is empty"):
            return copy_of(array, array.dtype, array.sorted_order(), "copy", Kind.ARRAY)
        if isinstance(shift, TracedArray):
            known[k] = len(inputs)
            inputs.append(GraphOperand(shift.value(), IndexingMap.scalar(rank)))
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], [array.dtype])
    subscripts = []
    for k, shift in enumerate(shifts):
        place, size = builder.index(AffineExpr.dim(k)), builder.index(domain[k])
        if k in known:
            offset = builder.op("remainder", [builder.cast(known[k], I64), size], I64)
            place = builder.op("subtract", [place, offset], I64)
        elif type(shift) is not int or shift:
            offset = builder.index(_offset(array, domain[k], shift))
            place = builder.op("subtract", [place, offset], I64)
        if k in known or type(shift) is not int or shift:
            is_before = builder.op("less", [place, builder.const(0, I64)], BOOL)
            wrapped = builder.op("add", [place, size], I64)
            place = builder.op("select", [is_before, wrapped, place], I64)
        subscripts.append(place)
    result = trace.new_value(array.dtype, domain, Kind.ARRAY, array.sorted_order())
    payload = builder.finish([builder.extract(0, subscripts, array.dtype)])
    return TracedArray.of_value(trace, trace.emit_generic("roll", result, inputs, payload))


def _partitions(array: TracedArray, axis: int, shift: Any) -> list[Partition]:
    """What is read from where along an axis."""
    decisions = array.trace.decisions
    extent = decisions.canonical(array.extents[axis])
    whole = [Partition(ZERO, extent, ZERO)]
    if type(shift) is int and shift == 0:
        return whole
    offset = _offset(array, extent, shift)
    if decisions.constant(offset) == 0:
        return whole
    rest = decisions.canonical(extent - offset)
    if type(shift) is int:  # what reads rolls both ways is cut at both ends: know their order
        decisions.nonnegative(extent - 2 * abs(shift), "a roll by at most half of the axis")
    return [Partition(offset, rest, ZERO), Partition(ZERO, offset, rest)]


def _offset(array: TracedArray, extent: AffineExpr, shift: Any) -> AffineExpr:
    """``shift % extent``, without a remainder where the shift is within the axis."""
    decisions = array.trace.decisions
    amount = as_affine(shift)
    reason = "the shift of a roll is within the axis"
    if decisions.nonnegative(amount, "the sign of the shift of a roll"):
        if decisions.nonnegative(extent - 1 - amount, reason):
            return decisions.canonical(amount)
    elif decisions.nonnegative(extent + amount, reason):
        return decisions.canonical(extent + amount)
    if decisions.equal(extent, 0, "an axis that is rolled is empty"):
        return ZERO
    remainder = shift % affine_number(array.trace, extent)
    if not isinstance(remainder, SymbolicNumber):
        return AffineExpr.const(remainder)
    offset = remainder.as_affine()
    decisions.assume_nonnegative(offset)
    decisions.assume_nonnegative(extent - 1 - offset)
    return offset
