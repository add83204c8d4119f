"""Basic indices as affine maps; what may be stored through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.types import Kind
from fusejit.tracer.builder.shapes import Decisions, Extents, Varies
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.kernel_indices import (
    affine_index,
    check_fits,
    checked_index,
    clamped_slice,
)
from fusejit.tracer.ops.domains import check_scalar_fits
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64, Operand
from fusejit.tracer.values.symbolic_number import SymbolicNumber, as_affine


@dataclass(frozen=True, slots=True)
class Selection:
    """What a basic index selects: a map from the result's axes, and the result's extents."""

    map: IndexingMap
    extents: Extents
    is_element: bool  # ints for all axes and no Ellipsis: NumPy hands out a scalar


def require_scalar_fits(operand: Operand, dtype: np.dtype) -> None:
    """NumPy stores a scalar into signed integers by way of Python's int, which checks its value.

    So it does with Python's own ints, into unsigned integers as well. Elements that arrays of
    integers or a mask choose are cast instead: `require_number_fits`.
    """
    array, number = operand.array, operand.number
    if number is not None and number.is_strong:
        array = number.as_scalar()
    if array is None or array.kind is not Kind.SCALAR:
        require_int_fits(operand, dtype)
    elif dtype.kind == "i" and not np.can_cast(operand.token, dtype, "safe"):
        if array.dtype.kind == "c":
            raise Fallback(f"a {operand.token} scalar stored into {dtype} has to be checked")
        check_scalar_fits(array, dtype)


def require_int_fits(operand: Operand, dtype: np.dtype) -> None:
    """NumPy stores Python numbers into integers as ``int(number)``, and checks its value."""
    number = operand.array
    if number is None or number.kind is not Kind.PYTHON or dtype.kind not in "iu":
        return
    if number.dtype.kind == "f":
        check_scalar_fits(number, dtype)
    elif number.dtype.kind == "c":
        raise numpy_raises("TypeError: a complex number as an integer")
    elif operand.is_weak_int and dtype != I64:
        check_fits(number, dtype)


def unsupported_index(what: str, remedy: str) -> UnsupportedError:
    """The error for an index that is not traced."""
    return unsupported(f"fusejit does not trace this index: {what}", remedy)


# ------------------------------------------------------------------------------- basic indices
def select(array: TracedArray, index: tuple[Any, ...]) -> Selection:
    """Resolve a basic index; falls back where NumPy raises IndexError."""
    decisions = array.trace.decisions
    num_axes = sum(1 for i in index if i is not None and i is not Ellipsis)
    ellipses = [k for k, i in enumerate(index) if i is Ellipsis]
    if num_axes > array.ndim or len(ellipses) > 1:
        raise numpy_raises("IndexError: too many indices for array")
    items, at = list(index), ellipses[0] if ellipses else len(index)
    items[at : at + len(ellipses)] = [slice(None)] * (array.ndim - num_axes)

    results: list[AffineExpr] = []
    extents: list[AffineExpr] = []
    axis = 0
    for item in items:
        if item is None:
            extents.append(AffineExpr.const(1))
            continue
        size = decisions.canonical(array.extents[axis])
        axis += 1
        if isinstance(item, slice):
            start, extent, step = slice_of(array.trace, item, size)
            results.append(start + AffineExpr.dim(len(extents)) * step)
            extents.append(extent)
        else:
            results.append(index_of(array.trace, item, size, axis - 1))
    is_element = not extents and not ellipses
    return Selection(IndexingMap(len(extents), tuple(results)), tuple(extents), is_element)


def index_of(trace: Trace, item: Any, size: AffineExpr, axis: int) -> AffineExpr:
    """An index as one that counts from the start, resolved here or in the kernel."""
    local = affine_index(trace, item)
    index = integer(item) if local is None else local
    try:
        return resolve_index(trace.decisions, index, size)
    except Varies:  # the index differs between iterations, or the number of elements does
        return checked_index(trace, index, size, axis)


def slice_of(trace: Trace, item: slice, size: AffineExpr) -> tuple[AffineExpr, AffineExpr, int]:
    """First index, number of elements and step of a slice, resolved here or in the kernel."""
    known = [affine_index(trace, b) for b in (item.start, item.stop)]
    first, last = (
        b if k is None else SymbolicNumber.of_affine(trace, k)
        for b, k in zip((item.start, item.stop), known, strict=True)
    )
    try:
        return resolve_slice(trace.decisions, slice(first, last, item.step), size)
    except Varies:
        start, stop = (None if b is None else integer(b) for b in (first, last))
        step = 1 if item.step is None else int(_exact(item.step))
        return (*clamped_slice(trace, start, stop, step, size), step)


def resolve_index(decisions: Decisions, index: AffineExpr, size: AffineExpr) -> AffineExpr:
    """A possibly negative integer index as one that counts from the start."""
    if not decisions.nonnegative(index, "an index is not negative"):
        index = decisions.canonical(index + size)
        if not decisions.nonnegative(index, "an index is within bounds"):
            raise numpy_raises("IndexError: index is out of bounds")
    if not decisions.at_most(index + 1, size, "an index is within bounds"):
        raise numpy_raises("IndexError: index is out of bounds")
    return index


def resolve_slice(
    decisions: Decisions, item: slice, size: AffineExpr
) -> tuple[AffineExpr, AffineExpr, int]:
    """First index, number of elements and step of a slice of ``size`` elements.

    Source: ``PySlice_AdjustIndices`` of CPython.
    """
    step = 1 if item.step is None else int(_exact(item.step))
    if step == 0:
        raise numpy_raises("ValueError: slice step cannot be zero")
    first, last = (AffineExpr.const(0), size) if step > 0 else (size - 1, AffineExpr.const(-1))
    bounds = [
        None if b is None else _from_start(decisions, integer(b), size)
        for b in (item.start, item.stop)
    ]
    start, stop = (d if b is None else b for b, d in zip(bounds, (first, last), strict=True))
    _expect_no_clamps(decisions, start, stop, size, step)
    if bounds[0] is not None:
        start = _clamp(decisions, start, size, step)
    if bounds[1] is not None:
        stop = _clamp(decisions, stop, size, step)
    length = (stop - start) if step > 0 else (start - stop)
    if not decisions.nonnegative(length, "a slice does not end before it starts"):
        return AffineExpr.const(0), AffineExpr.const(0), step
    stride = abs(step)
    extent = decisions.canonical((length + (stride - 1)).floordiv(stride))
    return decisions.canonical(start), extent, step


def _from_start(decisions: Decisions, bound: AffineExpr, size: AffineExpr) -> AffineExpr:
    if decisions.nonnegative(bound, "a bound of a slice is not negative"):
        return bound
    return decisions.canonical(bound + size)


def _expect_no_clamps(
    decisions: Decisions, start: AffineExpr, stop: AffineExpr, size: AffineExpr, step: int
) -> None:
    """Decide the length first where nothing clamps: the other decisions mostly follow from it."""
    hints = [decisions.hint(e) for e in (start, stop, size)]
    low = min(hints[0], hints[1] - (step < 0))
    in_range = low >= -1 and max(hints[:2]) <= hints[2]
    length = (stop - start) if step > 0 else (start - stop)
    if in_range and decisions.hint(length) >= 0:
        decisions.nonnegative(length, "a slice does not end before it starts")


def _clamp(decisions: Decisions, bound: AffineExpr, size: AffineExpr, step: int) -> AffineExpr:
    """Keep a bound within 0..size, or -1..size-1 for a negative step."""
    low = AffineExpr.const(0 if step > 0 else -1)
    high = size if step > 0 else size - 1
    if not decisions.nonnegative(bound, "a bound of a slice is within the array"):
        return low
    if not decisions.at_most(bound, high, "a bound of a slice is within the array"):
        return decisions.canonical(high)
    return bound


def integer(item: Any) -> AffineExpr:
    """An index as an affine expression."""
    if isinstance(item, TracedArray):
        what = "an element of an array, which is known only when compiled code runs"
        raise unsupported_index(what, "pass it as a Python int")
    if isinstance(item, list | tuple):
        raise unsupported_index(
            f"a {type(item).__name__} of this kind as an index", "use np.array(..)"
        )
    return as_affine(item, "IndexError: {1} is not an index")


def _exact(item: Any) -> int:
    if isinstance(item, TracedArray):
        what = "a step that is an element of an array"
        raise unsupported_index(what, "pass the step as a Python int")
    try:
        return int(item.__index__())
    except (AttributeError, TypeError) as error:
        raise numpy_raises("TypeError: slice indices must be integers") from error
