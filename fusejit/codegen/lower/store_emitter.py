"""Stores of a kernel: straight from their producers, by copies, or one element after the other."""

from __future__ import annotations

from fusejit.codegen.bufferize.memrefs import MemRef
from fusejit.codegen.loop_nests.loop_nest import place_by_depth, point_of
from fusejit.codegen.loop_nests.scattered import operand_maps, scatter_payload
from fusejit.codegen.lower.row_blocks import BlockEmitter
from fusejit.dataclass import replace
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.nodes import Element, Let, StoreElement
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import scalar
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Assert,
    ConstantOp,
    GenericOp,
    HostCall,
    Load,
    Op,
    Operand,
    ReshapeOp,
    Scatter,
    Store,
    ViewOp,
    Write,
)
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value


class StoreEmitter(BlockEmitter):
    """A kernel writer that knows all ops: what computes, what takes memory, and what stores."""

    def op(self, op: Op) -> None:
        """Lower one op of a kernel."""
        if isinstance(op, GenericOp):
            if self.assignment.is_computed_at_use(op):
                return
            self.generic(op, [self._new_memref(r) for r in op.results])
        elif isinstance(op, HostCall):
            self.inline_call(op)
        elif isinstance(op, Assert):
            self.check(op)
        elif isinstance(op, Scatter):
            self.scatter(op)
        elif isinstance(op, Store):
            if self.assignment.homes.get(op.value) is not op:
                self.store(op)
        elif isinstance(op, Load):
            (value,) = op.results
            if value in self.assignment.snapshots:
                source = MemRef(self.buffer_memory(op.view.buffer), op.view.map)
                self._copy_from(source, value, self._new_memref(value), "snapshot")
        elif isinstance(op, Alloc):
            buffer = op.buffer
            if buffer not in self.memory:
                rotates = any(buffer in r.loop_buffers for r in self.assignment.rotated.values())
                memory = self._heap(buffer.type, buffer.order, rotates)
                self.memory[buffer] = replace(memory, alias_class=buffer.alias_class)
        else:
            assert isinstance(op, ViewOp | ReshapeOp | ConstantOp | Alias)

    def store(self, op: Store) -> None:
        """``view = value``: straight from its producer, or by a copy (through a temporary)."""
        buffer = op.view.buffer
        rotation = self.assignment.rotated.get(op)
        if rotation is not None:
            if op is rotation.stores[0] and not rotation.has_spare:
                made = self.assignment.defining[rotation.value]
                assert isinstance(made, GenericOp)
                last = self.buffer_memory(rotation.loop_buffers[-1])
                self.generic(made, [MemRef.whole(last)])
            return
        producer = self.assignment.moves.get(op)
        if op.value in self.assignment.straight:
            made = self.assignment.defining[op.value]
            assert isinstance(made, GenericOp)
            producer = made
        if producer is not None:
            overlap = self.assignment.overlaps.get(op)
            if overlap is not None:
                self.overlapping(op, producer, overlap)
            else:
                target, place = self.target_of(op, producer)
                self.generic(producer, [target], place)
            return
        source, target = self.locate(op.value), MemRef(self.buffer_memory(buffer), op.view.map)
        mask = None if op.mask is None else self.locate(op.mask)
        identity = IndexingMap.identity(len(op.view.extents))
        if self._meets(source, op) or (mask is not None and self._meets(mask, op)):
            if mask is not None and self._meets(mask, op):
                mask = self._temporary_copy(mask, op.mask)  # type: ignore[arg-type]
            source = self._temporary_copy(source, op.value)
        self._copy_from(
            source, op.value, target, "store", None if mask is None else (mask, identity)
        )

    def scatter(self, op: Scatter) -> None:
        """One element after the other, in the axis order of the value."""
        target = MemRef(self.buffer_memory(op.view.buffer), op.view.map)
        sources = [self._unwritten(v, op) for v in op.operand_values]
        operands = [Operand(v, m) for v, m in zip(sources, operand_maps(op), strict=True)]
        point, inputs = scatter_payload(op, operands, self.assignment)
        combined = GenericOp(
            results=(),
            domain=op.value.type.extents,
            iterators=(IteratorType.SEQUENTIAL,) * op.value.type.rank,
            inputs=inputs,
            inits=(),
            payload=point,
            name="scatter",
        )
        nest = self._nest(combined, [], None)
        nest.prefix = self._name("y")
        lets, results = point_of(nest, nest.inputs, [], nest.index_dims)
        dims: dict[int, Polynomial] = {}
        for axis, subscript in enumerate(results[:-1]):
            lets.append(Let(f"{nest.prefix}i{axis}", subscript))
            dims[axis] = Polynomial.name(f"{nest.prefix}i{axis}")
        pointer, offset = target.address(IndexingMap.identity(len(dims)), dims)
        new = results[-1]
        if op.combine is not None:
            dtype = op.value.type.dtype
            new = scalar(op.combine, Element(pointer, offset), new, dtype=dtype)
        store = StoreElement(pointer, offset, new)
        order = op.value.order or range(len(nest.loops))
        self.statements += place_by_depth([nest.loops[d] for d in order], lets, [store])

    def _unwritten(self, value: Value, op: Scatter) -> Value:
        """The value, or a copy of it if it is read from the memory that is being written."""
        if value in self.assignment.scattered or not self._meets(self.locate(value), op):
            return value
        copied = Value(f"{value.name}_before", value.type)
        self.memrefs[copied] = self._temporary_copy(self.locate(value), value)
        return copied

    def _meets(self, memref: MemRef, op: Write) -> bool:
        """Whether copying from ``memref`` into the store's view could read what was written."""
        memory = memref.memory
        if memory is None or memory.alias_class is None:
            return False
        return memory.alias_class == op.view.buffer.alias_class
