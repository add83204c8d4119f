"""Memory of the lists of a kernel, and how many items there is room for."""

from __future__ import annotations

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.types import TensorType
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.program.locations import current_location
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage

CAPACITY = "capacity"
"""The error of a check that a list has room for another item."""
FIRST_CAPACITY = 256
LARGEST_CAPACITY = 2**40


class Capacities:
    """How many items the lists of one trace have room for, in an array that all calls share."""

    def __init__(self) -> None:
        self.name = ""
        self.room = np.zeros(0, np.int64)

    def add(self, trace: Trace) -> AffineExpr:
        """The symbol of the capacity of another list."""
        self.room = np.append(self.room, FIRST_CAPACITY)
        self.name = self.name or f"k{len(trace.captured_reads.constants)}"
        trace.captured_reads.constants[self.name] = self.room
        expr = HostExpr.path(Path("const", self.name).item(len(self.room) - 1))
        return trace.symbol(expr, FIRST_CAPACITY, 1, LARGEST_CAPACITY)


def lasting_memory(
    trace: Trace, name: str, dtype: np.dtype, extents: tuple[AffineExpr, ...]
) -> TracedArray:
    """Memory that is there before all loops and conditionals."""
    outermost = trace.blocks[0]
    buffer = trace.allocate(name, TensorType(dtype, extents), None, outermost, current_location())
    storage = Storage.of_buffer(trace, buffer)
    storage.home = outermost
    return TracedArray.whole(storage)
