"""Reductions along rows too short for lanes: a tile of rows at once, number by number."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests import deviation_columns
from fusejit.codegen.loop_nests.accumulators import (
    Accumulator,
    filled,
    of_numbers,
    plain,
    reduction_point,
    result_of,
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
from fusejit.ir.interpreter.summation import FEWEST
from fusejit.ir.loops.index_math import compute, floordiv, less, let, minimum, name, operand
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    Expr,
    If,
    Integer,
    Let,
    Scratch,
    Stmt,
    StoreElement,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial

SHORT_ROW = 40  # rows of fewer numbers than this
SHORT_ROW_OF_CALLS = 12  # where vector functions would be called down columns
_TILE = 48  # rows that are reduced at once


def short_rows(
    nest: LoopNest, accs: Sequence[Accumulator], parallel: Sequence[LoopDim], loop: LoopDim
) -> list[Stmt]:
    """Row ``j`` of the scratch takes number ``j`` of each row; then rows merge in a halving tree.

    With fewer numbers than lanes there is one number per lane, so this is the written-out order. A
    handful is merged in turn.
    """
    *around, row = parallel
    tile: list[Stmt] = [
        let("c0", name("start") + name("tile") * _TILE),
        let("w", minimum(_TILE, name("stop") - name("c0"))),
    ]
    for acc in accs:  # what an empty row leaves
        for each in ("stack", "squares") if acc.of_numbers else ("stack",):
            tile.append(filled(f"{each}{acc.suffix}", "w", acc.identity))
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
        number = acc.combine(acc.identity, result)
        point.append(StoreElement(f"stack{acc.suffix}", at, result if acc.of_numbers else number))
    totals = [result_of("stack", "squares", acc) for acc in accs]
    is_handful = less(loop.extent, FEWEST)
    tile += [
        over("r", loop.extent, [sweep(point)]),
        If(is_handful, _merged_in_turn(accs, loop), _merged_in_a_tree(accs, loop)),
        write_columns(nest, accs, row, totals, here),
    ]
    size = operand(SHORT_ROW * _TILE)
    names = ["stack", "value"] if values else ["stack"]
    scratch: list[Stmt] = [
        Scratch(f"{each}{acc.suffix}", size, acc.dtype, True)
        for acc in accs
        for each in (*names, *(("squares",) if acc.of_numbers else ()))
    ]
    means = [
        Scratch(f"about{a.suffix}", operand(_TILE), a.dtype, True) for _, a in of_numbers(accs)
    ]
    scratch += means
    work = work_ns(nest)
    comment = f"{nest.op.name}, short rows"
    return [in_tiles(around, row, _TILE, scratch, tile, work, comment)]


def _merged_in_turn(accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Row 0 of the scratch takes one row after the other."""
    lower, upper = name("c"), (name("j") + 1) * name("w") + name("c")
    merged = _merge(accs, lower, upper)
    rows = over("j", loop.extent - 1, merged)
    pairs = [deviation_columns.in_turn(acc, Integer(loop.extent)) for _, acc in of_numbers(accs)]
    return [*([rows] if merged else []), *(s for pair in pairs for s in pair)]


def _merged_in_a_tree(accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Row ``j`` of the scratch takes row ``j + half``, until one is left."""
    begin: list[Stmt] = []
    lower = name("j") * name("w") + name("c")
    merged = _merge(accs, lower, (name("j") + name("half")) * name("w") + name("c"))
    for _, acc in of_numbers(accs):
        begin += deviation_columns.less_the_first(acc, Integer(loop.extent))
        merged += deviation_columns.merge_short(acc, loop.extent)
    halving: list[Stmt] = [
        let("half", floordiv("width", 2)),
        over("j", name("left") - name("half"), merged),
        let("left", minimum("left", "half"), rebind=True),
        let("width", "half", rebind=True),
    ]
    return [
        *begin,
        let("width", Call("lane_width", (Integer(loop.extent),))),
        let("left", loop.extent),
        While([], compute(">", "width", 1), halving),
    ]


def _merge(accs: Sequence[Accumulator], lower: Polynomial, upper: Polynomial) -> list[Stmt]:
    """One row of the scratch into another."""
    merge: list[Stmt] = []
    for acc in plain(accs):
        stack = f"stack{acc.suffix}"
        merged = acc.combine(Element(stack, lower), Element(stack, upper))
        merge.append(StoreElement(stack, lower, merged))
    return [sweep(merge)] if merge else []


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
