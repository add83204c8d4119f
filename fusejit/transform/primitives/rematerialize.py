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
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, base_name
from fusejit.ir.target_facts import Target
from fusejit.ir.values import Value
from fusejit.transform.core.base import H, call
from fusejit.transform.core.errors import illegal
from fusejit.transform.core.rules import enclosing, replaced


def rematerialize(handle: H, producer: str, *, check: bool = True) -> H:
    """Compute an elementwise producer again at each point of the op.

    Raises
    ------
    ScheduleError
        If the op does not read it, or a rule of folds is broken.
    """
    step, old = call("rematerialize", producer), handle.schedule
    made = computed_again(old.graph, handle.op, old[producer].op, old.stage.target, step)
    what = f"{producer} at each point of {base_name(handle.op.name)}"
    return handle.after(step, "bits", what, *made, check=check)


def computed_again(
    graph: Graph, consumer: GenericOp, producer: GenericOp, target: Target, step: str
) -> tuple[Graph, GenericOp]:
    """Return the graph with the producer's payload in the consumer, and the new consumer.

    Raises
    ------
    ScheduleError
        If the consumer does not read the producer, or a rule is broken.
    """
    reads = [k for k, o in enumerate(consumer.inputs) if o.value in producer.results]
    if not reads:
        raise illegal(step, consumer.name, f"it does not read {producer.name}")
    context = context_of(graph, consumer, target)
    broken = check_fold(producer, reads[0], consumer, context)
    if broken is not None:
        raise illegal(step, consumer.name, broken.reason)
    fused = fold(producer, reads[0], consumer)
    return eliminate_dead_ops(replaced(graph, consumer, [fused])), fused


def context_of(graph: Graph, op: GenericOp, target: Target) -> BlockContext:
    """What the rules of folds know of the block of an op."""
    block = enclosing(graph, op)[1]
    leaving = {r for r in graph.results if isinstance(r, Value)} | {*block.yields}
    return BlockContext(block, frozenset(leaving), definitions(graph.block), target)
