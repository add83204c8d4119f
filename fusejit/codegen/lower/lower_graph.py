"""Graph -> Program: every op of the fused graph as loops of a kernel or a library call."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from fusejit.codegen.analysis.kernel_statements import changed
from fusejit.codegen.bufferize.bufferization import assign_buffers
from fusejit.codegen.bufferize.in_place import overwritten_products
from fusejit.codegen.bufferize.memrefs import Memory, MemRef, dense_strides, extent_polynomials
from fusejit.codegen.loop_passes.index_checks import facts_of_symbols
from fusejit.codegen.loop_passes.roll_back import may_end, with_undo_log
from fusejit.codegen.lower.deferred_errors import rolled_back
from fusejit.codegen.lower.kernel_passes import KernelContext, run_kernel_passes
from fusejit.codegen.lower.kernel_top import kernel_top, stride_names
from fusejit.codegen.lower.parallel_loops import ParallelLoopEmitter
from fusejit.codegen.lower.slots import Slots
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.host_blocks import launcher_binds, launcher_symbols, runs_on_host
from fusejit.ir.graph import Graph
from fusejit.ir.host_calls import argument_text, deferred_ops, is_draw, sizes_of
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.inline_calls.inline_draws import NUMPY, draw_of
from fusejit.ir.loops.nodes import Free, Role, Stmt, Var
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.program import (
    ArrayRef,
    HostArgument,
    HostBlock,
    HostCond,
    HostLoop,
    HostStepCall,
    KernelCall,
    LibraryCall,
    Program,
    ReadInteger,
    ResultRef,
    ScalarRef,
)
from fusejit.ir.ops import (
    Bind,
    Block,
    Cond,
    GenericOp,
    HostCall,
    Load,
    Loop,
    ReshapeOp,
    ViewOp,
    Write,
    walk,
)
from fusejit.ir.pass_log import PassLog
from fusejit.ir.types import Kind
from fusejit.ir.values import Buffer, Layout, Value, View
from fusejit.ir.verifier.loop_rules import verify_kernel
from fusejit.support.budget import check_budget


def lower(graph: Graph, merge: bool = True, log: PassLog | None = None) -> Program:
    """Lower a graph.

    With ``merge``, neighbouring nests over the same points become one. The passes over kernels are
    recorded in the log.
    """
    return _Lowering(graph, merge, PassLog() if log is None else log).run()


class _Lowering(ParallelLoopEmitter):
    def __init__(self, graph: Graph, merge: bool, log: PassLog) -> None:
        super().__init__(graph, assign_buffers(graph))
        self.merge = merge
        self.log = log
        self.program = Program(self.graph)
        self.program_steps = self.program.steps  # of the block that is being lowered
        self.num_kernels = 0
        # of each kernel: the arguments it writes, whether it may undo that, whether it is in a loop
        self.writes: list[tuple[frozenset[str], bool, bool]] = []
        self.binds = launcher_binds(self.graph)
        self.symbols = launcher_symbols(self.graph)
        self._facts = functools.cache(functools.partial(facts_of_symbols, self.graph))
        self.deferred = deferred_ops(self.graph)
        draws = [draw_of(op) for op in walk(self.graph.block) if is_draw(op) and op.inline]
        self.draws = any(row.owner == NUMPY for row in draws)
        self.slots = Slots(
            self.program,
            self.assignment,
            overwritten_products(graph, self.assignment),
            self.binds,
            self.memrefs,
            self.memory,
        )

    # -- the whole ------------------------------------------------------------------------------
    def run(self) -> Program:
        graph, program = self.graph, self.program
        for at, buffer in enumerate(graph.buffers):
            if buffer.origin is not None:
                name = f"a{at}"
                program.arguments[name] = buffer
                self.slots.arrays[name] = (buffer.type.dtype, buffer.type.rank)
                self.memory[buffer] = self._argument_memory(name, buffer)
        for at, scalar in enumerate(graph.scalars):
            program.scalars[f"x{at}"] = scalar.value.name
            self.memrefs[scalar.value] = MemRef(expr=Var(f"x{at}"))
        self.slots.make()
        self._steps(graph.block)
        self._copy_results()
        self._finish_kernel()
        program.kept = self._kept()
        program.results += map(self._result, graph.results)
        return program

    def _steps(self, block: Block) -> None:
        """The ops of a block of the launcher, one kernel for each stretch between other steps."""
        step = None
        for op in block.ops:
            check_budget()
            here = self.assignment.step_of[id(op)]
            if step is not None and here != step:
                self._finish_kernel()
            step = here
            if isinstance(op, GenericOp) and op.library_call is not None:
                self._begin_step()
                refs = tuple(self._array_ref(operand.value) for operand in op.inputs)
                out = self._array_ref(op.results[0])
                self.program_steps.append(LibraryCall(op.library_call, refs, out))
            elif isinstance(op, HostCall) and not op.inline:
                self._host_step(op)
            elif isinstance(op, Bind) and op in self.binds:
                self._begin_step()
                self.program_steps.append(ReadInteger(op.symbol, self._host_argument(op.value)))
            elif isinstance(op, Loop) and runs_on_host(op):
                self._host_loop(op)
            elif isinstance(op, Cond) and runs_on_host(op):
                self._host_cond(op)
            else:
                self.op(op)

    @property
    def _strides(self) -> frozenset[str]:
        """The names of the strides of arguments."""
        named = (stride_names(n, buffer) for n, buffer in self.program.arguments.items())
        return frozenset().union(*named)

    def _argument_memory(self, name: str, buffer: Buffer) -> Memory:
        extents = extent_polynomials(buffer.type.extents)
        order = buffer.order or tuple(range(buffer.type.rank))
        if buffer.layout is Layout.CONTIGUOUS:
            strides = dense_strides(extents, order)
        else:
            strides = tuple(map(Polynomial.name, stride_names(name, buffer)))
            if buffer.layout is Layout.UNIT and order:
                one = Polynomial.const(1)
                strides = tuple(one if k == order[-1] else s for k, s in enumerate(strides))
        dtype, alias_class = buffer.type.dtype, buffer.alias_class
        return Memory(f"p_{name}", dtype, strides, alias_class, role=Role.ARGUMENT, array=name)

    # -- results --------------------------------------------------------------------------------
    def _copy_results(self) -> None:
        """Results that nothing computes into a slot: copies of loads, broadcasts, constants."""
        for result in self.graph.results:
            if isinstance(result, View) or result in self.slots.name_of:
                continue
            if any(s.value is result for s in self.graph.scalars):
                continue
            name, memory = self.slots.add(result.type, result.order)
            self._copy(result, MemRef.whole(memory), "copy")
            self.slots.name_of[result] = name

    def _result(self, result: Value | View) -> ResultRef:
        if isinstance(result, View):
            return ResultRef(self._part_of(result), Kind.ARRAY)
        if result in self.slots.name_of:
            return ResultRef(ArrayRef(self.slots.name_of[result]), result.kind)
        return ResultRef(ScalarRef(result.name), result.kind)

    def _part_of(self, view: View) -> ArrayRef:
        """The launcher's array for a view of a buffer."""
        buffer, root = view.buffer, view.buffer.root
        name = self.slots.name_of.get(root) or next(
            n for n, b in self.program.arguments.items() if b is root
        )
        if buffer is not root:
            shape, source = buffer.type.extents, self._seen(buffer, name)
            return ArrayRef(name, view.map, view.extents, source, shape, buffer.part)
        if view.map.is_identity and view.extents == buffer.type.extents:
            return ArrayRef(name)
        return ArrayRef(name, view.map, view.extents)

    def _seen(self, buffer: Buffer, name: str) -> ArrayRef:
        """The array of which a buffer with a base is a reshape or one part."""
        base = buffer.base
        assert base is not None
        while buffer.part is None and base.part is None and base.base is not None:
            base = base.base  # a reshape of a reshape is one
        if base.base is None:
            return ArrayRef(name)
        identity, shape = IndexingMap.identity(base.type.rank), base.type.extents
        return ArrayRef(name, identity, shape, self._seen(base, name), shape, base.part)

    # -- kernels --------------------------------------------------------------------------------
    def _finish_kernel(self) -> None:
        self.statements += map(Free, self.frees)
        statements, self.statements, self.frees = self.statements, [], []
        is_first = not self.num_kernels
        if not statements and not is_first:
            return
        context = KernelContext(
            f"kernel {self.num_kernels}",
            self.merge,
            self.draws,
            self._facts,
            {f"p_{name}": dtype for name, (dtype, _) in self.slots.arrays.items()},
            self._strides,
            self.program.nest_notes,
            self._with_undo_log,
        )
        statements = run_kernel_passes(statements, context, self.log)
        kernel = kernel_top(
            self.program,
            statements,
            self.slots.arrays,
            self.num_kernels,
            self.symbols,
        )
        verify_kernel(kernel)
        self.num_kernels += 1
        self.program_steps.append(KernelCall(kernel))
        # values in variables and heap memory end with their kernel

    def _with_undo_log(self, statements: list[Stmt]) -> list[Stmt]:
        """A kernel that undoes its stores where NumPy has to run the call."""
        early = rolled_back(self.graph)
        if not early:
            return statements
        pointers = changed(statements)
        roots = {o.view.buffer.root for o in walk(self.graph.block) if isinstance(o, Write)}
        written = [
            name
            for name, buffer in self.program.arguments.items()
            if f"p_{name}" in pointers and buffer in roots
        ]
        in_loop = self.program_steps is not self.program.steps
        self.writes.append((frozenset(written), may_end(statements, early), in_loop))
        return with_undo_log(statements, written, early)

    def _kept(self) -> tuple[str, ...]:
        """The arguments that kernels write before a kernel that may have to undo the writes."""
        ends = [at for at, (_, may_end, _) in enumerate(self.writes) if may_end]
        in_loop = any(self.writes[at][2] for at in ends)  # then one behind comes before it as well
        before = self.writes if in_loop else self.writes[: max(ends, default=0)]
        return tuple(sorted(frozenset().union(*(written for written, _, _ in before))))

    def _begin_step(self) -> None:
        """End the kernel before a step that is none; the first kernel checks the call."""
        if not self.num_kernels or self.statements:
            self._finish_kernel()

    def _host_step(self, op: HostCall) -> None:
        """A call of a host function, whose results are the arrays of slots."""
        self._begin_step()
        call = HostStepCall(
            op.function,
            argument_text(op),
            op.errstate,
            tuple(map(self._host_argument, op.arguments)),
            tuple(self.slots.named[self.slots.name_of[value]] for value in op.results),
            tuple(sizes_of(op)),
            op in self.deferred or not op.pure,
            op.objects,
            op.location,
        )
        self.program_steps.append(call)

    def _host_argument(self, value: Value) -> HostArgument:
        """A value as the launcher itself reads it."""
        scalars = {s.value for s in self.graph.scalars}
        ref = ScalarRef(value.name) if value in scalars else self._array_ref(value)
        return HostArgument(ref, value.kind)

    # -- blocks of the launcher -----------------------------------------------------------------
    def _host_loop(self, op: Loop) -> None:
        """A loop of the launcher: what is carried lies in the slots of the results."""
        targets = [self.slots.name_of[result] for result in op.results]
        for result, start in zip(op.results, op.carried, strict=True):
            self._copy(start, self.memrefs[result], "carry")
        for argument, result in zip(op.body.arguments, op.results, strict=True):
            self.slots.name_of[argument] = self.slots.name_of[result]
            self.memrefs[argument] = self.memrefs[result]
        self._begin_step()
        condition = test = None
        if op.condition is not None:
            condition = self._host_block(op.condition, [])
            (value,) = op.condition.yields
            test = self._host_argument(value)
        body = self._host_block(op.body, targets)
        self.program_steps.append(
            HostLoop(body, op.induction, op.lower, op.upper, op.step, condition, test)
        )

    def _host_cond(self, op: Cond) -> None:
        """A conditional of the launcher: both blocks fill the slots of the results."""
        self._begin_step()
        test = self._host_argument(op.predicate)
        targets = [self.slots.name_of[result] for result in op.results]
        blocks = [self._host_block(block, targets) for block in op.blocks]
        self.program_steps.append(HostCond(test, *blocks))

    def _host_block(self, block: Block, targets: Sequence[str]) -> HostBlock:
        """The steps of a block, and the moves at its end.

        What it yields is copied into new arrays, which then take the names of the targets: one
        value may be the array that another target still is.
        """
        outer, self.program_steps = self.program_steps, []
        self._steps(block)
        moves = []
        if targets:
            for target, value in zip(targets, block.yields, strict=True):
                name, memory = self.slots.add(value.type, value.order, block)
                self._copy(value, MemRef.whole(memory), "carry")
                moves.append((target, name))
        self._finish_kernel()
        steps, self.program_steps = self.program_steps, outer
        return HostBlock(steps, self.slots.of_block[block], moves)

    def _array_ref(self, value: Value) -> ArrayRef:
        """The launcher's array for a value, seen through its views."""
        if value in self.slots.name_of:
            return ArrayRef(self.slots.name_of[value])
        if value in self.slots.reshaped:
            return self.slots.reshaped[value]
        map = IndexingMap.identity(value.type.rank)
        extents = value.type.extents
        while True:
            op = self.assignment.defining[value]
            if isinstance(op, ReshapeOp):
                whole = self._array_ref(op.source)
                return ArrayRef(whole.name, map, extents, whole, value.type.extents)
            if isinstance(op, ViewOp):
                map = op.map.compose(map)
                value = op.source
                if value in self.slots.name_of:
                    break
                if value in self.slots.reshaped:
                    whole = self.slots.reshaped[value]
                    return ArrayRef(whole.name, map, extents, whole, value.type.extents)
            elif isinstance(op, Load) and value not in self.assignment.snapshots:
                map = op.view.map.compose(map)
                return self._part_of(View(op.view.buffer, map, extents))
            else:
                break
        name_of = self.slots.name_of
        if value not in name_of:
            memory = self.memrefs[value].memory
            assert memory is not None
            name = memory.array
            # computed inside the slot of a view with added axes: take them off again
            shown = next(v for v, n in name_of.items() if n == name and isinstance(v, Value))
            return self._without_added_axes(name, shown, value, map, extents)
        name = name_of[value]
        if map.is_identity and extents == value.type.extents:
            return ArrayRef(name)
        return ArrayRef(name, map, extents)  # also the first few elements: x[:-1]

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
            op = self.assignment.defining[value]
            assert isinstance(op, ViewOp)
            outer = op.map.compose(outer)
            value = op.source
        axis_of = {r.as_dim(): k for k, r in enumerate(outer.results)}
        axes = (axis_of.get(d) for d in range(shown.type.rank))
        results = (AffineExpr.const(0) if k is None else AffineExpr.dim(k) for k in axes)
        back = IndexingMap(root.type.rank, tuple(results))
        return ArrayRef(name, back.compose(map), extents)
