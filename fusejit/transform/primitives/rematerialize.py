"""`rematerialize`: compute an elementwise producer again at each point of a consumer.

>>> h = schedule(lambda a: np.exp(a) + 1, np.ones(3))["add"]
>>> print(h.show())
%v2 = generic "add" domain (s0) ins (%v1) outs (write) { t0 = const 1.0 : f64; t1 = add in0, t0
    : f64; yield t1 } : s0 x f64
>>> print(h.rematerialize("exp").show())
%v2 = generic "add+1" domain (s0) ins (%v0) outs (write) { t0 = exp in0 : f64; t1 = const 1.0 :
    f64; t2 = add t0, t1 : f64; yield t2 } : s0 x f64

Rules: those of `fusejit.fuse.folding.legality`, as for the folds that the automatic pipeline makes.
Source: MLIR's elementwise fusion.
"""

from __future__ import annotations

from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.folding.fold import fold
from fusejit.fuse.folding.fold_context import BlockContext
from fusejit.fuse.folding.legality import check_fold
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import enclosing, replaced
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, base_name
from fusejit.ir.target_facts import Target
from fusejit.ir.values import Value
from fusejit.transform.core.arguments import op_name, primitive
from fusejit.transform.core.base import BaseHandle, H, call


@primitive
def rematerialize(handle: H, producer: str | BaseHandle, *, check: bool = True) -> H:
    """Compute an elementwise producer again at each point of the op.

    Raises
    ------
    ScheduleError
        If the op does not read it, or a rule of folds is broken.
    """
    name, op, old = op_name(handle, producer), handle.op, handle.schedule
    step, made = call("rematerialize", name), old.op_named(name)
    reads = [k for k, o in enumerate(op.inputs) if o.value in made.results]
    if not reads:
        raise illegal(step, op.name, f"it does not read {made.name}")
    broken = check_fold(made, reads[0], op, context_of(old.graph, op, old.stage.target))
    if broken is not None:
        raise illegal(step, op.name, broken.reason)
    fused = fold(made, reads[0], op)
    graph = eliminate_dead_ops(replaced(old.graph, op, [fused]))
    what = f"{name} at each point of {base_name(op.name)}"
    return handle.after(step, "bits", what, graph, fused, check=check)


def context_of(graph: Graph, op: GenericOp, target: Target) -> BlockContext:
    """What the rules of folds know of the block of an op."""
    block = enclosing(graph, op)[1]
    leaving = {r for r in graph.results if isinstance(r, Value)} | {*block.yields}
    return BlockContext(block, frozenset(leaving), definitions(graph.block), target)
