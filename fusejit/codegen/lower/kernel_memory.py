"""Where the values and buffers of a kernel are: memory that exists, and memory that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from fusejit.codegen.bufferize.bufferization import BufferAssignment
from fusejit.codegen.bufferize.memrefs import Memory, MemRef, dense_strides, extent_polynomials
from fusejit.codegen.intrinsics.statuses import Status
from fusejit.dataclass import dataclass, field
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.mentioned_names import expr_names
from fusejit.ir.loops.nodes import Expr, Free, Integer, Let, Number, Scratch, Stmt, Var
from fusejit.ir.loops.polynomial import Polynomial, product
from fusejit.ir.ops import ConstantOp, Load, ReshapeOp, ViewOp
from fusejit.ir.types import TensorType
from fusejit.ir.values import Buffer, Value

LARGEST_ON_STACK = 1024  # bytes of a buffer of constant size that is not taken from the heap
_MAX_SCOPE = 27  # the scopes above belong to the scratch of reductions


@dataclass(slots=True)
class Enclosing:
    """A block around the current one: where its statements go on, what it defines.

    Attributes
    ----------
    statements, frees : list
        Of the block outside, up to the loop or conditional.
    defined : set of str
        Symbols that the inner block defines: the induction variable, integers it binds.
    leaves : list
        What runs where a check of the inner block leaves the kernel.
    is_chunk : bool
        Whether the inner block runs in a function of its own: nothing of it may stand further out.
    largest : dict of str to Polynomial
        What the lengths of tiles, which the inner block defines, are at most.
    is_tile : bool
        Whether the inner block has only the nests of a tile, as they would be without tiles.
    """

    statements: list[Stmt]
    frees: list[str]
    is_loop: bool
    defined: set[str] = field(default_factory=set)
    leaves: list[list[Stmt]] = field(default_factory=list)
    is_chunk: bool = False
    largest: dict[str, Polynomial] = field(default_factory=dict)
    is_tile: bool = False


class KernelMemory:
    """What is known of a kernel's memory while its ops are written down.

    ``memref`` tells where values that were computed live, ``memory`` where buffers do.
    """

    def __init__(self, graph: Graph, assignment: BufferAssignment) -> None:
        self.graph = graph
        self.assignment = assignment
        self.memrefs: dict[Value, MemRef] = {}
        self.memory: dict[Buffer, Memory] = {}
        self.statements: list[Stmt] = []
        self.frees: list[str] = []
        self.counter = 0
        self.scope: dict[str, int] = {}
        self.tile_of: dict[int, tuple[Polynomial, Polynomial]] = {}  # dim -> start, width of a tile
        self.reversed: dict[int, Polynomial] = {}  # dim that runs backwards -> its last index
        self.own_names = False  # whether nests share a function
        self.regions: list[Enclosing] = []  # the blocks around the current one

    @contextmanager
    def enclosed(self, region: Enclosing) -> Iterator[list[Stmt]]:
        """Collect the statements of an inner block; the memory that it takes ends with it."""
        outer, frees, inner = self.statements, self.frees, list[Stmt]()
        self.statements, self.frees = inner, []
        self.regions.append(region)
        yield inner
        self.regions.pop()
        inner += map(Free, self.frees)
        self.statements, self.frees = outer, frees

    @contextmanager
    def apart(self) -> Iterator[list[Stmt]]:
        """Collect statements that the caller places itself."""
        outer, inner = self.statements, list[Stmt]()
        self.statements = inner
        yield inner
        self.statements = outer

    def number(self, value: Value) -> Expr:
        """A value of rank 0."""
        return self.locate(value).element(IndexingMap.identity(0), {})

    def locate(self, value: Value) -> MemRef:
        """Where a value's elements are."""
        if value in self.memrefs:
            return self.memrefs[value]
        op = self.assignment.defining[value]
        if isinstance(op, ViewOp):
            return self.locate(op.source).through(op.map)
        if isinstance(op, ReshapeOp):
            source = self.locate(op.source)
            return source.reshaped(op.reassociation, extent_polynomials(value.type.extents))
        if isinstance(op, Load):
            return MemRef(self.buffer_memory(op.view.buffer), op.view.map)
        if isinstance(op, ConstantOp):
            return MemRef(expr=Number(op.number, value.type.dtype))
        raise AssertionError(f"%{value.name} has no place")

    def buffer_memory(self, buffer: Buffer) -> Memory:
        """The memory of a buffer, which may be another one, its axes split or merged, or a part."""
        if buffer not in self.memory and buffer.base is not None:
            base, extents = self.buffer_memory(buffer.base), extent_polynomials(buffer.type.extents)
            if buffer.part is not None:
                self.memory[buffer] = base.part(buffer.part)
            else:
                assert buffer.reassociation is not None
                self.memory[buffer] = base.reshaped(buffer.reassociation, extents)
        return self.memory[buffer]

    def _name(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter - 1}"

    def _heap(
        self, type_: TensorType, order: tuple[int, ...] | None, rotates: bool = False
    ) -> Memory:
        dtype, polynomials = type_.dtype, extent_polynomials(type_.extents)
        name = self._name("t")
        scope = self._next_scope("rotating" if rotates else name)
        size = product(polynomials)
        count = size.as_constant()
        is_small = count is not None and count * dtype.itemsize <= LARGEST_ON_STACK
        if is_small and not rotates:  # memory that pointers leave is made before the loop
            self.statements.append(Scratch(f"p_{name}", Integer(size), dtype, True, scope))
        else:
            self.allocate([], f"p_{name}", Integer(size), dtype, scope)
        return Memory(f"p_{name}", dtype, dense_strides(polynomials, order))

    def allocate(
        self,
        sizes: Sequence[Let],
        name: str,
        size: Integer,
        dtype: np.dtype,
        scope: int | None = None,
    ) -> None:
        """Memory until the end of the block, or of the outermost loop that keeps its size.

        ``sizes`` stand before it and define what ``size`` reads. The size of a tile is that of the
        largest one.
        """
        scope = self._next_scope(name) if scope is None else scope
        needed = frozenset().union(*(expr_names(s.value) for s in sizes))
        statements, frees = self.statements, self.frees
        largest = size.value
        for region in reversed(self.regions):
            for length, most in region.largest.items():
                largest = largest.substitute(length, most)
            if (largest.names() | needed) & region.defined:
                break
            size = Integer(largest)
            if region.is_loop:
                statements, frees = region.statements, region.frees
                outermost = region
            if region.is_chunk:
                break
        if frees is not self.frees:
            for leave in outermost.leaves:
                leave.insert(0, Free(name))
        statements += [*sizes, Scratch(name, size, dtype, False, scope, Status.NO_MEMORY)]
        frees.append(name)

    def _next_scope(self, name: str) -> int:
        """An alias scope for memory of the kernel; 0 when there are no more."""
        if name in self.scope:
            return self.scope[name]
        scope = len(self.scope) + 16
        self.scope[name] = scope if scope <= _MAX_SCOPE else 0
        return self.scope[name]

    def _new_memref(self, value: Value) -> MemRef:
        """A place for a value that is about to be computed."""
        if value in self.memrefs:
            return self.memrefs[value]
        if value.type.rank == 0:
            memref = MemRef(expr=Var(self._name("n")))
        elif value in self.assignment.homes:
            view = self.assignment.homes[value].view
            memref = MemRef(self.buffer_memory(view.buffer), view.map)
        else:
            rotates = any(r.value is value for r in self.assignment.rotated.values())
            memory = self._heap(value.type, value.order, rotates)
            memref = MemRef.whole(memory)
        self.memrefs[value] = memref
        return memref
