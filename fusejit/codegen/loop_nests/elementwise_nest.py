"""Nests whose dims are all parallel: chunks of the outermost loop, tiles where operands differ."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.accumulators import ceil_div
from fusejit.codegen.loop_nests.chunks import chunked, work_ns
from fusejit.codegen.loop_nests.loop_nest import (
    TILE,
    LoopDim,
    LoopNest,
    calls_vector_functions,
    collapse_loops,
    drop_unit_loops,
    needs_tiles,
    order_loops,
    over,
    place_by_depth,
    point_of,
)
from fusejit.codegen.loop_nests.nontemporal_stores import is_streamable, streamed
from fusejit.codegen.loop_nests.packing import lower_packed
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import less, minimum
from fusejit.ir.loops.nodes import Expr, For, If, Integer, Let, Stmt, Var
from fusejit.ir.loops.polynomial import Polynomial

SHORT_LOOP = (
    16  # an inner loop below this many steps is turned outside if it calls vector functions
)


def lower_elementwise(nest: LoopNest) -> list[Stmt]:
    """Loops that compute every output element once; where the nest's mask is false, none."""
    drop_unit_loops(nest)
    order_loops(nest)
    collapse_loops(nest)
    tiled = needs_tiles(nest)
    if tiled is not None:
        outer = next(loop for loop in nest.loops if loop.var == tiled[0])
        nest.loops.remove(outer)
        nest.loops.insert(len(nest.loops) - 1, outer)
    lets, innermost = point_statements(nest)
    if not nest.loops:
        return [*lets, *innermost]
    work = work_ns(nest)
    if tiled is not None:
        return _tiled(nest, lets, innermost, work)
    statements = place_by_depth(nest.loops, lets, innermost)
    usual = chunked(nest.loops[0], statements, work, nest.op.name)
    if is_streamable(nest):
        return [replace(usual, streamed=streamed(nest))]
    if len(nest.loops) < 2 or not calls_vector_functions(nest):
        return [usual]
    # In a short inner loop each vector function would be called for a few elements at a time.
    if nest.mask is not None or nest.op.payload.has_index() or nest.op.payload.has_extract():
        return [usual]
    packed = lower_packed(nest, work)
    return [If(less(nest.loops[-1].extent, SHORT_LOOP), [packed], [usual])]


def point_statements(nest: LoopNest) -> tuple[list[Let], list[Stmt]]:
    """The payload for one point and the stores of its results."""
    lets, results = point_of(nest, nest.inputs, nest.inits(nest.outputs), nest.index_dims)
    stores = [r.store(value) for r, value in zip(nest.outputs, results, strict=False)]
    if nest.mask is not None:
        lets.append(Let("m", nest.mask.load()))
        return lets, [If(Var("m"), stores)]
    return lets, stores


def _tiled(
    nest: LoopNest, lets: Sequence[Let], innermost: Sequence[Stmt], work: Expr
) -> list[Stmt]:
    outer, inner = nest.loops[-2:]

    def bounded(loop: LoopDim, s: Stmt) -> Stmt:
        """The loop ``s`` over one tile."""
        assert isinstance(s, For)
        start = Polynomial.name(f"{loop.var}_tile") * TILE
        end = minimum(start + TILE, loop.extent)
        return replace(s, lower=Integer(start), upper=end)

    def tiled(s: Stmt) -> Stmt:
        if not isinstance(s, For):
            return s
        if s.var != outer.var:
            return replace(s, body=[*map(tiled, s.body)])
        *before, columns = s.body
        body = [bounded(outer, replace(s, body=[*before, bounded(inner, columns)]))]
        for loop in (inner, outer):
            body = [over(f"{loop.var}_tile", ceil_div(loop.extent, TILE), body)]
        return body[0]

    statements = [*map(tiled, place_by_depth(nest.loops, lets, innermost))]
    first = LoopDim(f"{outer.var}_tile", ceil_div(outer.extent, TILE), False)
    first = nest.loops[0] if len(nest.loops) > 2 else first
    return [chunked(first, statements, work, nest.op.name)]
