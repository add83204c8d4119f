"""`tile_sums`: the automatic schedule of convolutions, products of integers, and the like.

This pass tiles an op that reads operands for several points and keeps the sums of a tile in vector
registers, with the rewrites of `tile`, `fuse`, `vectorize`, `unroll` and `threads`. The order of
terms stays, or does not show: a structured op sums in the order of its dims. So all bits stay. An
elementwise op that alone reads the result is computed in the same tiles.

    for oh.0 .. parallel, n.0 .., f.0 .., ow.0 ..:
      fill, conv_2d_nhwc_hwcf on 1 x 1 x 8 x 32 points in registers, maximum
"""

from __future__ import annotations

from collections.abc import Set
from contextlib import suppress

from fusejit.dataclass import dataclass, replace
from fusejit.errors import ScheduleError
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.destinations import users
from fusejit.fuse.tiling.in_tiles import in_tiles
from fusejit.fuse.tiling.move_into_loops import moved_into_loops
from fusejit.fuse.tiling.rules import loop_of, reassociates, replaced, why_no_accumulators
from fusejit.ir.affine import Dim
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Op, Operand, ViewOp
from fusejit.ir.tiles import RegisterTile
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value

STEP = "automatic schedule"

VECTOR_BYTES = 128
"""Neighbours of a register tile: two of the widest registers."""

ROWS = 8
"""Rows of a register tile: with two registers each, half of those that AVX-512 has."""

SUBSCRIPTS = "ijklpqrstuvwxyz"


@dataclass(frozen=True)
class Plan:
    """How an op is cut: dims with the extents of their tiles, the outermost one first."""

    sizes: dict[int, int]
    vector_dim: int
    row_dim: int


def tile_sums(graph: Graph) -> Graph:
    """Tile the sums at the top of a graph; the same object if there is none."""
    for op in graph.block.ops:
        plan = _plan(op) if isinstance(op, GenericOp) else None
        if plan is not None and isinstance(op, GenericOp):
            with suppress(ScheduleError):  # the rules of `tile` and `fuse` decide
                graph = _scheduled(graph, op, plan)
    return graph


