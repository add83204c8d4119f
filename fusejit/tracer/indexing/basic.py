"""Basic indexing as affine maps; stores through it; masks of the full shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import ViewOp
from fusejit.ir.types import Kind
from fusejit.tracer.elementwise.domains import check_scalar_fits
from fusejit.tracer.graph_breaks.fallback import Fallback, numpy_raises
from fusejit.tracer.host.host_call_tracing import with_selected
from fusejit.tracer.indexing.copy_order import require_copied_at_once
from fusejit.tracer.indexing.index_arrays import index_array
from fusejit.tracer.indexing.kernel_indices import (
    affine_index,
    check_fits,
    checked_index,
    clamped_slice,
    is_strided,
)
from fusejit.tracer.indexing.mask_indices import (
    is_mask,
    positions,
    require_mask_fits,
    view_beside_mask,
    without_masks,
)
from fusejit.tracer.indexing.masked import (
    MaskedElements,
    as_array,
    is_same_value,
    with_trailing_axes,
)
from fusejit.tracer.indexing.stores import (
    assign_masked,
    assign_operand,
    note_store_of_itself,
    require_writeable,
)
from fusejit.tracer.indexing.view_functions import array_of_scalar, same_view
from fusejit.tracer.runtime.locations import unsupported
from fusejit.tracer.runtime.primitives import PRIMITIVES, primitive
from fusejit.tracer.runtime.trace import Trace
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64, Operand, contains_traced, operand_of
from fusejit.tracer.values.shapes import Decisions, Extents, Varies
from fusejit.tracer.values.subclass_numbers import stored
from fusejit.tracer.values.symbolic_number import SymbolicNumber, as_affine
from fusejit.tracer.values.union_operators import as_integer, store
from fusejit.tracer.values.union_scalar import is_union_scalar


@dataclass(frozen=True, slots=True)
class Selection:
    """What a basic index selects: a map from the result's axes, and the result's extents."""

    map: IndexingMap
    extents: Extents
    is_element: bool  # ints for all axes and no Ellipsis: NumPy hands out a scalar


def _with_integers(index: Any) -> Any:
    """An index in which integers of one of several types are Python's."""
    if isinstance(index, tuple):
        return tuple(map(_with_integers, index)) if any(map(_is_mixed, index)) else index
    if isinstance(index, slice):
        ends = (index.start, index.stop, index.step)
        return slice(*map(_with_integers, ends)) if any(map(is_union_scalar, ends)) else index
    return as_integer(index) if is_union_scalar(index) else index


def _is_mixed(item: Any) -> bool:
    return is_union_scalar(item) or isinstance(item, slice)


@primitive("getitem")
def getitem(array: TracedArray, index: Any) -> TracedArray | MaskedElements:
    """``array[index]`` for ints, slices, Ellipsis and None: a view, or a scalar."""
    index = _items_of(array, index)
    if len(index) == 1 and is_mask(index[0]) and (mask := operand_of(index[0]).array) is not None:
        require_mask_fits(array, mask)
        return MaskedElements.select(array, mask.value())
    if any(map(is_mask, index)):
        return getitem(*_beside_mask(array, index))
    if is_strided(index, array.trace):
        return PRIMITIVES["strided_getitem"](array, index)  # type: ignore[no-any-return]
    integers = list(map(index_array, index))
    if any(i is not None and i.ndim for i in integers):
        gathered: TracedArray = PRIMITIVES["gather"](array, index, integers)
        gathered.is_ndarray = True
        return gathered
    selection = select(array, index)
    if not selection.is_element:
        array = array_of_scalar(array)
        return array.view(selection.map, selection.extents)
    if array.kind is Kind.SCALAR:
        return array
    trace = array.trace
    element = array.view(selection.map, ())
    result = trace.new_value(element.dtype, (), Kind.SCALAR)  # the scalar that is there now
    base, place = element.storage.seen_through(element), IndexingMap.identity(0)
    if base is None:
        base, place = element.storage.read(), element.map
    trace.emit(ViewOp(results=(result,), source=base, map=place))
    return TracedArray.of_value(trace, result)


