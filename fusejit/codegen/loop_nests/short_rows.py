"""Reductions along rows too short for lanes: a tile of rows at once, number by number."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.accumulators import (
    Accumulator,
    filled,
    reduction_point,
    sweep,
    write_columns,
)
from fusejit.codegen.loop_nests.chunks import in_tiles, work_ns
from fusejit.codegen.loop_nests.loop_nest import (
    LoopDim,
    LoopNest,
    calls_vector_functions,
    over,
    point_of,
)
from fusejit.codegen.loop_nests.packing import flat_reference
from fusejit.ir.loops.index_math import floordiv, less, let, minimum, name, operand
from fusejit.ir.loops.nodes import Element, Expr, If, Let, Scratch, Stmt, StoreElement
from fusejit.ir.loops.polynomial import Polynomial

SHORT_ROW = 40  # rows of fewer numbers than this
SHORT_ROW_OF_CALLS = 12  # where vector functions would be called down columns
_TILE = 48  # rows that are reduced at once


def short_rows(
    nest: LoopNest, accs: Sequence[Accumulator], parallel: Sequence[LoopDim], loop: LoopDim
) -> list[Stmt]:
    """Row ``j`` of the scratch takes number ``j`` of each row; then rows merge, as a leaf does.

    Fewer rows than accumulators, and sequential sums, merge one after the other.
    """
    *around, row = parallel
    tile: list[Stmt] = [
        let("c0", name("start") + name("tile") * _TILE),
        let("w", minimum(_TILE, name("stop") - name("c0"))),
        *(filled(f"stack{acc.suffix}", "w", acc.identity) for acc in accs),  # for an empty row
    ]
    here = name("c0") + name("c")
    values: list[Stmt] = []
    lets: list[Let] = []
    if calls_vector_functions(nest) and is_flat(nest, row, loop):
        values, results = _values_of_a_tile(nest, accs, row, loop)
    else:
        lets, results = reduction_point(nest, {row.var: here, loop.var: name("r")})
    tile += values
    point: list[Stmt] = list(lets)
    at = name("r") * name("w") + name("c")
    for acc, result in zip(accs, results, strict=True):
        point.append(StoreElement(f"stack{acc.suffix}", at, acc.combine(acc.identity, result)))
    totals = [Element(f"stack{acc.suffix}", name("c")) for acc in accs]
    merged = _merged_in_turn(accs, Polynomial.const(0), loop.extent - 1)
    count = max(acc.accumulators if acc.in_tree else 0 for acc in accs)
    if count:
        merged = [If(less(loop.extent, count), merged, _merged_as_a_leaf(accs, loop, count))]
    tile += [
        over("r", loop.extent, [sweep(point)]),
        *merged,
        write_columns(nest, accs, row, totals, here),
    ]
    size = operand(SHORT_ROW * _TILE)
    scratch: list[Stmt] = [
        Scratch(f"{each}{acc.suffix}", size, acc.dtype, True)
        for acc in accs
        for each in (["stack", "value"] if values else ["stack"])
    ]
    work = work_ns(nest)
    comment = f"{nest.op.name}, short rows"
    return [in_tiles(around, row, _TILE, scratch, tile, work, comment)]


def _merged_in_turn(
    accs: Sequence[Accumulator], after: Polynomial, count: Polynomial
) -> list[Stmt]:
    """Row 0 of the scratch takes the ``count`` rows behind row ``after``, one after the other."""
    return [over("j", count, _merge(accs, Polynomial.const(0), after + name("j") + 1))]


def _merged_as_a_leaf(accs: Sequence[Accumulator], loop: LoopDim, count: int) -> list[Stmt]:
    """The first rows are the accumulators of a leaf, see `fusejit.ir.interpreter.summation`."""
    groups = floordiv(loop.extent, count)
    i, q = name("i"), name("q")
    added = _merge(accs, i, (q + 1) * count + i)
    statements: list[Stmt] = [
        let("groups", groups),
        over("q", name("groups") - 1, [over("i", count, added)]),
    ]
    distance = 1
    while distance < count:
        pair = _merge(accs, i * (2 * distance), i * (2 * distance) + distance)
        statements.append(over("i", count // (2 * distance), pair))
        distance *= 2
    whole = name("groups") * count
    return [*statements, *_merged_in_turn(accs, whole - 1, loop.extent - whole)]


def _merge(accs: Sequence[Accumulator], lower: Polynomial, upper: Polynomial) -> list[Stmt]:
    """One row of the scratch into another."""
    merge: list[Stmt] = []
    for acc in accs:
        stack = f"stack{acc.suffix}"
        places = [row * name("w") + name("c") for row in (lower, upper)]
        merged = acc.combine(*(Element(stack, place) for place in places))
        merge.append(StoreElement(stack, places[0], merged))
    return [sweep(merge)]


def short_row_limit(nest: LoopNest, row: LoopDim, loop: LoopDim) -> int:
    """Rows of fewer numbers than this are reduced here."""
    down_columns = calls_vector_functions(nest) and not is_flat(nest, row, loop)
    return SHORT_ROW_OF_CALLS if down_columns else SHORT_ROW


def is_flat(nest: LoopNest, row: LoopDim, loop: LoopDim) -> bool:
    """Whether every operand runs through a tile of rows as through one loop."""
    first, e = name("c0"), name("e")
    payload = nest.op.payload
    if payload.has_index() or payload.has_extract():
        return False
    return all(flat_reference(r, row, loop, first, e) is not None for r in nest.inputs)


def _values_of_a_tile(
    nest: LoopNest, accs: Sequence[Accumulator], row: LoopDim, loop: LoopDim
) -> tuple[list[Stmt], list[Expr]]:
    """The payload of all numbers of a tile in one flat loop, and where they are found then.

    Vector functions take a register of neighbours; down a column of short rows there are none.
    """
    first, e = name("c0"), name("e")
    flat = [flat_reference(r, row, loop, first, e) for r in nest.inputs]
    inputs = [r for r in flat if r is not None]
    lets, results = point_of(nest, inputs, [None] * len(nest.outputs), {})
    stores = [
        StoreElement(f"value{acc.suffix}", e, result)
        for acc, result in zip(accs, results, strict=True)
    ]
    loop_over_all = over("e", name("w") * loop.extent, [*lets, *stores])
    at = name("c") * loop.extent + name("r")
    return [loop_over_all], [Element(f"value{acc.suffix}", at) for acc in accs]