def _plan(op: GenericOp) -> Plan | None:
    """Tiles for an op that combines terms and reads an operand for several points; else None.

    Sums of neighbours in memory are better as rows. The vector dim is the last axis of the result.
    Operands have it as their last axis, or not at all. The row dim is the last one before it along
    which some operand does not change.
    """
    if op.has_only_parallel_dims or op.is_fixed or len(op.inits) != 1 or reassociates(op):
        return None
    (init,), (result,) = op.inits, op.results
    if why_no_accumulators(op) or op.payload.has_extract() or result.type.dtype.kind not in "fiu":
        return None
    axes = [r.as_dim() for r in init.map.results]
    dims = [d for d in axes if d is not None]
    parallel = {d for d, i in enumerate(op.iterators) if i is IteratorType.PARALLEL}
    if len(dims) < len(axes) or {*dims} != parallel or len(dims) < 2 or result.order is not None:
        return None
    *others, vector = dims
    for operand in op.inputs:
        *outer, last = operand.map.results or (None,)
        if any(vector in r.dims() for r in outer if r is not None):
            return None
        if last is not None and vector in last.dims() and last.as_dim() != vector:
            return None
        linear = (r for r in operand.map.results if r.dims() & parallel)
        if any(not r.is_linear or min(r.coefficient(Dim(d)) for d in r.dims()) < 1 for r in linear):
            return None
    terms = [o.map.dims() for o in op.inputs if not o.map.dims() <= parallel]
    if all(_is_along_terms(o, parallel) for o in op.inputs if not o.map.dims() <= parallel):
        return None
    long = [d for d in others if op.domain[d].as_constant() != 1]
    reused = [d for d in long if any(d not in dims for dims in terms)]
    if not reused or op.domain[vector].as_constant() == 1:
        return None
    row = reused[-1]
    width = max(VECTOR_BYTES // result.type.dtype.itemsize, 2)
    windows = {d for o in op.inputs for r in o.map.results if len(r.dims()) > 1 for d in r.dims()}
    outside = sorted((d for d in others if d != row), key=lambda d: d not in windows)
    has_window = bool(outside) and outside[0] in windows
    order = [*outside, vector, row] if has_window else [row, *outside, vector]
    sizes = {**dict.fromkeys(outside, 1), row: ROWS, vector: width}
    return Plan({d: sizes[d] for d in order}, vector, row)


def _is_along_terms(operand: Operand, parallel: Set[int]) -> bool:
    """Whether neighbours in the memory of an operand are terms of one sum."""
    axes = operand.value.order or range(operand.map.rank)
    return bool(operand.map.results[axes[-1]].dims() - parallel)


def _scheduled(graph: Graph, op: GenericOp, plan: Plan) -> Graph:
    outer = _epilogue(graph, op) or op
    axes = {r.as_dim(): k for k, r in enumerate(op.inits[0].map.results)}
    sizes = {d: n for d, n in plan.sizes.items() if not _is_within(op, d, n)}
    numbers = {d if outer is op else axes[d]: n for d, n in sizes.items()}
    if not numbers:
        return graph
    names = SUBSCRIPTS[: len(outer.domain)]
    graph, inner, tiles = in_tiles(graph, outer, numbers, names, STEP, False)
    if outer is not op:
        graph, inner = _fused(graph, inner, op)
    start = inner.inits[0].start
    fill = None if start is None else _source(graph, start)
    if isinstance(fill, GenericOp) and not fill.inputs:
        graph, _ = _fused(graph, inner, fill)
    extents: list[int | None] = [None] * len(op.domain)
    for d in (plan.row_dim, plan.vector_dim):
        extents[d] = sizes.get(d, op.domain[d].as_constant())
    tile = RegisterTile(tuple(extents), plan.vector_dim)
    inner = _op_of(graph, inner.results[0])
    graph = replaced(graph, inner, [replace(inner, register_tile=tile)])
    loop = loop_of(graph, tiles[0].loop)
    return replaced(graph, loop, [replace(loop, is_parallel=True)])


def _is_within(op: GenericOp, dim: int, size: int) -> bool:
    """Whether a dim is known to be no longer than a tile."""
    extent = op.domain[dim].as_constant()
    return extent is not None and extent <= size


def _fused(graph: Graph, consumer: GenericOp, producer: GenericOp) -> tuple[Graph, GenericOp]:
    """The graph with a producer in the loops around a consumer, and what the producer is there."""
    fused = moved_into_loops(graph, consumer, producer, STEP)
    return fused.graph, _op_of(fused.graph, fused.slices[0])


def _op_of(graph: Graph, value: Value) -> GenericOp:
    op = definitions(graph.block)[value]
    assert isinstance(op, GenericOp)
    return op


def _source(graph: Graph, value: Value) -> Op | None:
    """The op that computes a value, or of which it is a part."""
    defining = definitions(graph.block)
    while isinstance(op := defining.get(value), ViewOp):
        value = op.source
    return op


def _epilogue(graph: Graph, op: GenericOp) -> GenericOp | None:
    """The elementwise op that alone reads the result, each point where it is written; or None."""
    (result,) = op.results
    readers = [*users(graph.block, result)]
    if len(readers) != 1 or any(r is result for r in graph.results):
        return None
    (reader,) = readers
    if not isinstance(reader, GenericOp) or reader not in graph.block.ops:
        return None
    if not reader.is_elementwise or reader.is_fixed or reader.domain != result.type.extents:
        return None
    reads = [o for o in reader.inputs if o.value is result]
    is_whole = all(o.map.is_identity for o in reads) and all(
        i.map.is_identity and i.start is None for i in reader.inits
    )
    return reader if reads and is_whole and not reader.payload.has_extract() else None
