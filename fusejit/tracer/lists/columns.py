"""Columns of what comes from outside, as arrays that kernels read: `read_columns`."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.columns.list_columns import ColumnsClass, ListColumn
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.traced import CheckKind, PathCheck
from fusejit.ir.types import TensorType
from fusejit.ir.values import Buffer
from fusejit.tracer.builder.shapes import MAX_SIZE
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage


def read_columns(trace: Trace, path: Path, of: ColumnsClass, obj: Any) -> list[TracedArray]:
    """The columns of a container or a string at a path; each call makes them of its own."""
    trace.captured_reads.checks.append(PathCheck(path, CheckKind.LIST, of))
    found = of.columns(obj)
    assert found is not None
    columns: list[TracedArray] = []
    for level in of.levels:  # columns of one length
        first = path.column(ListColumn(of, len(columns)))
        count = len(found[len(columns)])
        extent = trace.symbol(HostExpr.size(first, 0), count, 0, MAX_SIZE)
        for _ in level:
            at = path.column(ListColumn(of, len(columns)))
            columns.append(_column(trace, at, found[len(columns)], extent))
    return columns


def _column(trace: Trace, path: Path, array: np.ndarray, extent: AffineExpr) -> TracedArray:
    """A column as an array that kernels read."""
    type_ = TensorType(array.dtype, (extent,))
    name = trace.unique_name(path.name)
    origin = HostExpr.path(path)
    buffer = Buffer(name, type_, trace.new_alias_class(), origin, writeable=False)
    trace.graph.buffers.append(buffer)
    storage = Storage.of_buffer(trace, buffer, None, array)
    storage.home = trace.blocks[0]
    return TracedArray.whole(storage)
