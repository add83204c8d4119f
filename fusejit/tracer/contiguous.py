"""Arrays asked for in an order of memory, or of one shape: the array itself, or a copy."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from fusejit.tracer.array import TracedArray
from fusejit.tracer.context import current_trace
from fusejit.tracer.creation import array_from
from fusejit.tracer.dispatch import HANDLERS, handles
from fusejit.tracer.masked import as_array
from fusejit.tracer.operands import contains_traced
from fusejit.tracer.reshapes import is_contiguous, without_ones
from fusejit.tracer.shapes import broadcast
from fusejit.tracer.views import broadcast_to


@handles(np.ascontiguousarray)
def in_c_order(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """``np.ascontiguousarray``: of at least one axis, the array itself if it is in C order."""
    return _ordered(a, dtype, "C")


@handles(np.asfortranarray)
def in_fortran_order(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """``np.asfortranarray``: the array itself if its transpose is in C order."""
    return _ordered(a, dtype, "F")


def _ordered(a: Any, dtype: Any, order: str) -> Any:
    a = as_array(a)
    if not contains_traced(a):
        return NotImplemented
    array: TracedArray = HANDLERS[np.asarray](a, dtype)
    if not array.ndim:
        return HANDLERS[np.reshape](array, 1)
    if _is_in_order(array, order):
        return array
    equal = array.trace.decisions.equal
    if any(equal(e, 0, "an array without elements is in order") for e in array.extents):
        return array
    if any(equal(e, 1, "an axis of length 1") for e in array.extents) and _is_in_order(
        array, order
    ):
        return array
    return HANDLERS[np.array](array, order=order)


def _is_in_order(array: TracedArray, order: str) -> bool:
    return is_contiguous(without_ones(array if order == "C" else array.T))


@handles(copy.copy, copy.deepcopy)
def copied(obj: Any, memo: Any = None) -> Any:
    """``copy.copy`` and ``copy.deepcopy`` of an array; NumPy keeps the order of its axes."""
    obj = as_array(obj)
    return HANDLERS["copy"](obj, "K") if isinstance(obj, TracedArray) else NotImplemented


@handles(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: Any = False) -> Any:
    """``np.broadcast_arrays``: views of one shape."""
    if not contains_traced(list(args)):
        return NotImplemented
    arrays = [array_from(as_array(a)) for a in args]
    trace = current_trace()
    extents = broadcast(trace.decisions, [a.extents for a in arrays])
    if all(list(a.extents) == list(extents) for a in arrays):
        return tuple(arrays)
    shape = tuple(map(trace.number, extents))
    return tuple(broadcast_to(a, shape) for a in arrays)
