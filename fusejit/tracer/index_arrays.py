"""Items of an index that are integers of the kernel: arrays, lists, and elements of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.types import Kind
from fusejit.tracer.array import TracedArray
from fusejit.tracer.context import current_trace
from fusejit.tracer.declined import numpy_raises
from fusejit.tracer.locations import unsupported
from fusejit.tracer.operands import contains_traced, operand_of

_BOOL = np.dtype(np.bool_)


def index_array(item: Any) -> TracedArray | None:
    """The integers that an item of an index is, or None for slices, ints, None and Ellipsis."""
    if isinstance(item, list) or (isinstance(item, tuple) and item):
        if contains_traced(item):
            what = "fusejit does not trace a list of traced values as an index"
            raise unsupported(what, "store them one by one into np.empty(...) instead")
        made = np.asarray(item) if item else np.empty(0, np.int64)
        if made.dtype == _BOOL:
            return None
        item = current_trace().constant(made)
    if isinstance(item, np.ndarray):
        item = operand_of(item).array
    if not isinstance(item, TracedArray):
        return None
    if item.dtype.kind not in "iu":
        raise numpy_raises("IndexError: arrays used as indices must be of integer type")
    if not item.ndim and item.kind is Kind.ARRAY:
        what = "an array of rank 0 as an index"
        raise unsupported(what, "take its element first: i = a[()]")
    return item
