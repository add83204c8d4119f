"""THE list of passes: from a Python function to a program that runs, in order.

    trace -> fuse: canonicalize, fold producers, schedule -> lower -> emit -> compile -> launcher

`PASSES` are those over graphs, `KERNEL_PASSES` those over the loops of a kernel; `fusejit.stages`
has what stands between the arrows. Every pass is timed, verified, and printed if FUSEJIT_DUMP asks
for it; when one fails, the IR before it is saved with the names of those still to come.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fusejit.codegen.lower.kernel_passes import KERNEL_PASSES
from fusejit.dataclass import dataclass
from fusejit.failures import Watched
from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.fuse.canonical.hoist_assertions import hoist_assertions
from fusejit.fuse.folding.concat_reads import split_concat_reads
from fusejit.fuse.folding.driver import fold_producers
from fusejit.fuse.folding.siblings import merge_siblings
from fusejit.fuse.grouping.group import form_groups
from fusejit.fuse.grouping.policy import Policy
from fusejit.fuse.im2col import convolutions_by_blas
from fusejit.fuse.loops.hoist import hoist_invariants
from fusejit.fuse.loops.independent import mark_independent_loops
from fusejit.fuse.loops.loop_fission import split_loops
from fusejit.fuse.reshaping.move_reshapes import move_reshapes_down, move_reshapes_up, note_reshapes
from fusejit.fuse.reshaping.unit_dims import drop_unit_dims
from fusejit.fuse.reshaping.unroll import unroll_small_reductions
from fusejit.ir.execution_plan import ExecutionPlan, FusionReport
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Op
from fusejit.ir.pass_log import PassLog
from fusejit.ir.target_facts import Target
from fusejit.ir.text.printer import print_graph
from fusejit.ir.verifier.verify import verify


@dataclass(frozen=True)
class PassContext:
    """What passes may ask and where they report."""

    target: Target
    policy: Policy | None
    report: FusionReport


MAX_JOINS = 4  # joined arrays of joined arrays
GraphPass = Callable[[Graph, PassContext], Graph]


def _fold(graph: Graph, at: PassContext) -> Graph:
    if at.policy is None:
        return graph
    return fold_producers(graph, at.target, at.policy.folds, at.report)


def _hoist(graph: Graph, at: PassContext) -> Graph:
    if at.policy is None:
        return graph
    return hoist_invariants(graph, at.target, at.report)


def _split_concat_reads(graph: Graph, at: PassContext) -> Graph:
    if at.policy is None:
        return graph
    for _ in range(MAX_JOINS):  # a roll of a roll
        cut = split_concat_reads(graph)
        if cut is graph:
            break
        graph = _fold(canonicalize(cut), at)
    return graph


def _merge(graph: Graph, at: PassContext) -> Graph:
    if at.policy is None:
        return graph
    return merge_siblings(graph, at.target, at.report, at.policy.merges)


def _tile_sums(graph: Graph, at: PassContext) -> Graph:
    """Register tiles for convolutions and their like; the modules are loaded only for these."""
    ops = (op for op in graph.block.ops if isinstance(op, GenericOp) and len(op.inputs) > 1)
    if at.policy is None or all(op.has_only_parallel_dims for op in ops):
        return graph
    from fusejit.fuse.tiling.tile_sums import tile_sums

    return tile_sums(graph)


def _for_fusion(rewrite: Callable[[Graph], Graph]) -> GraphPass:
    """A pass that only helps fusion: without a policy every op stays as it was written."""
    return lambda graph, at: graph if at.policy is None else rewrite(graph)


def _verified(run: GraphPass, at: PassContext, known: set[Op], graph: Graph) -> Graph:
    after = run(graph, at)
    if after is not graph:
        verify(after, known)
    return after


# The passes over graphs, in order; those over kernels are `KERNEL_PASSES`. Each of these returns
# the same object when it changed nothing.
PASSES: tuple[tuple[str, GraphPass], ...] = (
    ("make convolutions products for BLAS", lambda graph, at: convolutions_by_blas(graph)),
    ("canonicalize", lambda graph, at: canonicalize(graph)),
    ("hoist assertions", lambda graph, at: hoist_assertions(graph)),
    ("hoist loop invariants", _hoist),
    ("split loops that carry numbers", lambda graph, at: split_loops(graph, at.target, at.report)),
    ("fold producers into consumers", _fold),
    ("split reads of concatenated arrays", _split_concat_reads),
    ("move reshapes up", _for_fusion(move_reshapes_up)),
    ("fold across reshapes that moved up", _fold),
    ("move reshapes down", _for_fusion(move_reshapes_down)),
    ("tile sums", _tile_sums),
    ("unroll small reductions", _for_fusion(unroll_small_reductions)),
    ("drop dims of extent 1", _for_fusion(drop_unit_dims)),
    ("fold again after unrolling and dropping dims", _fold),
    ("merge siblings", _merge),
    ("fold again after merging", _fold),
    ("canonicalize the result", lambda graph, at: canonicalize(graph)),
    ("report reshapes that block fusion", lambda graph, at: note_reshapes(graph, at.report)),
    ("mark independent loops", lambda graph, at: mark_independent_loops(graph, at.report)),
)


def run_passes(
    graph: Graph, at: PassContext, log: PassLog, watched: Watched, verified: set[Op]
) -> Graph:
    """All of `PASSES`; ``verified`` has the ops that the verifier has seen."""
    for number, (name, run) in enumerate(PASSES):
        watched.enter([n for n, _ in PASSES[number:]], partial(print_graph, graph))
        apply = partial(_verified, run, at, verified)
        graph = log.run("graph", name, apply, graph, print_graph)
    return graph


def group(graph: Graph, at: PassContext) -> Graph:
    """Find the groups of ops that share loops."""
    if at.policy is None:
        return graph
    return form_groups(graph, at.report, at.target, at.policy.groups)


def tile_groups(plan: ExecutionPlan, log: PassLog) -> Graph:
    """The graph of a plan with its groups as loops over tiles; loads modules only if there are any.

    It is what lowering gets: reports and pictures show the ops as they were fused.
    """
    if not plan.report.grouped:
        return plan.graph
    from fusejit.fuse.tiling import tile_groups

    def run(graph: Graph) -> Graph:
        tiled = tile_groups.tile_groups(graph, plan.report.grouped)
        verify(tiled)
        return tiled

    return log.run("graph", "tile groups", run, plan.graph, print_graph)


__all__ = ["KERNEL_PASSES", "PASSES", "PassContext", "group", "run_passes", "tile_groups"]
