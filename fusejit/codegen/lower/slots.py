"""`Slots`: the arrays of the launcher: which there are, where they are made, and what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fusejit.codegen.bufferize.bufferization import BufferAssignment
from fusejit.codegen.bufferize.memrefs import Memory, MemRef, dense_strides, extent_polynomials
from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.host_blocks import host_blocks, runs_on_host
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.nodes import Role
from fusejit.ir.loops.program import ArrayRef, Program, Slot
from fusejit.ir.ops import (
    Alloc,
    Assert,
    Bind,
    Block,
    Cond,
    GenericOp,
    HostCall,
    Load,
    Loop,
    Op,
    ReshapeOp,
    ViewOp,
    walk,
)
from fusejit.ir.types import TensorType
from fusejit.ir.values import Buffer, Value, View


class Slots:
    """The slots of one program.

    Parameters
    ----------
    program : Program
        Has the slots that are made once a call.
    assignment : BufferAssignment
    overwritten : mapping of Value to Value
        Products that are computed in place of an operand.
    binds : frozenset of Op
        Those of the launcher.
    memrefs : dict of Value to MemRef
        Where the writer finds values; gets those that are in slots.
    memory : dict of Buffer to Memory
        As that, for buffers.

    Attributes
    ----------
    of_block : dict of Block to list of Slot
        Slots by the block of the launcher at whose begin they are made.
    named : dict of str to Slot
    name_of : dict of Value or Buffer to str
    reshaped : dict of Value to ArrayRef
        Values that fill slots of other shapes.
    arrays : dict
        Dtype and rank by the name of an array; of arguments too.
    """

    def __init__(
        self,
        program: Program,
        assignment: BufferAssignment,
        overwritten: Mapping[Value, Value],
        binds: frozenset[Op],
        memrefs: dict[Value, MemRef],
        memory: dict[Buffer, Memory],
    ) -> None:
        self._graph = graph = program.graph
        self._assignment = assignment
        self._overwritten = overwritten
        self._binds = binds
        self._memrefs = memrefs
        self._memory = memory
        self._count = 0
        blocks = list(host_blocks(graph))
        self.of_block: dict[Block, list[Slot]] = {block: [] for block in blocks}
        self.of_block[graph.block] = program.slots
        self.named: dict[str, Slot] = {}
        self.name_of: dict[Value | Buffer, str] = {}
        self.reshaped: dict[Value, ArrayRef] = {}
        self.arrays: dict[str, tuple[np.dtype, int]] = {}
        self.home_of: dict[Op | Buffer, Block] = {op: b for b in blocks for op in b.ops}
        for block in blocks:
            for op in block.ops:
                if isinstance(op, Alloc):
                    self.home_of[op.buffer] = block
        self.positions = {op: at for at, op in enumerate(walk(graph.block))}

    def add(
        self, type_: TensorType, order: tuple[int, ...] | None, home: Block | None = None
    ) -> tuple[str, Memory]:
        """A new array of the launcher, made where the block ``home`` begins."""
        name = f"r{self._count}"
        self._count += 1
        slot = self.named[name] = Slot(name, type_.dtype, type_.extents, order)
        self.of_block[home or self._graph.block].append(slot)
        self.arrays[name] = (type_.dtype, type_.rank)
        strides = dense_strides(extent_polynomials(type_.extents), order)
        return name, Memory(f"p_{name}", type_.dtype, strides, role=Role.RESULT, array=name)

    def make(self) -> None:
        """One for each value and buffer that lives from step to step, or is a result."""
        placed: set[Value] = set()
        defining = self._assignment.defining
        for written, product in self._overwritten.items():
            name, memory = self.add(written.type, None)
            for value in (written, product):
                self.name_of[value], self._memrefs[value] = name, MemRef.whole(memory)
                self._place(self._buffer_of(value), value)
                placed.add(value)
        for result in self._graph.results:
            if isinstance(result, View):
                continue
            root = self._assignment.root(result)
            op = defining.get(root)
            if root in placed or not isinstance(op, GenericOp | Loop | Cond | Load):
                continue
            buffer = self._buffer_of(root)
            if (buffer is None and isinstance(op, Load)) or runs_on_host(op):
                continue
            if self._has_slot_through_views(result, root):
                placed.add(root)
                self._place(buffer, root)
        for value in sorted(self._assignment.slot_values - placed, key=self._result_position):
            op = defining.get(value)
            is_read_there = isinstance(op, Load) and value not in self._assignment.snapshots
            if isinstance(op, GenericOp | Loop | Cond | Load | HostCall) and not is_read_there:
                name, memory = self.add(value.type, value.order, self.home_of[op])
                self.name_of[value], self._memrefs[value] = name, MemRef.whole(memory)
        for buffer in self._graph.buffers:
            if buffer in self._assignment.slot_buffers:
                name, memory = self.add(buffer.type, buffer.order, self.home_of.get(buffer))
                self.name_of[buffer] = name
                self._memory[buffer] = replace(memory, alias_class=buffer.alias_class)

    def _buffer_of(self, value: Value) -> Buffer | None:
        """The memory of this program that a value shows as a whole, as it is in the end."""
        op = self._assignment.defining.get(value)
        if not isinstance(op, Load) or value in self._assignment.snapshots:
            return None
        buffer = op.view.buffer
        is_whole = op.view == View.whole(buffer)
        rotated = {b for r in self._assignment.rotated.values() for b in r.loop_buffers}
        taken = {*self._assignment.slot_buffers, *rotated, *self._memory}
        is_free = buffer.base is None and buffer not in taken
        return buffer if buffer.origin is None and is_whole and is_free else None

    def _place(self, buffer: Buffer | None, value: Value) -> None:
        """Let a buffer be the memory of the value that shows it."""
        if buffer is not None:
            memory = self._memrefs[value].memory
            assert memory is not None
            self._memory[buffer] = replace(memory, alias_class=buffer.alias_class)

    def _position(self, value: Value) -> int:
        return self.positions[self._assignment.defining[value]]

    def _result_position(self, value: Value) -> tuple[int, int]:
        """Where a value is defined, and which of its op's results it is."""
        return self._position(value), self._assignment.defining[value].results.index(value)

    def _has_slot_through_views(self, result: Value, root: Value) -> bool:
        """Make a slot with the result's shape in which its root can be computed, if views only
        permute axes and add axes of length 1."""
        if isinstance(self._assignment.defining[result], ReshapeOp):
            return self._has_slot_through_reshapes(result, root)
        map = IndexingMap.identity(result.type.rank)
        value = result
        while value is not root:
            op = self._assignment.defining[value]
            if not isinstance(op, ViewOp):
                return False
            map = op.map.compose(map)
            value = op.source
        dims = [r.as_dim() for r in map.results]
        if None in dims or len(set(dims)) != len(dims):
            return False
        missing = set(range(result.type.rank)) - set(dims)
        if any(result.type.extents[d].as_constant() != 1 for d in missing):
            return False
        if root.type.extents != tuple(result.type.extents[d] for d in dims if d is not None):
            return False
        name, memory = self.add(result.type, result.order)
        strides = tuple(memory.strides[d] for d in dims if d is not None)
        self.name_of[result] = name
        self._memrefs[root] = MemRef.whole(replace(memory, strides=strides))
        return True

    def _has_slot_through_reshapes(self, result: Value, root: Value) -> bool:
        """Make a slot with the result's shape that its root fills, both dense in C order."""
        value = result
        while value is not root:
            op = self._assignment.defining[value]
            if not isinstance(op, ReshapeOp) or value.order is not None:
                return False
            value = op.source
        if root.order is not None or not root.type.rank:
            return False
        if self._are_bound_after(root, result.type.extents):
            return False
        if self._is_checked_after(root, result):
            return False
        name, memory = self.add(result.type, None)
        strides = dense_strides(extent_polynomials(root.type.extents))
        identity, shape = IndexingMap.identity(root.type.rank), root.type.extents
        self.name_of[result] = name
        self._memrefs[root] = MemRef.whole(replace(memory, strides=strides))
        self.reshaped[root] = ArrayRef(name, identity, shape, ArrayRef(name), shape)
        return True

    def _are_bound_after(self, value: Value, extents: Sequence[AffineExpr]) -> bool:
        """Whether the launcher knows some of the extents only when the value is computed."""
        symbols = frozenset[str]().union(*(e.symbols() for e in extents))
        return any(
            isinstance(op, Bind) and op.symbol in symbols
            for op in self._binds
            if self.positions[op] > self._position(value)
        )

    def _is_checked_after(self, value: Value, result: Value) -> bool:
        """Whether a kernel may write ``value`` before it is sure that it has as many elements as
        its reshape ``result``."""
        extents = (*value.type.extents, *result.type.extents)
        symbols = frozenset[str]().union(*(e.symbols() for e in extents))
        places = range(self._position(value), self._position(result))
        is_checked = any(
            isinstance(op, Assert) for op, place in self.positions.items() if place in places
        )
        return is_checked and not symbols <= {s.name for s in self._graph.symbols}
