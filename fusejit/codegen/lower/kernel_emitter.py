"""Statements of a kernel: values get memrefs, ops become nests, stores are made safe."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.bufferize.bufferization import copy_op
from fusejit.codegen.bufferize.memrefs import Memory, MemRef, dense_strides, extent_polynomials
from fusejit.codegen.intrinsics.statuses import Status
from fusejit.codegen.loop_nests.accumulators import accumulators
from fusejit.codegen.loop_nests.elementwise_nest import lower_elementwise
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, Reference, over
from fusejit.codegen.loop_nests.reduction import lower_reduction, order_reduction
from fusejit.codegen.loop_nests.register_tile import register_tile
from fusejit.codegen.loop_nests.scan import lower_scan
from fusejit.codegen.lower.deferred_errors import deferred_status
from fusejit.codegen.lower.kernel_memory import Enclosing, KernelMemory
from fusejit.codegen.lower.product_emitter import has_call, is_addressable, product_call
from fusejit.dataclass import replace
from fusejit.ir.analysis.degenerate import without_idle_reduction_dims, without_reductions
from fusejit.ir.analysis.reduction_starts import is_overwritten, reaches_every_element
from fusejit.ir.analysis.split_generic import one_result_each, split_reduction
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.inline_calls.inline_draws import draw_arguments, draw_of
from fusejit.ir.inline_calls.inline_linalg import InlineLinalg, linalg_of
from fusejit.ir.loops.index_math import I64, address, compute, either, less, negated, operand
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    Exit,
    Expr,
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
from fusejit.ir.loops.polynomial import Polynomial, product
from fusejit.ir.loops.scalar_math import convert
from fusejit.ir.ops import OUT_OF_BOUNDS_IF_RUN, Assert, GenericOp, HostCall, Store
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value

EARLY_ERRORS = {
    "IndexError": Status.OUT_OF_BOUNDS,
    "OverflowError": Status.OUT_OF_BOUNDS,
    "64 bits": Status.BEYOND_64_BITS,
    "53 bits": Status.BEYOND_53_BITS,
    "ValueError": Status.SIZES_DIFFER,
    "SizeError": Status.SIZES_DIFFER,
    "complex power": Status.COMPLEX_POWER,
    "capacity": Status.NO_ROOM,
    "capacity of arrays": Status.NO_ROOM_FOR_ARRAYS,
    "left to Python": Status.LEFT_TO_PYTHON,
    OUT_OF_BOUNDS_IF_RUN: Status.OUT_OF_BOUNDS_IF_RUN,
}

Mask = tuple[MemRef, IndexingMap]
"""Where a store writes, and from which of its dims that is read."""


class KernelEmitter(KernelMemory):
    """Writes the ops of a graph down as loop statements, one kernel after the other."""

    def inline_call(self, op: HostCall) -> None:
        """A call that the kernel makes itself."""
        row = linalg_of(op)
        if row is None:
            self._draw(op)
        else:
            self._linear_algebra(op, row)

    def _linear_algebra(self, op: HostCall, row: InlineLinalg) -> None:
        """A function of dense matrices, and whether it has a result."""
        given: list[Expr] = []
        for value in op.arguments:
            memory = self._heap(value.type, None)
            self._copy_from(self.locate(value), value, MemRef.whole(memory), "operand")
            given.append(address(memory.pointer))
        extents = extent_polynomials(op.arguments[0].type.extents)
        sizes: list[Expr] = [Integer(extents[0])]
        if row.num_operands > 1:
            sides = extent_polynomials(op.arguments[1].type.extents)
            sizes.append(Integer(sides[1] if len(sides) > 1 else Polynomial.const(1)))
        result, *is_regular = op.results
        target = self._new_memref(result)
        if not is_regular:
            self._define(target, Call(row.intrinsic, (*given, *sizes)))
            return
        memory = self._dense_memory(result, target)
        call = Call(row.intrinsic, (*given, address(memory.pointer), *sizes))
        self._define(self._new_memref(is_regular[0]), call)
        if memory is not target.memory:
            self._copy_from(MemRef.whole(memory), result, target, row.name)

    def _define(self, target: MemRef, number: Expr) -> None:
        """Give a value of rank 0 its number."""
        if isinstance(target.expr, Var):
            self.statements.append(Let(target.expr.name, number))
        else:
            place = target.address(IndexingMap.identity(0), {})
            self.statements.append(StoreElement(*place, number))

    def _dense_memory(self, value: Value, target: MemRef) -> Memory:
        """The memory of ``target``, or other memory if that is not dense and in C order."""
        memory = target.memory
        if memory is None or memory.strides != dense_strides(
            extent_polynomials(value.type.extents)
        ):
            return self._heap(value.type, None)
        return memory

    def _draw(self, op: HostCall) -> None:
        """A draw of random numbers, in C order."""
        (result,) = op.results
        numbers = [self.number(v) for v in draw_arguments(op)]
        name = draw_of(op).intrinsic
        target = self._new_memref(result)
        if not result.type.rank:
            self._define(target, Call(name, tuple(numbers)))
            return
        memory = self._dense_memory(result, target)
        count = Integer(product(extent_polynomials(result.type.extents)))
        fill: tuple[Expr, ...] = (address(memory.pointer), count, *numbers)
        self.statements.append(Let("_", Call(f"{name}s", fill)))
        if memory is not target.memory:
            self._copy_from(MemRef.whole(memory), result, target, "draw")

    def check(self, op: Assert) -> None:
        """Leave the kernel where a condition does not hold."""
        condition = self.number(op.condition)
        status: int = EARLY_ERRORS.get(op.error, Status.RAISES)
        if op.is_deferred:
            status = deferred_status(self.graph, op)
        values: tuple[Integer, Integer] | None = None
        body: list[Stmt] = []
        if op.is_deferred and op.shown is not None:
            size = Integer(Polynomial.from_affine(op.shown.size))
            if isinstance(op.shown.index, Value):
                body = self._search(op.shown.index, size, status)
            else:
                values = Integer(Polynomial.from_affine(op.shown.index)), size
        if op.is_deferred and op.integer is not None:
            name = self._name("n")
            body.append(Let(name, convert(self.number(op.integer), I64)))
            kind = "iuf".index(op.integer.type.dtype.kind)
            values = Integer(Polynomial.name(name)), Integer(Polynomial.const(kind))
        body += self._leave(Exit(status, values))
        self.statements.append(If(negated(condition), body))

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
        test = either(less(name, Integer(-size.value)), compute(">=", name, size))
        statements: list[Stmt] = [
            Let(name, convert(element, I64)),
            If(test, self._leave(Exit(status, values))),
        ]
        for d in reversed(range(rank)):
            statements = [
                over(names[d], Polynomial.from_affine(integers.type.extents[d]), statements)
            ]
        return statements

    def target_of(self, store: Store, producer: GenericOp) -> tuple[MemRef, Mask | None]:
        """What a store writes, and its mask, where ``producer`` writes straight into it."""
        target = MemRef(self.buffer_memory(store.view.buffer), store.view.map)
        mask = None if store.mask is None else self.locate(store.mask)
        return target, None if mask is None else (mask, producer.inits[0].map)

    def generic(self, op: GenericOp, targets: Sequence[MemRef], mask: Mask | None = None) -> None:
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
        if op.register_tile is not None:
            self._register_tile(op, targets)
            return
        if IteratorType.SEQUENTIAL in op.iterators:
            self._scan(op, targets)
            return
        if not _share_a_nest(op):
            for single, target in zip(one_result_each(op), targets, strict=True):
                self.generic(single, [target])
            return
        accs = accumulators(op, [None] * len(op.inits))
        nest = self._nest(op, targets, None)
        nest.starts = self._starts(op, nest)
        order_reduction(nest, accs)
        all_reduced = all(loop.is_reduction for loop in nest.loops)
        if len(nest.loops) > 1 and all_reduced and not any(a.is_ordered for a in accs):
            first, second = split_reduction(op)
            self.generic(first, [self._new_memref(r) for r in first.results])
            self.generic(second, targets)
            return
        self._copy_starts(op, targets)
        tag = self._name("_") if all_reduced else ""  # it is written into the kernel itself
        often = any(not region.is_tile for region in self.regions)
        if all_reduced and often and not nest.prefix:
            nest.prefix = self._name("y")
        self.statements += lower_reduction(nest, accumulators(op, nest.starts, tag), often=often)

    def _starts(self, op: GenericOp, nest: LoopNest) -> list[Reference | None]:
        return [
            None if init.start is None else self._reference(self.locate(init.start), init.map, nest)
            for init in op.inits
        ]

    def _register_tile(self, op: GenericOp, targets: Sequence[MemRef]) -> None:
        """A nest for tiles of the given extents beside the one for any."""
        nest = self._nest(op, targets, None)
        nest.starts = self._starts(op, nest)
        with self.enclosed(Enclosing(self.statements, self.frees, is_loop=False)) as others:
            self.generic(replace(op, register_tile=None), targets)
        nest.prefix = nest.prefix or self._name("y")
        accs = accumulators(op, nest.starts, self._name("_"))
        self.statements += register_tile(nest, accs, others)

    def _product(self, op: GenericOp, targets: Sequence[MemRef]) -> None:
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
            Scratch(number, operand(1), result.type.dtype, on_stack=True),
            *product_call(nest),
            Let(target.expr.name, Element(number, start)),
        ]

    def _copy_starts(self, op: GenericOp, targets: Sequence[MemRef]) -> None:
        """Copy each start of which elements stay as they are, or are read by a plain write."""
        for at, (init, target) in enumerate(zip(op.inits, targets, strict=True)):
            if init.start is None or is_overwritten(op, at):
                continue
            if init.combiner is None or not reaches_every_element(op, at):
                self._copy(init.start, target, "start")

    def _scan(self, op: GenericOp, targets: Sequence[MemRef]) -> None:
        """An op with sequential dims: results without axes for them are carried along them."""
        self._copy_starts(op, targets)
        nest = self._nest(op, targets, None)
        if len(nest.loops) == 1 and not nest.prefix:  # written into the kernel itself
            nest.prefix = self._name("y")
        dims = [d for d, i in enumerate(op.iterators) if i is IteratorType.SEQUENTIAL]
        carried = [not init.map.dims() & set(dims) for init in op.inits]
        started = [init.start is not None for init in op.inits]
        self.statements += lower_scan(nest, [f"d{d}" for d in dims], carried, started)

    def _nest(self, op: GenericOp, targets: Sequence[MemRef], mask: Mask | None) -> LoopNest:
        var = {d: f"d{d}" for d in range(len(op.domain))}
        dims = {d: Polynomial.name(v) for d, v in var.items()}
        extents = list(extent_polynomials(op.domain))
        for d, (start, width) in self.tile_of.items():
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
        nest = LoopNest(op, loops, [], [], dims, prefix=prefix)
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

    def _reference(self, memref: MemRef, map: IndexingMap, nest: LoopNest) -> Reference:
        if memref.expr is not None:
            return Reference(None, Polynomial.const(0), memref.expr)
        assert memref.map is not None
        assert memref.memory is not None
        pointer, offset = memref.address(map, nest.index_dims)
        used = (nest.index_dims[d].names() for d in memref.map.compose(map).dims())
        guarded = not frozenset().union(*used) <= offset.names()
        return Reference(pointer, offset, guarded=guarded, role=memref.memory.role)

    def _temporary_copy(self, source: MemRef, value: Value) -> MemRef:
        memory = self._heap(value.type, None)
        target = MemRef.whole(memory)
        self._copy_from(source, value, target, "temporary")
        return target

    def _copy(self, value: Value, target: MemRef, name: str) -> None:
        self._copy_from(self.locate(value), value, target, name)

    def _copy_from(
        self,
        source: MemRef,
        value: Value,
        target: MemRef,
        name: str,
        mask: Mask | None = None,
    ) -> None:
        """``target = source`` elementwise; ``value`` gives type and extents."""
        copied = Value(f"{value.name}_source", value.type)
        self.memrefs[copied] = source
        op = copy_op(value, copied, name)
        self.generic(op, [target], mask)


def _share_a_nest(op: GenericOp) -> bool:
    """Whether one nest writes the results of a reduction: all alike, or floats in one order."""
    kinds = [r.type.dtype.kind for r in op.results]
    combiners = [i.combiner for i in op.inits]
    if len(set(zip(combiners, kinds, strict=True))) == 1:
        return True
    rows = [COMBINERS[c] for c in combiners if c is not None]
    orders = {(r.accumulators, r.in_pieces, r.in_rows) for r in rows if "f" in r.ordered}
    return set(kinds) == {"f"} and None not in combiners and len(orders) <= 1


def _gathered(source: MemRef, subscripts: Sequence[Expr]) -> Expr:
    """The element of ``source`` at computed subscripts."""
    dims = {}
    for axis, subscript in enumerate(subscripts):
        if isinstance(subscript, Number):
            dims[axis] = Polynomial.const(int(subscript.value))
        else:
            assert isinstance(subscript, Var)
            dims[axis] = Polynomial.name(subscript.name)
    return source.element(IndexingMap.identity(len(subscripts)), dims)
