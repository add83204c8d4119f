"""Items of an index that are integers of the kernel: arrays, lists, and elements of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.creation import natural_dtype
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.ops.elementwise_op import emit_elementwise
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import needs_python, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, contains_traced, operand_of


def index_array(item: Any) -> TracedArray | None:
    """The integers that an item of an index is, or None for slices, ints, None and Ellipsis."""
    if isinstance(item, Items):
        raise needs_python(
            "indexes with a range of values that change with each call", "use np.arange"
        )
    if isinstance(item, range):
        item = current_trace().captured_reads.constant(np.asarray(item, np.int64))
    if isinstance(item, list) or (isinstance(item, tuple) and item):
        if contains_traced(item):
            return _stacked(item)
        made = np.asarray(item) if item else np.empty(0, np.int64)
        if made.dtype == BOOL:
            return None
        item = current_trace().captured_reads.constant(made)
    if isinstance(item, np.ndarray):
        item = operand_of(item).array
    if not isinstance(item, TracedArray):
        return None
    if item.dtype.kind not in "iu":
        raise numpy_raises("IndexError: arrays used as indices must be of integer type")
    if not item.ndim and item.kind is Kind.ARRAY:
        what = "an array of rank 0 as an index"
        raise unsupported(what, "write a[()], its element, instead")
    return item


def _stacked(items: Sequence[Any]) -> TracedArray:
    """``[k, p]``: integers of each call, or of the kernel, as an array."""
    operands = [None if isinstance(i, list | tuple) else operand_of(i) for i in items]
    given = [o for o in operands if o is not None and not o.extents]
    if len(given) < len(operands):
        what = "fusejit does not trace a list of arrays as an index"
        raise unsupported(what, "store them one by one into np.empty(...) instead")
    dtypes = [o.array.dtype if o.array is not None else np.dtype(natural_dtype(o)) for o in given]
    if all(dtype == BOOL for dtype in dtypes):
        raise unsupported("fusejit does not trace a list of bools as a mask", "pass an array")
    if any(dtype.kind not in "iu" for dtype in dtypes):
        raise numpy_raises("IndexError: arrays used as indices must be of integer type")

    def chosen(builder: PayloadBuilder, refs: list[int]) -> int:
        at = builder.index(AffineExpr.dim(0))
        result = refs[-1]
        for k in reversed(range(len(refs) - 1)):
            here = builder.op("equal", [at, builder.const(k, I64)], BOOL)
            result = builder.op("select", [here, refs[k], result], I64)
        return result

    extents = (AffineExpr.const(len(given)),)
    loop = [I64] * len(given)
    return emit_elementwise("index", given, loop, I64, chosen, extents=extents, order=None)
