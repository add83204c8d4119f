"""Schedule -> Program: every op of the fused graph as loops of a kernel or a library call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.codegen.elementwise import lower_elementwise
from fusejit.codegen.kernel_top import kernel_top
from fusejit.codegen.nest import LoopDim, Nest, Reference, collapse_loops, order_loops, token
from fusejit.codegen.operands import Located, Memory, dense_strides, extent_polynomials
from fusejit.codegen.placement import Placement, place
from fusejit.codegen.reduction import accumulators, lower_reduction
from fusejit.codegen.split import one_result_each, split_reduction, without_reductions
from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import (
    Alloc,
    Block,
    Buffer,
    Cond,
    ConstantOp,
    GenericOp,
    Graph,
    HostCall,
    Init,
    Layout,
    Load,
    Loop,
    Op,
    Operand,
    Store,
    Value,
    View,
    ViewOp,
)
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops import (
    Apply,
    Element,
    Expr,
    For,
    Free,
    If,
    Integer,
    Let,
    Number,
    Scratch,
    Stmt,
    Var,
    While,
)
from fusejit.ir.payload import identity_payload
from fusejit.ir.polynomial import Polynomial, product
from fusejit.ir.program import (
    ArrayRef,
    KernelCall,
    LibraryCall,
    Program,
    ResultRef,
    ScalarRef,
    Slot,
)
from fusejit.ir.schedule import Schedule
from fusejit.ir.traced import CheckKind, PathCheck
from fusejit.ir.types import IteratorType, Kind

NO_MEMORY = 4
_MAX_SCOPE = 27  # the scopes above belong to the scratch of reductions


def lower(schedule: Schedule, checks: Sequence[PathCheck]) -> Program:
    """Lower a schedule; ``checks`` tell which argument arrays there are and how they lie."""
    return _Lowering(schedule, checks).run()


class _Lowering:
    def __init__(self, schedule: Schedule, checks: Sequence[PathCheck]) -> None:
        self.graph: Graph = schedule.graph
        self.placement: Placement = place(schedule)
        self.classes = {c.path: c.expected for c in checks if c.kind is CheckKind.ARRAY}
        self.program = Program(self.graph)
        self.located: dict[Value, Located] = {}
        self.memory: dict[Buffer, Memory] = {}
        self.statements: list[Stmt] = []
        self.frees: list[str] = []
        self.counter = 0
        self.arrays: dict[str, tuple[np.dtype, int]] = {}  # array name -> dtype, rank
        self.scope: dict[str, int] = {}

    # -- the whole ------------------------------------------------------------------------------
    def run(self) -> Program:
        graph, program = self.graph, self.program
        for at, buffer in enumerate(graph.buffers):
            if buffer.origin is not None:
                name = f"a{at}"
                program.arguments[name] = buffer
                self.arrays[name] = (buffer.type.dtype, buffer.type.rank)
                self.memory[buffer] = self._argument_memory(name, buffer)
        for at, scalar in enumerate(graph.scalars):
            program.scalars[f"x{at}"] = scalar.value.name
            self.located[scalar.value] = Located(expr=Var(f"x{at}"))
        self._make_slots()
        step = 0
        for op in graph.block.ops:
            here = self.placement.step_of[id(op)]
            if here != step:
                self._finish_kernel()
                step = here
            if isinstance(op, GenericOp) and op.library_call is not None:
                self._library_step(op.library_call, [o.value for o in op.inputs], op.results[0])
                step = here + 1
            elif isinstance(op, HostCall):
                self._library_step(op.function, op.arguments, op.results[0])
                step = here + 1
            else:
                self.op(op)
        self._copy_results()
        self._finish_kernel()
        for result in graph.results:
            program.results.append(self._result(result))
        return program

    def _argument_memory(self, name: str, buffer: Buffer) -> Memory:
        extents = extent_polynomials(buffer.type.extents)
        order = buffer.order or tuple(range(buffer.type.rank))
        if buffer.layout is Layout.CONTIGUOUS:
            strides = dense_strides(extents, order)
        else:
            strides = tuple(Polynomial.name(f"{name}_st{k}") for k in range(buffer.type.rank))
            if buffer.layout is Layout.UNIT and order:
                inner = order[-1]
                strides = tuple(
                    Polynomial.const(1) if k == inner else s for k, s in enumerate(strides)
                )
        return Memory(f"p_{name}", buffer.type.dtype, strides, buffer.alias_class)

    # -- slots ----------------------------------------------------------------------------------
    def _add_slot(
        self, dtype: np.dtype, extents: tuple[AffineExpr, ...], order: tuple[int, ...] | None
    ) -> tuple[str, Memory]:
        name = f"r{len(self.program.slots)}"
        self.program.slots.append(Slot(name, dtype, extents, order))
        self.arrays[name] = (dtype, len(extents))
        strides = dense_strides(extent_polynomials(extents), order)
        return name, Memory(f"p_{name}", dtype, strides)

    def _make_slots(self) -> None:
        self.slot_of: dict[Value | Buffer, str] = {}
        placed: set[Value] = set()
        for result in self.graph.results:
            if isinstance(result, View):
                continue
            root = self.placement.root(result)
            if root in placed or not isinstance(
                self.placement.defining.get(root), GenericOp | Loop | Cond | HostCall
            ):
                continue
            slot = self._slot_through_views(result, root)
            if slot is not None:
                placed.add(root)
        for value in sorted(self.placement.slot_values - placed, key=self._position):
            if isinstance(
                self.placement.defining.get(value), GenericOp | Loop | Cond | Load | HostCall
            ):
                if isinstance(self.placement.defining.get(value), Load) and (
                    value not in self.placement.snapshots
                ):
                    continue
                name, memory = self._add_slot(value.type.dtype, value.type.extents, value.order)
                self.slot_of[value] = name
                self.located[value] = Located(memory, IndexingMap.identity(value.type.rank))
        for buffer in self.graph.buffers:
            if buffer in self.placement.slot_buffers:
                name, memory = self._add_slot(buffer.type.dtype, buffer.type.extents, buffer.order)
                self.slot_of[buffer] = name
                self.memory[buffer] = Memory(
                    memory.pointer, memory.dtype, memory.strides, buffer.alias_class
                )

    def _position(self, value: Value) -> int:
        op = self.placement.defining[value]
        for at, each in enumerate(self.graph.block.ops):
            if each is op:
                return at
        return -1

    def _slot_through_views(self, result: Value, root: Value) -> str | None:
        """A slot with the result's shape in which its root can be computed, if views only permute
        axes and add axes of length 1."""
        map = IndexingMap.identity(result.type.rank)
        value = result
        while value is not root:
            op = self.placement.defining[value]
            assert isinstance(op, ViewOp)
            map = op.map.compose(map)
            value = op.source
        dims = [r.as_dim() for r in map.results]
        if None in dims or len(set(dims)) != len(dims):
            return None
        missing = set(range(result.type.rank)) - set(dims)
        if any(result.type.extents[d].as_constant() != 1 for d in missing):
            return None
        if any(
            root.type.extents[k] != result.type.extents[d]
            for k, d in enumerate(dims)
            if d is not None
        ):
            return None
        name, memory = self._add_slot(result.type.dtype, result.type.extents, result.order)
        strides = tuple(memory.strides[d] for d in dims if d is not None)
        self.slot_of[result] = name
        self.located[root] = Located(
            Memory(memory.pointer, memory.dtype, strides), IndexingMap.identity(root.type.rank)
        )
        if value is result:
            self.slot_of[root] = name
        return name

    def _copy_results(self) -> None:
        """Results that nothing computes into a slot: copies of loads, broadcasts, constants."""
        for result in self.graph.results:
            if isinstance(result, View) or result in self.slot_of:
                continue
            if any(s.value is result for s in self.graph.scalars):
                continue
            name, memory = self._add_slot(result.type.dtype, result.type.extents, result.order)
            target = Located(memory, IndexingMap.identity(result.type.rank))
            self._copy(result, target, "copy")
            self.slot_of[result] = name

    def _result(self, result: Value | View) -> ResultRef:
        if isinstance(result, View):
            buffer = result.buffer
            name = self.slot_of.get(buffer) or next(
                n for n, b in self.program.arguments.items() if b is buffer
            )
            whole = result.map.is_identity and result.extents == buffer.type.extents
            if whole:
                return ResultRef(ArrayRef(name), Kind.ARRAY)
            return ResultRef(ArrayRef(name, result.map, result.extents), Kind.ARRAY)
        if result in self.slot_of:
            return ResultRef(ArrayRef(self.slot_of[result]), result.kind)
        return ResultRef(ScalarRef(result.name), result.kind)

    # -- kernels --------------------------------------------------------------------------------
    def _finish_kernel(self) -> None:
        for name in self.frees:
            self.statements.append(Free(name))
        statements, self.statements, self.frees = self.statements, [], []
        is_first = not self.program.steps
        if not statements and not is_first:
            return
        kernel = kernel_top(self.program, statements, self.arrays, self.classes, is_first)
        self.program.steps.append(KernelCall(kernel))
        # values in variables and heap memory end with their kernel

    def _library_step(self, function: str, operands: Sequence[Value], result: Value) -> None:
        """A call of a library or host function on the launcher's arrays."""
        if not self.program.steps or self.statements:
            self._finish_kernel()
        refs = tuple(self._array_ref(value) for value in operands)
        self.program.steps.append(LibraryCall(function, refs, self._array_ref(result)))

    def _array_ref(self, value: Value) -> ArrayRef:
        """The launcher's array for a value, seen through its views."""
        if value in self.slot_of:
            return ArrayRef(self.slot_of[value])
        map = IndexingMap.identity(value.type.rank)
        extents = value.type.extents
        while True:
            op = self.placement.defining[value]
            if isinstance(op, ViewOp):
                map = op.map.compose(map)
                value = op.source
                if value in self.slot_of:
                    break
            elif isinstance(op, Load) and value not in self.placement.snapshots:
                map = op.view.map.compose(map)
                buffer = op.view.buffer
                name = self.slot_of.get(buffer) or next(
                    n for n, b in self.program.arguments.items() if b is buffer
                )
                if map.is_identity and extents == buffer.type.extents:
                    return ArrayRef(name)
                return ArrayRef(name, map, extents)
            else:
                break
        located = self.located.get(value)
        name = self.slot_of.get(value, "")
        if not name:
            assert located is not None
            assert located.memory is not None
            name = located.memory.pointer.removeprefix("p_")
            shown = next(
                (v for v, n in self.slot_of.items() if n == name and isinstance(v, Value)), None
            )
            # computed inside the slot of a view with added axes: take them off again
            assert shown is not None
            return self._without_added_axes(name, shown, value, map, extents)
        if map.is_identity:
            return ArrayRef(name)
        return ArrayRef(name, map, extents)

    def _without_added_axes(
        self,
        name: str,
        shown: Value,
        root: Value,
        map: IndexingMap,
        extents: tuple[AffineExpr, ...],
    ) -> ArrayRef:
        outer = IndexingMap.identity(shown.type.rank)
        value = shown
        while value is not root:
            op = self.placement.defining[value]
            assert isinstance(op, ViewOp)
            outer = op.map.compose(outer)
            value = op.source
        axis_of = {r.as_dim(): k for k, r in enumerate(outer.results)}
        back = IndexingMap(
            root.type.rank,
            tuple(
                AffineExpr.dim(axis_of[d]) if d in axis_of else AffineExpr.const(0)
                for d in range(shown.type.rank)
            ),
        )
        return ArrayRef(name, back.compose(map), extents)

    # -- values and memory ----------------------------------------------------------------------
    def locate(self, value: Value) -> Located:
        """Where a value's elements are."""
        if value in self.located:
            return self.located[value]
        op = self.placement.defining[value]
        if isinstance(op, ViewOp):
            return self.locate(op.source).through(op.map)
        if isinstance(op, Load):
            return Located(self.memory[op.view.buffer], op.view.map)
        if isinstance(op, ConstantOp):
            return Located(expr=Number(op.number, value.type.dtype))
        raise AssertionError(f"%{value.name} has no place")

    def _name(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter - 1}"

    def _heap(
        self, dtype: np.dtype, extents: tuple[AffineExpr, ...], order: tuple[int, ...] | None
    ) -> Memory:
        polynomials = extent_polynomials(extents)
        name = self._name("t")
        scope = len(self.scope) + 16
        self.scope[name] = scope if scope <= _MAX_SCOPE else 0
        self.statements.append(
            Scratch(
                f"p_{name}",
                Integer(product(polynomials)),
                dtype,
                False,
                self.scope[name],
                NO_MEMORY,
            )
        )
        self.frees.append(f"p_{name}")
        return Memory(f"p_{name}", dtype, dense_strides(polynomials, order))

    def _new_place(self, value: Value) -> Located:
        """A place for a value that is about to be computed."""
        if value in self.located:
            return self.located[value]
        if value.type.rank == 0:
            located = Located(expr=Var(self._name("n")))
        else:
            memory = self._heap(value.type.dtype, value.type.extents, value.order)
            located = Located(memory, IndexingMap.identity(value.type.rank))
        self.located[value] = located
        return located

    # -- ops ------------------------------------------------------------------------------------
    def op(self, op: Op) -> None:
        """Lower one op of a kernel."""
        if isinstance(op, GenericOp):
            if len(op.results) == 1 and op.results[0] in self.placement.straight:
                return  # computed at its store
            self.generic(op, [self._new_place(r) for r in op.results])
        elif isinstance(op, Store):
            self.store(op)
        elif isinstance(op, Load):
            (value,) = op.results
            if value in self.placement.snapshots:
                source = Located(self.memory[op.view.buffer], op.view.map)
                self._copy_from(source, value, self._new_place(value), "snapshot")
        elif isinstance(op, Alloc):
            buffer = op.buffer
            if buffer not in self.memory:
                memory = self._heap(buffer.type.dtype, buffer.type.extents, buffer.order)
                self.memory[buffer] = Memory(
                    memory.pointer, memory.dtype, memory.strides, buffer.alias_class
                )
        elif isinstance(op, Loop):
            self.loop(op)
        elif isinstance(op, Cond):
            self.cond(op)
        elif isinstance(op, HostCall):
            raise UnsupportedError(f"a host call inside a loop is not lowered yet: {op.function}")
        else:
            assert isinstance(op, ViewOp | ConstantOp)

    def generic(
        self,
        op: GenericOp,
        targets: Sequence[Located],
        mask: tuple[Located, IndexingMap] | None = None,
    ) -> None:
        """One op as loops that write into ``targets``."""
        if op.is_elementwise:
            self.statements += lower_elementwise(self._nest(without_reductions(op), targets, mask))
            return
        assert mask is None
        if (
            len(
                {(i.combiner, r.type.dtype.kind) for i, r in zip(op.inits, op.results, strict=True)}
            )
            > 1
        ):
            for single, target in zip(one_result_each(op), targets, strict=True):
                self.generic(single, [target])
            return
        accs = accumulators(op, [None] * len(op.inits))
        nest = self._nest(op, targets, None)
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
        starts = [
            None if init.start is None else self._reference(self.locate(init.start), init.map, nest)
            for init in op.inits
        ]
        shared = all(loop.is_reduction for loop in nest.loops)  # written into the kernel itself
        tag = self._name("_") if shared else ""
        self.statements += lower_reduction(nest, accumulators(op, starts, tag))

    def _nest(
        self,
        op: GenericOp,
        targets: Sequence[Located],
        mask: tuple[Located, IndexingMap] | None,
    ) -> Nest:
        var = {d: f"d{d}" for d in range(len(op.domain))}
        dims = {d: Polynomial.name(v) for d, v in var.items()}
        extents = extent_polynomials(op.domain)
        loops = [
            LoopDim(var[d], extents[d], op.iterators[d] is IteratorType.REDUCTION)
            for d in range(len(op.domain))
        ]
        prefix = "" if loops else self._name("y")
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
        pointer, offset = located.address(map, nest.index_dims)
        return Reference(pointer, offset)

    def store(self, op: Store) -> None:
        """``view = value``: straight from its producer, or by a copy (through a temporary)."""
        buffer = op.view.buffer
        target = Located(self.memory[buffer], op.view.map)
        rank = len(op.view.extents)
        mask = None if op.mask is None else self.locate(op.mask)
        if op.value in self.placement.straight:
            producer = self.placement.defining[op.value]
            assert isinstance(producer, GenericOp)
            place = None if mask is None else (mask, producer.inits[0].map)
            self.generic(producer, [target], place)
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
        identity = IndexingMap.identity(value.type.rank)
        stand_in = Value(f"{value.name}_source", value.type)
        self.located[stand_in] = source
        op = GenericOp(
            results=(Value(f"{value.name}_copy", value.type),),
            domain=value.type.extents,
            iterators=(IteratorType.PARALLEL,) * value.type.rank,
            inputs=(Operand(stand_in, identity),),
            inits=(Init(identity),),
            payload=identity_payload(value.type.dtype),
            name=name,
        )
        self.generic(op, [target], mask)

    # -- regions --------------------------------------------------------------------------------
    def block(self, block: Block) -> list[Stmt]:
        """The statements of an inner block; its memory ends with it."""
        outer, self.statements = self.statements, []
        frees, self.frees = self.frees, []
        for op in block.ops:
            self.op(op)
        statements, self.statements = self.statements, outer
        self.pending_frees = self.frees
        self.frees = frees
        return statements

    def _cells(self, values: Sequence[Value], starts: Sequence[Value]) -> list[Located]:
        """A cell for each carried value: a variable for a scalar, memory for an array."""
        cells = []
        for value, start in zip(values, starts, strict=True):
            if value.type.rank == 0:
                name = self._name("n")
                source = self.locate(start).element(IndexingMap.identity(0), {})
                self.statements.append(Let(name, _as(source, value.type.dtype)))
                cell = Located(expr=Var(name))
            else:
                memory = self._heap(value.type.dtype, value.type.extents, value.order)
                cell = Located(memory, IndexingMap.identity(value.type.rank))
                self._copy(start, cell, "carry")
            cells.append(cell)
        return cells

    def _assign(self, cells: Sequence[Located], values: Sequence[Value]) -> None:
        """All cells take their new values at once (a value may be another cell's old one)."""
        staged: list[tuple[Located, Located, Value]] = []
        for cell, value in zip(cells, values, strict=True):
            source = self.locate(value)
            if value.type.rank == 0:
                name = self._name("n")
                self.statements.append(Let(name, source.element(IndexingMap.identity(0), {})))
                staged.append((cell, Located(expr=Var(name)), value))
            elif any(c.memory is source.memory for c in cells if c is not cell):
                staged.append((cell, self._temporary_copy(source, value), value))
            else:
                staged.append((cell, source, value))
        for cell, source, value in staged:
            if value.type.rank == 0:
                assert isinstance(cell.expr, Var)
                assert source.expr is not None
                self.statements.append(Let(cell.expr.name, source.expr, rebind=True))
            elif source.memory is not cell.memory:
                self._copy_from(source, value, cell, "carry")

    def _results(self, op: Loop | Cond, cells: Sequence[Located]) -> None:
        for result, cell in zip(op.results, cells, strict=True):
            if result in self.located:  # a slot
                self._copy_from(cell, result, self.located[result], "result")
            else:
                self.located[result] = cell

    def loop(self, op: Loop) -> None:
        """A counted or conditional loop around nests, carrying cells."""
        cells = self._cells(op.body.arguments, op.carried)
        for argument, cell in zip(op.body.arguments, cells, strict=True):
            self.located[argument] = cell
        body = self._region(op.body, cells)
        if op.condition is None:
            assert op.induction is not None
            assert op.lower is not None
            assert op.upper is not None
            lower, upper = Polynomial.from_affine(op.lower), Polynomial.from_affine(op.upper)
            if op.step < 0:
                raise UnsupportedError("loops that count down are not lowered yet")
            self.statements.append(For(op.induction, Integer(lower), Integer(upper), body, op.step))
        else:
            for argument, cell in zip(op.condition.arguments, cells, strict=True):
                self.located[argument] = cell
            head = self.block(op.condition)
            (value,) = op.condition.yields
            test = self.locate(value).element(IndexingMap.identity(0), {})
            name = self._name("n")
            head = [*head, Let(name, test), *(Free(f) for f in self.pending_frees)]
            self.statements.append(While(head, Var(name), body))
        self._results(op, cells)

    def _region(self, block: Block, cells: Sequence[Located]) -> list[Stmt]:
        outer, self.statements = self.statements, []
        frees, self.frees = self.frees, []
        for op in block.ops:
            self.op(op)
        self._assign(cells, block.yields)
        for name in self.frees:
            self.statements.append(Free(name))
        statements, self.statements = self.statements, outer
        self.frees = frees
        return statements

    def cond(self, op: Cond) -> None:
        """A conditional: both blocks assign the same cells."""
        cells = []
        for result in op.results:
            if result.type.rank == 0:
                name = self._name("n")
                self.statements.append(Let(name, Number(0, result.type.dtype)))
                cells.append(Located(expr=Var(name)))
            else:
                memory = self._heap(result.type.dtype, result.type.extents, result.order)
                cells.append(Located(memory, IndexingMap.identity(result.type.rank)))
        predicate = self.locate(op.predicate).element(IndexingMap.identity(0), {})
        then = self._region(op.then_block, cells)
        orelse = self._region(op.else_block, cells)
        self.statements.append(If(predicate, then, orelse))
        self._results(op, cells)


def _gathered(source: Located, subscripts: Sequence[Expr]) -> Expr:
    """The element of ``source`` at computed subscripts."""
    dims = {}
    for axis, subscript in enumerate(subscripts):
        if isinstance(subscript, Number):
            dims[axis] = Polynomial.const(int(subscript.value))
        else:
            assert isinstance(subscript, Var)
            dims[axis] = Polynomial.name(subscript.name)
    pointer, offset = source.address(IndexingMap.identity(len(subscripts)), dims)
    return Element(pointer, offset)


def _as(expr: Expr, dtype: np.dtype) -> Expr:
    return Apply("{T}({0})", (expr,), token(dtype))
