"""Dims of extent 1 are dropped: at their only point they are the index 0.

Before and after `drop_unit_dims`, for the root of a column of variances::

    %r = generic domain (s0, 1) ins (%x [(d0, d1) -> (d0)], %e [(d0, d1) -> (d0, d1)])
        { yield in0 + in1 } : s0 x 1 x f64

    %r = generic domain (s0) ins (%x, %e [(d0) -> (d0, 0)]) outs (write [(d0) -> (d0, 0)])
        { yield in0 + in1 } : s0 x 1 x f64

Values keep their axes. What differs in such dims alone has one domain then, and can be merged or
share loops. Source: MLIR's ``linalg-fold-unit-extent-dims``, which also drops the axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.fuse.canonical.tidy_operands import tidy
from fusejit.fuse.rewrite_blocks import rewrite_generics
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.change_domain import on_domain
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp
from fusejit.ir.types import IteratorType


def drop_unit_dims(graph: Graph) -> Graph:
    """Drop the dims of extent 1 of every generic op; the same object if there are none."""

    def rewrite(op: GenericOp) -> GenericOp:
        dims = [] if op.is_fixed else unit_dims(op)
        return without_dims(op, dims) if dims else op

    return rewrite_generics(graph, rewrite)


def unit_dims(op: GenericOp) -> list[int]:
    """The dims that may be dropped: not the last reduction, which starts from an identity.

    A reduction over one number more changes no bit of another one: its total is combined with the
    identity once more, and that is in it already (the sum of -0.0 is 0.0).
    """
    units = [d for d, extent in enumerate(op.domain) if extent.as_constant() == 1]
    if IteratorType.SEQUENTIAL in op.iterators:
        return []
    if op.reduction_dims and set(op.reduction_dims) <= set(units):
        units.remove(op.reduction_dims[-1])
    return units


def without_dims(op: GenericOp, dims: Sequence[int]) -> GenericOp:
    """The op without dims, at whose index 0 it stays."""
    kept = [d for d in range(len(op.domain)) if d not in dims]
    point = {d: AffineExpr.dim(at) for at, d in enumerate(kept)}
    point |= dict.fromkeys(dims, AffineExpr.const(0))
    domain, iterators = [op.domain[d] for d in kept], [op.iterators[d] for d in kept]
    return tidy(on_domain(op, point, domain, iterators))
