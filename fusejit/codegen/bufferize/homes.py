"""Values that live where they are stored: in memory to which nothing else is written.

for i = 0 to n {                    # in a loop
  %row = generic "exp" ..           # computed in @y, and read there
  store @y [i ..] = %row
  %total = generic "sum" (%row)
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Alloc,
    Block,
    ConstantOp,
    GenericOp,
    Load,
    ReshapeOp,
    Store,
    ViewOp,
    Write,
    walk,
)
from fusejit.ir.values import Buffer, Value

_HARMLESS = Alloc | ConstantOp | GenericOp | Load | ReshapeOp | Store | ViewOp


def homes_of(graph: Graph, elsewhere: Container[Value]) -> dict[Value, Store]:
    """The stores into whose memory arrays of loops are computed, by the values of these.

    Nothing beside such a store, or in a loop beside it, reads the memory: it may be written before.
    Nothing between decides whether it is written, and where: no check of an index, no number.

    Parameters
    ----------
    elsewhere : container of Value
        Those that live in another place: a slot, a rotation, or written at their stores.
    """
    writes = Counter(o.view.buffer.root for o in walk(graph.block) if isinstance(o, Write))
    seen = {buffer.base for buffer in graph.buffers}  # in other shapes
    homes: dict[Value, Store] = {}

    def find(block: Block) -> set[Buffer]:
        """The buffers that a block reads, those of its blocks included."""
        read = {op.view.buffer.root for op in block.ops if isinstance(op, Load)}
        for inner in (b for op in block.ops for b in op.blocks):
            read |= find(inner)
        made = {result: at for at, op in enumerate(block.ops) for result in op.results}
        allocs = {op.buffer: at for at, op in enumerate(block.ops) if isinstance(op, Alloc)}
        for store in block.ops:
            if not isinstance(store, Store) or store.value not in made or block is graph.block:
                continue
            at, buffer = made[store.value], store.view.buffer
            producer = block.ops[at]
            if (
                isinstance(producer, GenericOp)
                and producer.library_call is None
                and store.mask is None
                and store.value.type.rank
                and store.value not in elsewhere
                and buffer.origin is None
                and buffer.base is None
                and buffer not in seen | read
                and writes[buffer] == 1
                and allocs.get(buffer, -1) < at
                and all(isinstance(op, _HARMLESS) for op in block.ops[at : block.ops.index(store)])
            ):
                homes[store.value] = store
        return read

    find(graph.block)
    return homes
