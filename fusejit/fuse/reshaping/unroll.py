"""Reductions over a few elements, known at compile time, become part of the payload.

Before and after, for the means of blocks of 2 x 2 elements::

    %r = generic "sum" domain (s0, 2) iterators (parallel, reduction)
        ins (%x [(d0, d1) -> (2 * d0 + d1)]) outs (add [(d0, d1) -> (d0)]) { yield in0 }

    %r = generic "sum" domain (s0) ins (%x [(d0) -> (2 * d0)], %x [(d0) -> (2 * d0 + 1)])
        outs (add) { t0 = add in0, in1; yield t0 }

The numbers are combined in the order of `fusejit.ir.interpreter.summation`, so the bits stay the
same. What is left is elementwise, or a reduction with fewer dims: it folds, and its loops are long.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from fusejit.dataclass import replace
from fusejit.fuse.canonical.tidy_operands import merge_operands
from fusejit.fuse.rewrite_blocks import rewrite_generics
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.degenerate import without_reductions
from fusejit.ir.analysis.ordered import is_ordered
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Operand
from fusejit.ir.payload import Payload, PayloadBuilder
from fusejit.ir.scalar_ops.combiners import COMBINERS, Combiner

_MAX_POINTS = 16
_MAX_OPERANDS = 32
_MAX_INSTRS = 128
_WINDOW_FACTOR = 4  # the limits of an op without parallel dims, as of a window in a loop


def unroll_small_reductions(graph: Graph) -> Graph:
    """Unroll reduction dims of few points in all, where the payload stays short."""

    def rewrite(op: GenericOp) -> GenericOp:
        dims = [] if op.is_fixed else _small_dims(op)
        return unrolled(op, dims) if dims else op

    return rewrite_generics(graph, rewrite)


def why_not_unrolled(op: GenericOp) -> str:
    """Why the payload cannot compute all terms of a reduction, or the empty text."""
    if op.payload.has_extract():
        return "it gathers"
    if any(map(op.payload.reads_init, range(len(op.inits)))):
        return "a term reads what the result is so far"
    reduced = set(op.reduction_dims)
    if any(i.combiner is None or i.map.dims() & reduced for i in op.inits):
        return "a result is written at every point"
    return ""


def _small_dims(op: GenericOp) -> list[int]:
    """The reduction dims to unroll; of an op whose order shows, all or none."""
    if why_not_unrolled(op):
        return []
    payload, ordered = op.payload, is_ordered(op)
    more = _WINDOW_FACTOR if len(op.reduction_dims) == len(op.domain) else 1
    points = 1
    dims: list[int] = []
    for d in reversed(op.reduction_dims):
        size = op.domain[d].as_constant()
        if size is None or not 0 < size * points <= more * _MAX_POINTS:
            if ordered:
                return []
            continue
        points *= size
        dims.append(d)
    moving = sum(bool(o.map.dims() & set(dims)) for o in op.inputs)
    instrs = (len(payload.instrs) + 1) * points
    if moving * points > more * _MAX_OPERANDS or instrs > more * _MAX_INSTRS:
        return []
    return sorted(dims)


def unrolled(op: GenericOp, dims: Sequence[int]) -> GenericOp:
    """The op whose payload combines all points of some reduction dims, whose extents are known."""
    kept = [d for d in range(len(op.domain)) if d not in dims]
    sizes = {d: op.domain[d].constant for d in dims}
    renumbered = {d: AffineExpr.dim(at) for at, d in enumerate(kept)}

    def dims_at(point: Mapping[int, int]) -> dict[int, AffineExpr]:
        return renumbered | {d: AffineExpr.const(k) for d, k in point.items()}

    points: list[dict[int, int]] = [{}]
    for d in dims:
        points = [{**p, d: k} for p in points for k in range(sizes[d])]
    operands = [
        Operand(o.value, o.map.over(len(kept), dims_at(p))) for p in points for o in op.inputs
    ]
    inputs, place = merge_operands(operands)
    dtypes = [r.type.dtype for r in op.results]
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], dtypes)
    yielded: list[tuple[int, ...]] = []
    for at, point in enumerate(points):
        here = place[at * len(op.inputs) : (at + 1) * len(op.inputs)]
        arguments = [*here, *([None] * len(op.inits))]
        yielded.append(builder.inline(op.payload.over(dims_at(point)), arguments))
    results: list[int] = []
    for at, (init, dtype) in enumerate(zip(op.inits, dtypes, strict=True)):
        assert init.combiner is not None
        row = COMBINERS[init.combiner]
        refs = [builder.cast(y[at], dtype) for y in yielded]
        results.append(_combined(builder, row, refs, dtype))
    new = replace(
        op,
        domain=tuple(op.domain[d] for d in kept),
        iterators=tuple(op.iterators[d] for d in kept),
        inputs=inputs,
        inits=tuple(replace(i, map=i.map.over(len(kept), renumbered)) for i in op.inits),
        payload=builder.finish(results),
    )
    if not new.has_only_parallel_dims:
        return new
    return without_reductions(replace(new, payload=_without_negative_zeros(new)))


def _without_negative_zeros(op: GenericOp) -> Payload:
    """The payload with each maximum and minimum ``+ 0.0``: as that of a reduction, never -0.0."""
    combiners = [None if i.combiner is None else COMBINERS[i.combiner] for i in op.inits]
    dtypes = [r.type.dtype for r in op.results]
    builder = PayloadBuilder([o.value.type.dtype for o in op.inputs], dtypes)
    refs = [*builder.inline(op.payload, [*range(len(op.inputs) + len(op.inits))])]
    for at, (row, dtype) in enumerate(zip(combiners, dtypes, strict=True)):
        if row is not None and row.is_extremum(dtype):
            refs[at] = builder.op("add", (refs[at], builder.const(0.0, dtype)), dtype)
    return builder.finish(refs)


def _combined(builder: PayloadBuilder, row: Combiner, refs: list[int], dtype: np.dtype) -> int:
    """As many as a tree has accumulators, and more, as a leaf of it; else one after the other.

    The combiner that stays starts from 0.0, which only shows where the sum is -0.0.
    """

    def merged(left: int, right: int) -> int:
        return builder.op(row.scalar_op, (left, right), dtype)

    count = row.accumulators if dtype.kind in row.ordered else 0
    if not 0 < count <= len(refs):
        return functools.reduce(merged, refs)
    whole = len(refs) - len(refs) % count
    lanes = [functools.reduce(merged, refs[k:whole:count]) for k in range(count)]
    while len(lanes) > 1:
        lanes = list(map(merged, lanes[::2], lanes[1::2]))
    return functools.reduce(merged, refs[whole:], lanes[0])
