"""``x[index]`` and ``x[index] = value`` for every kind of index."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import ViewOp
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.host.host_call_tracing import with_selected
from fusejit.tracer.indexing import gathers
from fusejit.tracer.indexing.basic import (
    require_int_fits,
    require_scalar_fits,
    select,
    unsupported_index,
)
from fusejit.tracer.indexing.index_arrays import index_array
from fusejit.tracer.indexing.kernel_indices import is_strided
from fusejit.tracer.indexing.view_functions import array_of_scalar, same_view
from fusejit.tracer.np.arrays import strided
from fusejit.tracer.np.arrays.conversions import require_dtype_of_items
from fusejit.tracer.np.arrays.mask_indices import (
    is_mask,
    positions,
    require_mask_fits,
    view_beside_mask,
    without_masks,
)
from fusejit.tracer.ops.copy_order import require_copied_at_once
from fusejit.tracer.ops.stores import (
    assign_masked,
    assign_operand,
    note_store_of_itself,
    require_writeable,
)
from fusejit.tracer.ops.union_operators import as_integer, store
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.masked import MaskedElements, as_array, is_same_value, with_trailing_axes
from fusejit.tracer.values.operand_types import I64, Operand, contains_traced, operand_of
from fusejit.tracer.values.subclass_numbers import stored
from fusejit.tracer.values.union_scalar import is_union_scalar


def _with_integers(index: Any) -> Any:
    """An index in which integers of one of several types are Python's, and lists are arrays."""
    if isinstance(index, tuple):
        return tuple(map(_with_integers, index)) if any(map(_is_mixed, index)) else index
    if isinstance(index, slice):
        ends = (index.start, index.stop, index.step)
        return slice(*map(_with_integers, ends)) if any(map(is_union_scalar, ends)) else index
    if isinstance(index, TracedContainer):
        return index.as_array(I64)
    return as_integer(index) if is_union_scalar(index) else index


def _is_mixed(item: Any) -> bool:
    return is_union_scalar(item) or isinstance(item, slice | TracedContainer)


def getitem(array: TracedArray, index: Any) -> TracedArray | MaskedElements:
    """``array[index]`` for ints, slices, Ellipsis and None: a view, or a scalar."""
    index = _items_of(array, index)
    if len(index) == 1 and is_mask(index[0]) and (mask := operand_of(index[0]).array) is not None:
        require_mask_fits(array, mask)
        return MaskedElements.select(array, mask.value())
    if any(map(is_mask, index)):
        return getitem(*_beside_mask(array, index))
    if is_strided(index, array.trace):
        return strided.getitem(array, index)
    integers = list(map(index_array, index))
    if any(i is not None and i.ndim for i in integers):
        gathered = gathers.getitem(array, index, integers)
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
    base, place = element.storage.value_of_view(element), IndexingMap.identity(0)
    if base is None:
        base, place = element.storage.read(), element.map
    trace.emit(ViewOp(results=(result,), source=base, map=place))
    return TracedArray.of_value(trace, result)


def setitem(array: TracedArray, index: Any, value: Any) -> None:
    """``array[index] = value`` for basic indices, or a mask of the array's shape and a number."""
    if array.kind is not Kind.ARRAY:
        raise numpy_raises("TypeError: a number does not support item assignment")
    if is_union_scalar(value):
        store(array, index, value)
        return
    if isinstance(value, list | tuple) and array.dtype.kind in "iu" and contains_traced(value):
        value = ARRAY_OPS.array_of_list(value, array.dtype)
    if isinstance(value, TracedContainer):
        items, value = value, value.as_array(array.dtype)
        require_dtype_of_items(items, value, array.dtype)
    index = _items_of(array, index)
    if len(index) == 1 and is_mask(index[0]):
        _store_masked(array, index[0], value)
        return
    if any(map(is_mask, index)):
        setitem(*_beside_mask(array, index), value)
        return
    if is_strided(index, array.trace):
        strided.setitem(array, index, value)
        return
    integers = list(map(index_array, index))
    if any(i is not None and i.ndim for i in integers):
        gathers.setitem(array, index, integers, value)
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


def _items_of(array: TracedArray, index: Any) -> tuple[Any, ...]:
    """An index as a tuple of items; of a mask and full slices after it the mask alone."""
    if isinstance(index, TracedContainer) and index.python_type is tuple:
        index.refuse("indexes with a tuple of a length that only the kernel knows")
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
        raise unsupported_index("a bool that is no array", "write `if` around the store")
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
