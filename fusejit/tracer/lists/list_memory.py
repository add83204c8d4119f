"""Memory of the lists of a kernel, and how many items there is room for."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.ops import Assert
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import TensorType
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.kernel_indices import scalar
from fusejit.tracer.program.locations import current_location
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.storage import Storage

CAPACITY, CAPACITY_OF_ARRAYS = "capacity", "capacity of arrays"
"""The errors of checks that a list has room for another item, and for another array."""
FIRST_CAPACITY = 256
LARGEST_CAPACITY = 2**40


class Capacities:
    """How many items the lists of one trace have room for, in arrays that all calls share.

    How many arrays stands apart: a long list of numbers must not make room for as many of these.
    """

    def __init__(self) -> None:
        self._names = ["", ""]
        self.rooms = [np.zeros(0, np.int64), np.zeros(0, np.int64)]

    def add(self, trace: Trace, of_arrays: bool = False) -> AffineExpr:
        """The symbol of the capacity of another list, or of a column of arrays."""
        room = self.rooms[of_arrays] = np.append(self.rooms[of_arrays], FIRST_CAPACITY)
        constants = trace.captured_reads.constants
        name = self._names[of_arrays] = self._names[of_arrays] or f"k{len(constants)}"
        constants[name] = room
        expr = HostExpr.path(Path("const", name).item(len(room) - 1))
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


def require_room(trace: Trace, at: AffineExpr, capacity: AffineExpr, error: str) -> None:
    """Have the launcher make room where a place is beyond a capacity."""

    def has_room(builder: PayloadBuilder, ref: Any) -> int:
        return builder.op("less", [ref(at), ref(capacity)], BOOL)

    condition = scalar(trace, "has_room", BOOL, has_room)
    trace.emit(Assert(condition=condition, reason="a list has room for another item", error=error))
