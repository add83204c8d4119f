"""Statements of a kernel: values are located, ops become nests, stores are made safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fusejit.codegen.accumulators import accumulators
from fusejit.codegen.elementwise import lower_elementwise
from fusejit.codegen.hazards import Overlap
from fusejit.codegen.late_errors import late_status
from fusejit.codegen.nest import (
    LoopDim,
    Nest,
    PayloadWriter,
    Reference,
    collapse_loops,
    expr_names,
    order_loops,
    place_by_depth,
    token,
)
from fusejit.codegen.operands import Located, Memory, dense_strides, extent_polynomials
from fusejit.codegen.placement import Placement, copy_op
from fusejit.codegen.product_writer import has_call, is_addressable, product_call
from fusejit.codegen.reduction import lower_reduction
from fusejit.codegen.scan import lower_scan
from fusejit.codegen.scattered import operand_maps, scatter_payload
from fusejit.ir.affine import AffineExpr
from fusejit.ir.degenerate import without_idle_reduction_dims, without_reductions
from fusejit.ir.draws import draw_arguments, draw_of
from fusejit.ir.graph import (
    Alias,
    Alloc,
    Buffer,
    Check,
    ConstantOp,
    GenericOp,
    Graph,
    HostCall,
    Load,
    Op,
    Operand,
    ReshapeOp,
    Scatter,
    Store,
    Value,
    ViewOp,
)
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops import (
    Apply,
    Element,
    Exit,
    Expr,
    For,
    Free,
    If,
    Integer,
    Let,
    Number,
    Scratch,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.polynomial import Polynomial, product
from fusejit.ir.scalar_ops import SCALAR_OPS
from fusejit.ir.split import one_result_each, split_reduction
from fusejit.ir.starts import is_overwritten
from fusejit.ir.types import IteratorType

NO_MEMORY, OUT_OF_BOUNDS, NUMPY_DECIDES = 4, 5, 9
EARLY_ERRORS = {"IndexError": OUT_OF_BOUNDS, "OverflowError": OUT_OF_BOUNDS, "64 bits": 16}
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
    """

    statements: list[Stmt]
    frees: list[str]
    is_loop: bool
    defined: set[str] = field(default_factory=set)
    leaves: list[list[Stmt]] = field(default_factory=list)
    is_chunk: bool = False


