"""Canonicalisation: one form for each meaning, before anything is fused."""

from __future__ import annotations

from collections.abc import Callable

from fusejit.dataclass import replace
from fusejit.fuse.canonical.cancelled_reshapes import cancel_reshapes
from fusejit.fuse.canonical.common_subexpressions import eliminate_common_subexpressions
from fusejit.fuse.canonical.constants import detach_starts, fold_constants
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.canonical.fold_views import compose_views
from fusejit.fuse.canonical.simplify_payload import simplify
from fusejit.fuse.canonical.stale_loads import drop_idle_stores
from fusejit.fuse.canonical.tidy_operands import tidy
from fusejit.fuse.rewrite_blocks import rewrite_generics
from fusejit.ir.analysis.affine_gathers import read_through_maps
from fusejit.ir.analysis.degenerate import without_idle_reduction_dims, without_reductions
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp

_MAX_ROUNDS = 20


def simplify_payloads(graph: Graph) -> Graph:
    """Simplify each payload, merge equal operands and drop those nothing reads."""

    def rewrite(op: GenericOp) -> GenericOp:
        payload = simplify(op.payload)
        return tidy(op if payload is op.payload else replace(op, payload=payload))

    return rewrite_generics(graph, rewrite)


def read_affine_gathers(graph: Graph) -> Graph:
    """What is extracted at affine subscripts is an operand with a map: producers fold into it."""

    def rewrite(op: GenericOp) -> GenericOp:
        read = read_through_maps(op)
        return op if read is op else tidy(read)

    return rewrite_generics(graph, rewrite)


def drop_idle_combiners(graph: Graph) -> Graph:
    """Combiners without reduction dims become payload, reduction dims of writes are parallel."""

    def rewrite(op: GenericOp) -> GenericOp:
        op = without_idle_reduction_dims(op)
        return without_reductions(op) if op.has_only_parallel_dims else op

    return rewrite_generics(graph, rewrite)


CANONICALIZATIONS: tuple[Callable[[Graph], Graph], ...] = (
    cancel_reshapes,
    read_affine_gathers,
    compose_views,
    drop_idle_combiners,
    detach_starts,
    fold_constants,
    simplify_payloads,
    eliminate_common_subexpressions,
    drop_idle_stores,
    eliminate_dead_ops,
)


def canonicalize(graph: Graph) -> Graph:
    """Apply `CANONICALIZATIONS` until none of them changes anything.

    Before and after::

        %c = constant 2.0 : f64
        %x = load @x                                      %x = load @x
        %t = view %x [(d0) -> (d0 + 1)]                   %r = generic ins(%x [(d0) -> (d0 + 1)])
        %u = generic ins(%t, %c) { in0 * in1 }                 { in0 * 2.0 }
        %r = generic ins(%t, %c) { in0 * in1 }
    """
    for _ in range(_MAX_ROUNDS):
        before = graph
        for rewrite in CANONICALIZATIONS:
            graph = rewrite(graph)
        if graph is before:
            break
    return graph
