"""Cut the fused graph into steps: kernels, library calls, host calls.

Ops that do work (generic ops, stores, loops, conditionals) go into one kernel until a library or a
host call comes between; a loop or conditional that holds a host call is a step whose blocks are
steps again. `Load`, `ViewOp`, `ReshapeOp` and `ConstantOp` do no work: they belong to *every*
kernel with an op that reads them, directly or through views, and to no kernel if only a library or
host call does. The exception is a load that stands for a copy (it is read after a store to its
memory, or handed out): it is work, done by the kernel of its place in the program, and later steps
read the copy. An `Alloc` (or `Alias`) belongs to every kernel that touches its buffer; who
allocates is codegen's choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fusejit.fuse.canonical.stale_loads import stale_loads
from fusejit.fuse.rewrite_blocks import definitions, used_values
from fusejit.ir.analysis.host_blocks import launcher_binds, runs_on_host
from fusejit.ir.execution_plan import (
    BindStep,
    ExecutionPlan,
    FusionReport,
    HostStep,
    KernelStep,
    LibraryStep,
    RegionStep,
    Step,
)
from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Bind,
    Block,
    Cond,
    ConstantOp,
    GenericOp,
    HostCall,
    Load,
    Loop,
    Op,
    ReshapeOp,
    ViewOp,
    Write,
    walk,
)
from fusejit.ir.values import Buffer, Value


def make_plan(graph: Graph, unfused: Graph, report: FusionReport) -> ExecutionPlan:
    """The steps of ``graph``'s top-level block in program order.

    Parameters
    ----------
    graph : Graph
        The fused graph.
    unfused : Graph
        The graph as it was traced, for `explain` and for counting.
    report : FusionReport
        Has the groups, gets the numbers of ops (generic ops and stores) before and after.

    Returns
    -------
    ExecutionPlan
    """
    copies = stale_loads(graph)
    weightless: dict[Value, Op] = {
        v: op
        for v, op in definitions(graph.block).items()
        if isinstance(op, Load | ViewOp | ReshapeOp | ConstantOp) and v not in copies
    }
    binds = launcher_binds(graph)
    outer: dict[Op, None] = {}

    def steps_of(block: Block) -> tuple[Step, ...]:
        steps: list[Step] = []
        work: list[Op] = []
        outer.update(dict.fromkeys(block.ops))

        def end_kernel() -> None:
            if work:
                mine = tuple(g for g in report.grouped if g.ops[0] in work)
                steps.append(KernelStep(_with_what_it_reads(work, outer, weightless), mine))
                work.clear()

        for op in block.ops:
            if isinstance(op, GenericOp) and op.library_call is not None:
                end_kernel()
                steps.append(LibraryStep(op))
            elif isinstance(op, HostCall) and not op.inline:
                end_kernel()
                steps.append(HostStep(op))
            elif isinstance(op, Bind) and op in binds:
                end_kernel()
                steps.append(BindStep(op))
            elif isinstance(op, Loop | Cond) and runs_on_host(op):
                end_kernel()
                steps.append(RegionStep(op, tuple(map(steps_of, op.blocks))))
            elif not isinstance(op, Alloc | Alias) and not any(v in weightless for v in op.results):
                work.append(op)
        end_kernel()
        return tuple(steps)

    steps = steps_of(graph.block)
    report.ops_before = count_ops(unfused)
    report.ops_after = count_ops(graph)
    return ExecutionPlan(graph, unfused, steps, report)


def count_ops(graph: Graph) -> int:
    """The number of generic ops and stores, those in nested blocks included."""
    return sum(isinstance(op, GenericOp | Write) for op in walk(graph.block))


def _with_what_it_reads(
    work: list[Op], visible: Iterable[Op], weightless: dict[Value, Op]
) -> tuple[Op, ...]:
    """The ops of a kernel in program order: work, and the loads, views, allocs that it needs."""
    needed: set[Op] = set(work)
    pending = [v for op in work for v in used_values(op)]
    while pending:
        op = weightless.get(pending.pop())
        if op is not None and op not in needed:
            needed.add(op)
            pending.extend(op.operand_values)
    touched = {b for op in needed for b in _buffers(op)}
    return tuple(
        op
        for op in visible
        if op in needed or (isinstance(op, Alloc | Alias) and op.buffer.root in touched)
    )


def _buffers(op: Op) -> Iterator[Buffer]:
    for one in (op, *(inner for block in op.blocks for inner in walk(block))):
        if isinstance(one, Load | Write):
            yield one.view.buffer.root
