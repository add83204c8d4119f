"""Loops and memory: ``scf.for``, memrefs, and tensors whose parts are replaced.

A memref of the caller is a buffer that stores write to; one that the function allocates is a local
buffer. A tensor that a loop carries lives in a local buffer, too: an iteration loads it where it
reads it, and stores what it yields. Where ``tensor.insert`` replaces part of such a tensor, and
nothing reads the tensor of before later, only the part is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Alloc, Block, GenericOp, Init, Loop, Store, ViewOp
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Buffer, Value, View
from fusejit.mlir.read_body import BodyReader, dtype_of
from fusejit.mlir.read_layouts import LayoutReader
from fusejit.mlir.read_state import Empty, Memory, is_shaped
from fusejit.mlir.read_tensors import TensorReader

SCALAR = IndexingMap(0, ())


class MemoryReader(LayoutReader, TensorReader):
    """The handlers of loops, memrefs, numbers and parts of tensors."""

    def read(self, op: Any) -> None:
        """Read one operation."""
        raise NotImplementedError

    def local(self, type_: TensorType) -> Buffer:
        """Memory of the function itself."""
        buffer = Buffer(f"m{len(self.graph.buffers)}", type_, len(self.graph.buffers))
        self.graph.buffers.append(buffer)
        self.append(Alloc(buffer=buffer))
        return buffer

    def store(self, view: View, value: Value, op: Any) -> None:
        """Write a value into memory."""
        self.append(Store(view=view, value=value, version=0, location=self.location(op)))

    def place(self, op: Any, of: Any, subscripts: Sequence[Any]) -> IndexingMap:
        """The map of one element; its subscripts are inside."""
        found = [self.index_of(v, op) for v in subscripts]
        for axis, (expr, extent) in enumerate(zip(found, self.extents_of(of), strict=True)):
            where = self.location(op)
            what = f"{op.name} of line {where.line}, axis {axis}"
            self.sizes.require_inside(expr, [], extent, what, where)
        return IndexingMap(0, tuple(found))

    # -- numbers --------------------------------------------------------------------------------
    def scalar(self, op: Any) -> None:
        """An operation on numbers outside of any body."""
        dtype = dtype_of(op.results[0].type)
        if dtype is None:
            raise self.complaint(op, f"numbers of type {op.results[0].type} are not read")
        body = BodyReader(
            [op, _Yield(op.results)], self.readable, [], [(object(), dtype)], 0,
            self.complaint, self.numbers,
        )  # fmt: skip
        made = GenericOp(
            domain=(),
            iterators=(),
            inputs=tuple(body.inputs),
            inits=(Init(SCALAR),),
            payload=body.payload({}),
            name=op.name.rpartition(".")[2],
            results=(self.new(TensorType(dtype), Kind.SCALAR),),
            location=self.location(op),
        )
        self.known[op.results[0]] = self.emit(made)

    def extract(self, op: Any) -> None:
        """``tensor.extract`` and ``memref.load`` of an element whose place is known."""
        source, *subscripts = op.operands
        place = self.place(op, source, subscripts)
        value = self.value(source, op)
        result = self.new(TensorType(value.type.dtype), Kind.SCALAR)
        made = ViewOp(source=value, map=place, results=(result,), location=self.location(op))
        self.known[op.results[0]] = self.emit(made)

    # -- tensors in memory ----------------------------------------------------------------------
    def in_memory(self, value: Any, op: Any) -> Buffer:
        """The buffer of a tensor that an operation may write to: its own, or that of a copy."""
        found = self.entity(value)
        if isinstance(found, Memory) and found.home is self.graph.block:
            others = (use.owner.operation for use in value.uses)
            if all(user == op or user in self.done for user in others):
                return found.view.buffer
        assert not isinstance(found, AffineExpr)
        buffer = self.local(found.type)
        if not isinstance(found, Empty):
            self.store(View.whole(buffer), self.value(value, op), op)
        return buffer

    def tensor_of(self, buffer: Buffer) -> Memory:
        """All of a buffer, as a tensor of this block."""
        return Memory(View.whole(buffer), self.graph.block)

    def insert(self, op: Any) -> None:
        """``tensor.insert``."""
        scalar, dest, *subscripts = op.operands
        place, value = self.place(op, dest, subscripts), self.value(scalar, op)
        buffer = self.in_memory(dest, op)
        self.store(View(buffer, place, ()), value, op)
        self.known[op.results[0]] = self.tensor_of(buffer)

    def insert_slice(self, op: Any) -> None:
        """``tensor.insert_slice``."""
        source, dest = list(op.operands)[:2]
        indexing_map, extents = self.slice_of(op, dest, source.type)
        value = self.value(source, op)
        buffer = self.in_memory(dest, op)
        self.store(View(buffer, indexing_map, tuple(extents)), value, op)
        self.known[op.results[0]] = self.tensor_of(buffer)

    # -- memrefs --------------------------------------------------------------------------------
    def alloc(self, op: Any) -> None:
        """``memref.alloc`` and ``memref.alloca``."""
        sizes = [self.index_of(v, op) for v in op.operands]
        buffer = self.local(self.type_with(op.results[0].type, sizes, op))
        self.known[op.results[0]] = self.tensor_of(buffer)

    def memory(self, value: Any, op: Any) -> Memory:
        found = self.entity(value)
        if not isinstance(found, Memory):
            raise self.complaint(op, "a memref is expected")
        return found

    def memref_store(self, op: Any) -> None:
        """``memref.store``."""
        scalar, dest, *subscripts = op.operands
        place, view = self.place(op, dest, subscripts), self.memory(dest, op).view
        self.store(View(view.buffer, view.map.compose(place), ()), self.value(scalar, op), op)

    def memref_copy(self, op: Any) -> None:
        """``memref.copy``."""
        source, dest = op.operands
        self.equal_extents(op, source, dest)
        self.store(self.memory(dest, op).view, self.value(source, op), op)

    def subview(self, op: Any) -> None:
        """``memref.subview``: the memory of part of a memref."""
        source = op.operands[0]
        view = self.memory(source, op).view
        indexing_map, extents = self.slice_of(op, source, op.results[0].type)
        part = View(view.buffer, view.map.compose(indexing_map), tuple(extents))
        self.known[op.results[0]] = Memory(part, self.graph.block)

    def nothing(self, op: Any) -> None:
        """An operation without a meaning here: memory lives until the call ends."""

    def equal_extents(self, op: Any, left: Any, right: Any) -> None:
        pairs = zip(self.extents_of(left), self.extents_of(right), strict=True)
        for axis, (one, other) in enumerate(pairs):
            what = f"{op.name} of line {self.location(op).line}: axis {axis}"
            self.sizes.require_equal(one, other, what, self.location(op))

    # -- loops ----------------------------------------------------------------------------------
    def loop(self, op: Any) -> None:
        """``scf.for``."""
        operands, block = list(op.operands), op.regions[0].blocks[0]
        induction, *arguments = block.arguments
        lower, upper, step = (self.index_of(v, op) for v in operands[:3])
        if (constant := step.as_constant()) is None or constant < 1:
            raise self.complaint(op, "the step of a loop is not a positive constant")
        name = f"at{len(self.sizes.ranges)}"
        self.sizes.ranges[name] = (lower, upper - 1)
        body, outer = Block(), self.graph.block
        buffers: dict[int, Buffer] = {}
        starts: list[Value] = []
        carried: list[Value] = []
        for at, (argument, init) in enumerate(zip(arguments, operands[3:], strict=True)):
            if is_shaped(argument.type):
                buffers[at] = self.in_memory(init, op)
                self.known[argument] = Memory(View.whole(buffers[at]), body)
                continue
            start = self.value(init, op)
            starts.append(start)
            carried.append(Value(f"{name}_{at}", start.type, Kind.SCALAR))
            self.known[argument] = carried[-1]
        self.known[induction] = AffineExpr.symbol(name)
        self.graph.block = body
        *inner, last = (o.operation for o in block)
        for one in inner:
            self.read(one)
        yielded = [self.entity(v) for v in last.operands]
        values = {
            at: None if _is_whole(yielded[at], buffers.get(at)) else self.value(v, last)
            for at, v in enumerate(last.operands)
        }
        for at, buffer in buffers.items():
            if (value := values[at]) is not None:
                self.store(View.whole(buffer), value, last)
        body.arguments = tuple(carried)
        body.yields = tuple(v for at, v in values.items() if at not in buffers and v is not None)
        self.graph.block = outer
        results = tuple(self.new(v.type, Kind.SCALAR) for v in carried)
        made = Loop(
            carried=tuple(starts),
            body=body,
            induction=name,
            lower=lower,
            upper=upper,
            step=constant,
            results=results,
            location=self.location(op),
        )
        self.append(made)
        numbers = iter(results)
        for at, result in enumerate(op.results):
            self.known[result] = self.tensor_of(buffers[at]) if at in buffers else next(numbers)


class _Yield:
    """What ends the body that one operation is."""

    name = "linalg.yield"

    def __init__(self, operands: Any) -> None:
        self.operands = operands
        self.results: tuple[Any, ...] = ()
        self.operation = self


def _is_whole(entity: Any, buffer: Buffer | None) -> bool:
    """Whether a tensor is what a buffer holds."""
    return isinstance(entity, Memory) and buffer is not None and entity.view == View.whole(buffer)