@primitive("setitem")
def setitem(array: TracedArray, index: Any, value: Any) -> None:
    """``array[index] = value`` for basic indices, or a mask of the array's shape and a number."""
    if array.kind is not Kind.ARRAY:
        raise numpy_raises("TypeError: a number does not support item assignment")
    if is_union_scalar(value):
        store(array, index, value)
        return
    if isinstance(value, list | tuple) and array.dtype.kind in "iu" and contains_traced(value):
        value = PRIMITIVES["array_of_a_list"](value, array.dtype)
    index = _items_of(array, index)
    if len(index) == 1 and is_mask(index[0]):
        _store_masked(array, index[0], value)
        return
    if any(map(is_mask, index)):
        setitem(*_beside_mask(array, index), value)
        return
    if is_strided(index, array.trace):
        PRIMITIVES["strided_setitem"](array, index, value)
        return
    integers = list(map(index_array, index))
    if any(i is not None and i.ndim for i in integers):
        PRIMITIVES["scatter"](array, index, integers, value)
        return
    selection = select(array, index)
    target = array.view(selection.map, selection.extents)
    is_array = isinstance(value, TracedArray) and value.kind is Kind.ARRAY
    if is_array and same_view(value, target):
        note_store_of_itself(target)
        return  # `x[i] += y` stores into x[i] first and then assigns it to itself
    operand = operand_of(stored(value))
    if selection.is_element and operand.extents:
        if array.dtype.kind != "b":
            raise numpy_raises("ValueError: setting an array element with a sequence")
        if not isinstance(value, TracedArray):
            raise Fallback("a bool element takes the truth of a sequence")
    require_scalar_fits(operand, array.dtype)
    if is_array:
        require_copied_at_once(target, value)
    assign_operand(target, operand)


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


@primitive("require_int_fits")
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


def _items_of(array: TracedArray, index: Any) -> tuple[Any, ...]:
    """An index as a tuple of items; of a mask and full slices after it the mask alone."""
    index = _with_integers(index)
    return _mask_alone(array, as_array(index if isinstance(index, tuple) else (index,)))


def _beside_mask(array: TracedArray, index: tuple[Any, ...]) -> tuple[TracedArray, Any]:
    """A view and a mask, or an index without masks, that select what an index with masks does."""
    basic = view_beside_mask(index)
    if basic is None:
        return array, without_masks(array, index)
    selection = select(array, basic)
    mask = next(i for i in index if is_mask(i))
    return array.view(selection.map, selection.extents), mask


def _mask_alone(array: TracedArray, index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index without full slices after a mask: ``x[m, :]`` is ``x[m]``."""
    if len(index) < 2 or not is_mask(index[0]):
        return index
    rest = [i for i in index[1:] if i is not Ellipsis]
    is_full = all(isinstance(i, slice) and i == slice(None) for i in rest)
    fits = getattr(index[0], "ndim", 0) + len(rest) <= array.ndim
    return index[:1] if is_full and fits and len(index) <= len(rest) + 2 else index


def _store_masked(array: TracedArray, mask: Any, value: Any) -> None:
    traced = operand_of(mask).array
    if traced is None:  # True stores everywhere, False nowhere: not the integers 1 and 0
        raise _unsupported("a bool that is no array", "write `if` around the store")
    require_mask_fits(array, traced)
    rest = array.ndim - traced.ndim
    whole = traced
    if rest:
        expanded = with_trailing_axes(traced, rest)
        whole = PRIMITIVES[np.broadcast_to](expanded, array.shape)
    if isinstance(value, MaskedElements):
        same = value.ndim == 1 + rest and is_same_value(array.trace, value.mask, traced.value())
        if same and not value.is_selected:
            assign_masked(array, whole, Operand(value.dtype, array=value.array))
            return
        value = value.selected()
    operand = operand_of(stored(value))
    require_int_fits(operand, array.dtype)
    if operand.array is not None and operand.array.ndim > rest:
        if rest:
            setitem(array, positions(traced), value)
            return
        require_writeable(array)
        made = with_selected(array, traced, operand.array)
        assign_operand(array, made)
        return
    assign_masked(array, whole, operand)


def _unsupported(what: str, remedy: str) -> UnsupportedError:
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
        what = "an element of an array, which is known only when the kernel runs"
        raise _unsupported(what, "pass it as a Python int")
    if isinstance(item, list | tuple):
        raise _unsupported(f"a {type(item).__name__} of this kind as an index", "use np.array(..)")
    return as_affine(item, "IndexError: {1} is not an index")


def _exact(item: Any) -> int:
    if isinstance(item, TracedArray):
        what = "a step that is an element of an array"
        raise _unsupported(what, "pass the step as a Python int")
    try:
        return int(item.__index__())
    except (AttributeError, TypeError) as error:
        raise numpy_raises("TypeError: slice indices must be integers") from error