class KernelWriter:
    """Writes the ops of a graph down as loop statements, one kernel after the other.

    ``located`` tells where values that were computed live, ``memory`` where buffers do.
    """

    def __init__(self, graph: Graph, placement: Placement) -> None:
        self.graph = graph
        self.placement = placement
        self.located: dict[Value, Located] = {}
        self.memory: dict[Buffer, Memory] = {}
        self.statements: list[Stmt] = []
        self.frees: list[str] = []
        self.counter = 0
        self.scope: dict[str, int] = {}
        self.stored: set[Store] = set()  # by a group, tile by tile
        self.band_of: dict[int, tuple[Polynomial, Polynomial]] = {}  # dim -> start, width of a tile
        self.reversed: dict[int, Polynomial] = {}  # dim that runs backwards -> its last index
        self.own_names = False  # whether nests share a function
        self.regions: list[Enclosing] = []  # the blocks around the current one

    # -- values and memory ----------------------------------------------------------------------
    def locate(self, value: Value) -> Located:
        """Where a value's elements are."""
        if value in self.located:
            return self.located[value]
        op = self.placement.defining[value]
        if isinstance(op, ViewOp):
            return self.locate(op.source).through(op.map)
        if isinstance(op, ReshapeOp):
            source = self.locate(op.source)
            types = op.source.type.extents, op.results[0].type.extents
            return source.reshaped(op.reassociation, *map(extent_polynomials, types))
        if isinstance(op, Load):
            return Located(self.buffer_memory(op.view.buffer), op.view.map)
        if isinstance(op, ConstantOp):
            return Located(expr=Number(op.number, value.type.dtype))
        raise AssertionError(f"%{value.name} has no place")

    def buffer_memory(self, buffer: Buffer) -> Memory:
        """The memory of a buffer, which may be another one, its axes split or merged, or a part."""
        if buffer not in self.memory and buffer.base is not None:
            if buffer.part is not None:
                self.memory[buffer] = self.buffer_memory(buffer.base).part(buffer.part)
                return self.memory[buffer]
            assert buffer.reassociation is not None
            types = buffer.base.type.extents, buffer.type.extents
            self.memory[buffer] = self.buffer_memory(buffer.base).reshaped(
                buffer.reassociation, *map(extent_polynomials, types)
            )
        return self.memory[buffer]

    def _name(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter - 1}"

    def _heap(
        self,
        dtype: np.dtype,
        extents: tuple[AffineExpr, ...],
        order: tuple[int, ...] | None,
        rotates: bool = False,
    ) -> Memory:
        polynomials = extent_polynomials(extents)
        name = self._name("t")
        scope = self._next_scope("rotating" if rotates else name)
        size = product(polynomials)
        count = size.as_constant()
        is_small = count is not None and count * dtype.itemsize <= LARGEST_ON_STACK
        if is_small and not rotates:  # memory that pointers leave is made in front of the loop
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

        ``sizes`` stand in front of it and define what ``size`` reads.
        """
        scope = self._next_scope(name) if scope is None else scope
        scratch = Scratch(name, size, dtype, False, scope, NO_MEMORY)
        needed = frozenset().union(size.value.names(), *(expr_names(s.value) for s in sizes))
        statements, frees = self.statements, self.frees
        for region in reversed(self.regions):
            if needed & region.defined:
                break
            if region.is_loop:
                statements, frees = region.statements, region.frees
                outermost = region
            if region.is_chunk:
                break
        if frees is not self.frees:
            for leave in outermost.leaves:
                leave.insert(0, Free(name))
        statements += [*sizes, scratch]
        frees.append(name)

    def _next_scope(self, name: str) -> int:
        """An alias scope for memory of the kernel; 0 when there are no more."""
        if name in self.scope:
            return self.scope[name]
        scope = len(self.scope) + 16
        self.scope[name] = scope if scope <= _MAX_SCOPE else 0
        return self.scope[name]

    def _new_place(self, value: Value) -> Located:
        """A place for a value that is about to be computed."""
        if value in self.located:
            return self.located[value]
        if value.type.rank == 0:
            located = Located(expr=Var(self._name("n")))
        else:
            rotates = any(r.value is value for r in self.placement.rotated.values())
            memory = self._heap(value.type.dtype, value.type.extents, value.order, rotates)
            located = Located(memory, IndexingMap.identity(value.type.rank))
        self.located[value] = located
        return located

    # -- ops ------------------------------------------------------------------------------------
    def op(self, op: Op) -> None:
        """Lower one op of a kernel."""
        if isinstance(op, GenericOp):
            if self.placement.is_computed_at_use(op):
                return
            self.generic(op, [self._new_place(r) for r in op.results])
        elif isinstance(op, HostCall):
            self.draw(op)
        elif isinstance(op, Check):
            self.check(op)
        elif isinstance(op, Scatter):
            self.scatter(op)
        elif isinstance(op, Store):
            if op not in self.stored:
                self.store(op)
        elif isinstance(op, Load):
            (value,) = op.results
            if value in self.placement.snapshots:
                source = Located(self.buffer_memory(op.view.buffer), op.view.map)
                self._copy_from(source, value, self._new_place(value), "snapshot")
        elif isinstance(op, Alloc):
            buffer = op.buffer
            if buffer not in self.memory:
                rotates = any(buffer in r.cells for r in self.placement.rotated.values())
                memory = self._heap(buffer.type.dtype, buffer.type.extents, buffer.order, rotates)
                self.memory[buffer] = Memory(
                    memory.pointer, memory.dtype, memory.strides, buffer.alias_class
                )
        else:
            assert isinstance(op, ViewOp | ReshapeOp | ConstantOp | Alias)

    def draw(self, op: HostCall) -> None:
        """A draw of random numbers, in C order."""
        (result,) = op.results
        numbers: list[Expr] = [
            self.locate(v).element(IndexingMap.identity(0), {}) for v in draw_arguments(op)
        ]
        name = draw_of(op).intrinsic
        target = self._new_place(result)
        if not result.type.rank:
            drawn = Apply(
                f"{name}({', '.join(f'{{{k}}}' for k in range(len(numbers)))})", tuple(numbers)
            )
            if isinstance(target.expr, Var):
                self.statements.append(Let(target.expr.name, drawn))
            else:
                self.statements.append(
                    StoreElement(*target.address(IndexingMap.identity(0), {}), drawn)
                )
            return
        memory = target.memory
        extents = extent_polynomials(result.type.extents)
        if memory is None or memory.strides != dense_strides(extents):
            memory = self._heap(result.type.dtype, result.type.extents, None)
        fill: tuple[Expr, ...] = (Var(memory.pointer), Integer(product(extents)), *numbers)
        text = f"{name}s({', '.join(f'{{{k}}}' for k in range(len(fill)))})"
        self.statements.append(Let("_", Apply(text, fill)))
        if memory is not target.memory:
            source = Located(memory, IndexingMap.identity(result.type.rank))
            self._copy_from(source, result, target, "draw")

    def check(self, op: Check) -> None:
        """Leave the kernel where a condition does not hold."""
        condition = self.locate(op.condition).element(IndexingMap.identity(0), {})
        status = EARLY_ERRORS.get(op.error, NUMPY_DECIDES)
        if op.is_late:
            status = late_status(self.graph, op)
        values: tuple[Integer, Integer] | None = None
        body: list[Stmt] = []
        if op.is_late and op.shown is not None:
            size = Integer(Polynomial.from_affine(op.shown.size))
            if isinstance(op.shown.index, Value):
                body = self._search(op.shown.index, size, status)
            else:
                values = Integer(Polynomial.from_affine(op.shown.index)), size
        body += self._leave(Exit(status, values))
        self.statements.append(If(Apply("not {0}", (condition,)), body))

    def _leave(self, end: Exit) -> list[Stmt]:
        """What gives memory back and ends the function."""
        chunks = [at for at, region in enumerate(self.regions) if region.is_chunk]
        regions = self.regions[chunks[-1] if chunks else 0 :]
        outside = [name for region in regions for name in region.frees]
        leave: list[Stmt] = [*map(Free, [*outside, *self.frees]), end]
        for region in regions:
            region.leaves.append(leave)
        return leave

    def _search(self, integers: Value, size: Integer, status: int) -> list[Stmt]:
        """Leave with the first of ``integers``, in C order, that is no index of an axis."""
        rank = integers.type.rank
        names = [self._name("w") for _ in range(rank)]
        dims = {d: Polynomial.name(name) for d, name in enumerate(names)}
        element = self.locate(integers).element(IndexingMap.identity(rank), dims)
        name = self._name("n")
        values = Integer(Polynomial.name(name)), size
        test = Apply("{0} < -{1} or {0} >= {1}", (Var(name), size))
        statements: list[Stmt] = [
            Let(name, Apply("{T}({0})", (element,), "i64")),
            If(test, self._leave(Exit(status, values))),
        ]
        for d in reversed(range(rank)):
            (extent,) = extent_polynomials(integers.type.extents[d : d + 1])
            zero = Integer(Polynomial.const(0))
            statements = [For(names[d], zero, Integer(extent), statements, 1)]
        return statements

    def generic(
        self,
        op: GenericOp,
        targets: Sequence[Located],
        mask: tuple[Located, IndexingMap] | None = None,
    ) -> None:
        """One op as loops that write into ``targets``."""
        if op.library_call is not None and has_call(op):
            self._product(op, targets)
            return
        op = without_idle_reduction_dims(op)
        if op.has_only_parallel_dims:
            self._copy_starts(op, targets)
            self.statements += lower_elementwise(self._nest(without_reductions(op), targets, mask))
            return
        assert mask is None
        if IteratorType.SEQUENTIAL in op.iterators:
            self._scan(op, targets)
            return
        if not _share_a_nest(op):
            for single, target in zip(one_result_each(op), targets, strict=True):
                self.generic(single, [target])
            return
        accs = accumulators(op, [None] * len(op.inits))
        nest = self._nest(op, targets, None)
        nest.starts = [
            None if init.start is None else self._reference(self.locate(init.start), init.map, nest)
            for init in op.inits
        ]
        if not any(a.is_ordered for a in accs):
            order_loops(nest)
            collapse_loops(nest)
        reductions = [loop for loop in nest.loops if loop.is_reduction]
        all_reduced = len(reductions) == len(nest.loops)
        if len(reductions) > 1 and (all_reduced or any(a.is_ordered for a in accs)):
            first, second = split_reduction(op)
            self.generic(first, [self._new_place(r) for r in first.results])
            self.generic(second, targets)
            return
        shared = all(loop.is_reduction for loop in nest.loops)  # written into the kernel itself
        tag = self._name("_") if shared else ""
        often = bool(self.regions)
        if shared and often and not nest.prefix:
            nest.prefix = self._name("y")
        self.statements += lower_reduction(nest, accumulators(op, nest.starts, tag), often=often)

    def _product(self, op: GenericOp, targets: Sequence[Located]) -> None:
        """A matrix product, by NumPy's own loop."""
        nest = self._nest(op, targets, None)
        for at, reference in enumerate(nest.inputs):
            if not is_addressable(nest, reference):
                value = op.inputs[at].value
                copied = self._temporary_copy(self.locate(value), value)
                nest.inputs[at] = self._reference(copied, op.inputs[at].map, nest)
        (result,), (target,) = op.results, targets
        if result.type.rank:
            self.statements += product_call(nest)
            return
        assert isinstance(target.expr, Var)
        number, start = self._name("z"), Polynomial.const(0)
        nest.outputs = [Reference(number, start)]
        self.statements += [
            Scratch(number, Integer(Polynomial.const(1)), result.type.dtype, on_stack=True),
            *product_call(nest),
            Let(target.expr.name, Element(number, start)),
        ]

    def _copy_starts(self, op: GenericOp, targets: Sequence[Located]) -> None:
        """Copy the start of each plain write that leaves elements as they are, or reads them."""
        for at, (init, target) in enumerate(zip(op.inits, targets, strict=True)):
            if init.combiner is None and init.start is not None and not is_overwritten(op, at):
                self._copy(init.start, target, "start")

    def _scan(self, op: GenericOp, targets: Sequence[Located]) -> None:
        """An op with one sequential dim: results without an axis for it are carried along it."""
        nest = self._nest(op, targets, None)
        if len(nest.loops) == 1 and not nest.prefix:  # written into the kernel itself
            nest.prefix = self._name("y")
        (dim,) = (d for d, i in enumerate(op.iterators) if i is IteratorType.SEQUENTIAL)
        carried = [dim not in init.map.dims() for init in op.inits]
        self.statements += lower_scan(nest, f"d{dim}", carried)

    def _nest(
        self,
        op: GenericOp,
        targets: Sequence[Located],
        mask: tuple[Located, IndexingMap] | None,
    ) -> Nest:
        var = {d: f"d{d}" for d in range(len(op.domain))}
        dims = {d: Polynomial.name(v) for d, v in var.items()}
        extents = list(extent_polynomials(op.domain))
        for d, (start, width) in self.band_of.items():
            dims[d] = start + dims[d]
            extents[d] = width
        for d, last in self.reversed.items():
            dims[d] = last - dims[d]
        loops = [
            LoopDim(var[d], extents[d], op.iterators[d] is IteratorType.REDUCTION)
            for d in range(len(op.domain))
        ]
        one = Polynomial.const(1)
        is_point = all(loop.extent == one for loop in loops)
        prefix = self._name("y") if is_point or self.own_names else ""
        nest = Nest(op, loops, [], [], dims, prefix=prefix)
        nest.inputs = [
            self._reference(self.locate(o.value), o.map, nest)
            if at in op.payload.used_arguments()
            else Reference(None, Polynomial.const(0), Number(0, o.value.type.dtype))
            for at, o in enumerate(op.inputs)
        ]
        nest.outputs = [
            self._reference(t, i.map, nest) for t, i in zip(targets, op.inits, strict=True)
        ]
        if mask is not None:
            nest.mask = self._reference(mask[0], mask[1], nest)
        if op.payload.has_extract():
            sources = [self.locate(o.value) for o in op.inputs]
            nest.extract = lambda at, subscripts: _gathered(sources[at], subscripts)
        return nest

    def _reference(self, located: Located, map: IndexingMap, nest: Nest) -> Reference:
        if located.expr is not None:
            return Reference(None, Polynomial.const(0), located.expr)
        assert located.map is not None
        pointer, offset = located.address(map, nest.index_dims)
        used = (nest.index_dims[d].names() for d in located.map.compose(map).dims())
        guarded = not frozenset().union(*used) <= offset.names()
        return Reference(pointer, offset, guarded=guarded)

    def store(self, op: Store) -> None:
        """``view = value``: straight from its producer, or by a copy (through a temporary)."""
        buffer = op.view.buffer
        rotation = self.placement.rotated.get(op)
        if rotation is not None:
            if op is rotation.stores[0] and not rotation.has_spare:
                made = self.placement.defining[rotation.value]
                assert isinstance(made, GenericOp)
                place = self.buffer_memory(rotation.cells[-1])
                self.generic(made, [Located(place, IndexingMap.identity(buffer.type.rank))])
            return
        target = Located(self.buffer_memory(buffer), op.view.map)
        rank = len(op.view.extents)
        mask = None if op.mask is None else self.locate(op.mask)
        producer = self.placement.moves.get(op)
        if op.value in self.placement.straight:
            made = self.placement.defining[op.value]
            assert isinstance(made, GenericOp)
            producer = made
        if producer is not None:
            overlap = self.placement.overlaps.get(op)
            if overlap is not None:
                self.overlapping(op, producer, overlap, target, mask)
                return
            chosen = None if mask is None else (mask, producer.inits[0].map)
            self.generic(producer, [target], chosen)
            return
        source = self.locate(op.value)
        identity = IndexingMap.identity(rank)
        if self._meets(source, op) or (mask is not None and self._meets(mask, op)):
            if mask is not None and self._meets(mask, op):
                mask = self._temporary_copy(mask, op.mask)  # type: ignore[arg-type]
            source = self._temporary_copy(source, op.value)
        self._copy_from(
            source, op.value, target, "store", None if mask is None else (mask, identity)
        )

    def overlapping(
        self,
        store: Store,
        producer: GenericOp,
        overlap: Overlap,
        target: Located,
        mask: Located | None,
    ) -> None:
        """A store whose producer reads what it writes: see `fusejit.codegen.blocks`."""
        raise NotImplementedError

    def scatter(self, op: Scatter) -> None:
        """One element after the other, in the axis order of the value."""
        target = Located(self.buffer_memory(op.view.buffer), op.view.map)
        sources = [self._unwritten(v, op) for v in op.operand_values]
        operands = [Operand(v, m) for v, m in zip(sources, operand_maps(op), strict=True)]
        point, inputs = scatter_payload(op, operands, self.placement)
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
        lets, results = PayloadWriter(nest, nest.prefix).write(nest.inputs, [], nest.index_dims)
        dims: dict[int, Polynomial] = {}
        for axis, subscript in enumerate(results[:-1]):
            lets.append(Let(f"{nest.prefix}i{axis}", subscript))
            dims[axis] = Polynomial.name(f"{nest.prefix}i{axis}")
        pointer, offset = target.address(IndexingMap.identity(len(dims)), dims)
        new = results[-1]
        if op.combine is not None:
            dtype = op.value.type.dtype
            template = SCALAR_OPS[op.combine].template(dtype)
            assert template is not None
            new = Apply(template, (Element(pointer, offset), new), token(dtype))
        store = StoreElement(pointer, offset, new)
        order = op.value.order or range(len(nest.loops))
        self.statements += place_by_depth([nest.loops[d] for d in order], lets, [store])

    def _unwritten(self, value: Value, op: Scatter) -> Value:
        """The value, or a copy of it if it is read from the memory that is being written."""
        if value in self.placement.scattered or not self._meets(self.locate(value), op):
            return value
        copied = Value(f"{value.name}_before", value.type)
        self.located[copied] = self._temporary_copy(self.locate(value), value)
        return copied

    def _meets(self, located: Located, op: Store) -> bool:
        """Whether copying from ``located`` into the store's view could read what was written."""
        memory = located.memory
        if memory is None or memory.alias_class is None:
            return False
        return memory.alias_class == op.view.buffer.alias_class

    def _temporary_copy(self, source: Located, value: Value) -> Located:
        memory = self._heap(value.type.dtype, value.type.extents, None)
        target = Located(memory, IndexingMap.identity(value.type.rank))
        self._copy_from(source, value, target, "temporary")
        return target

    def _copy(self, value: Value, target: Located, name: str) -> None:
        self._copy_from(self.locate(value), value, target, name)

    def _copy_from(
        self,
        source: Located,
        value: Value,
        target: Located,
        name: str,
        mask: tuple[Located, IndexingMap] | None = None,
    ) -> None:
        """``target = source`` elementwise; ``value`` gives type and extents."""
        stand_in = Value(f"{value.name}_source", value.type)
        self.located[stand_in] = source
        op = copy_op(value, stand_in, name)
        self.generic(op, [target], mask)


def _share_a_nest(op: GenericOp) -> bool:
    """Whether the results of a reduction are written by one nest: all alike, or all in lanes."""
    kinds = [r.type.dtype.kind for r in op.results]
    combiners = [i.combiner for i in op.inits]
    if len(set(zip(combiners, kinds, strict=True))) == 1:
        return True
    return set(kinds) == {"f"} and None not in combiners


def _gathered(source: Located, subscripts: Sequence[Expr]) -> Expr:
    """The element of ``source`` at computed subscripts."""
    dims = {}
    for axis, subscript in enumerate(subscripts):
        if isinstance(subscript, Number):
            dims[axis] = Polynomial.const(int(subscript.value))
        else:
            assert isinstance(subscript, Var)
            dims[axis] = Polynomial.name(subscript.name)
    return source.element(IndexingMap.identity(len(subscripts)), dims)
