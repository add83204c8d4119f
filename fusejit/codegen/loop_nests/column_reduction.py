"""Reductions down columns: whole rows of a tile of columns are combined at once."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.accumulators import (
    Accumulator,
    ceil_div,
    filled,
    instr_of,
    reduction_point,
    sweep,
    write_columns,
)
from fusejit.codegen.loop_nests.chunks import chunked, work_ns
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, Reference, over, wrap
from fusejit.ir.loops.index_math import (
    compute,
    equal,
    floordiv,
    let,
    maximum,
    minimum,
    mod,
    name,
    operand,
)
from fusejit.ir.loops.nodes import (
    Element,
    For,
    Free,
    If,
    Integer,
    Let,
    Number,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial

TILE_BYTES = 4096  # of the columns that are combined at once
_BLOCK_ROWS = 256  # rows of a block where the order of combining does not show
_SCRATCH_SCOPE = 28
_ROWS_AT_ONCE = 4  # rows in one pass: saves loads and stores of the partial sums


def down_columns(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    parallel: Sequence[LoopDim],
    reductions: Sequence[LoopDim],
) -> list[Stmt]:
    """A parallel loop is innermost: whole rows of a tile of columns are combined at once.

    The work is cut into tiles of columns, and, where the order of merging does not show, into
    blocks of rows. One block writes its totals straight out; several leave them in a scratch array
    of one row per block, whose rows are merged at the end. Other parallel loops, and other
    reduction loops, stand around the work.
    """
    column = parallel[-1]
    around = list(parallel[:-1])
    rows, inner_reductions = reductions[0], list(reductions[1:])
    tile, blocks, tiles = name("tile"), name("blocks"), name("tiles")
    tile_columns = TILE_BYTES // max(acc.dtype.itemsize for acc in accs)
    outer = around[0] if around else None
    in_turn = any(acc.is_ordered for acc in accs)
    block = rows.extent if in_turn else Polynomial.const(_BLOCK_ROWS)
    work: list[Stmt] = [
        let("tiles", ceil_div(column.extent, tile_columns)),
        let("blocks", 1 if in_turn else maximum(ceil_div(rows.extent, _BLOCK_ROWS), 1)),
    ]
    parts: list[Stmt] = [
        Scratch(
            f"part{acc.suffix}",
            Integer(blocks * column.extent),
            acc.dtype,
            False,
            _scope(accs, acc),
        )
        for acc in accs
        if not in_turn
    ]
    inner: list[Stmt] = [
        let("tile", mod("item", "tiles")),
        let("k", floordiv("item", "tiles")),
        let("c0", tile * tile_columns),
        let("w", minimum(column.extent - name("c0"), tile_columns)),
        let("base", name("k") * block),
        let("m", minimum(rows.extent - name("base"), block)),
        *(filled(f"sums{acc.suffix}", "w", acc.identity) for acc in accs),
        *_rows_of_a_block(nest, accs, column, rows, inner_reductions),
    ]
    totals = [Element(f"sums{acc.suffix}", name("c")) for acc in accs]
    whole = write_columns(nest, accs, column, totals, name("c0") + name("c"))
    finish: list[Stmt] = []
    if in_turn:
        inner.append(whole)
    else:
        at = name("k") * column.extent + name("c0") + name("c")
        stores = [
            StoreElement(f"part{acc.suffix}", at, total)
            for acc, total in zip(accs, totals, strict=True)
        ]
        inner.append(If(equal("blocks", 1), [whole], [sweep(stores)]))
        merge = [s for acc in accs for s in _merge_blocks(acc, column)]
        merged = [Element(f"part{acc.suffix}", name("c")) for acc in accs]
        merge.append(write_columns(nest, accs, column, merged, name("c"), column.extent))
        finish.append(If(compute(">", "blocks", 1), merge))
    scratch: list[Stmt] = [
        Scratch(f"sums{acc.suffix}", operand(tile_columns), acc.dtype, False, _scope(accs, acc, 2))
        for acc in accs
    ]
    frees: list[Stmt] = [Free(f"sums{acc.suffix}") for acc in accs]
    part_frees: list[Stmt] = [Free(f"part{acc.suffix}") for acc in accs if not in_turn]
    cost = work_ns(nest)
    if outer is None:
        items = ParallelFor(
            Integer(blocks * tiles),
            cost,
            [*scratch, For("item", Var("lo"), Var("hi"), inner), *frees],
            nest.op.name,
        )
        return [*work, *parts, items, *finish, *part_frees]
    all_items = over("item", Integer(blocks * tiles), inner)
    loops = wrap(around, [all_items, *finish])
    body = [*work, *parts, *scratch, *loops, *frees, *part_frees]
    return [chunked(outer, body, cost, nest.op.name)]


def _scope(accs: Sequence[Accumulator], acc: Accumulator, base: int = 0) -> int:
    """Alias scopes of the scratch of reductions; 0 (no promise) when there are too many."""
    at = list(accs).index(acc)
    return _SCRATCH_SCOPE + base + at if at < 2 else 0


def _merge_blocks(acc: Accumulator, column: LoopDim) -> list[Stmt]:
    """Merge the rows of the blocks into the first one."""
    part, c = f"part{acc.suffix}", name("c")
    other = Element(part, (name("b") + 1) * column.extent + c)
    merged = over("c", column.extent, [StoreElement(part, c, acc.combine(Element(part, c), other))])
    return [over("b", name("blocks") - 1, [merged])]


def _rows_of_a_block(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    column: LoopDim,
    rows: LoopDim,
    inner_reductions: Sequence[LoopDim],
) -> list[Stmt]:
    """Combine the rows of a block into the accumulator row, several in one pass."""
    mask = _mask_of_rows(nest, accs, column)
    if mask is not None or inner_reductions:
        row = name("base") + name("r")
        combined: Stmt = _row_loop(nest, accs, column, {rows.var: row}, 1)
        if mask is not None:
            combined = If(mask.substitute(rows.var, row).load(), [combined])
        return wrap([LoopDim("r", name("m"), True), *inner_reductions], [combined])
    passes = name("passes") * _ROWS_AT_ONCE
    row = name("base") + name("i")
    several = {rows.var: row + name("r") * _ROWS_AT_ONCE}
    rest = {rows.var: row + passes + name("r")}
    return [
        let("passes", floordiv("m", _ROWS_AT_ONCE)),
        over("r", "passes", [_row_loop(nest, accs, column, several, _ROWS_AT_ONCE)]),
        over("r", name("m") - passes, [_row_loop(nest, accs, column, rest, 1)]),
    ]


def _row_loop(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    column: LoopDim,
    replacements: dict[str, Polynomial],
    count: int,
) -> For:
    """Combine ``count`` rows of the tile, numbered ``i``, into the accumulator row."""
    lets, results = reduction_point(nest, {column.var: name("c0") + name("c"), **replacements})
    at = name("c")
    step: list[Stmt] = list(lets)
    for acc, result in zip(accs, results, strict=True):
        so_far = f"so_far{acc.suffix}"
        step.append(Let(so_far, acc.combine(Var(so_far), result), rebind=True))
    begin = [Let(f"so_far{acc.suffix}", Element(f"sums{acc.suffix}", at)) for acc in accs]
    end = [StoreElement(f"sums{acc.suffix}", at, Var(f"so_far{acc.suffix}")) for acc in accs]
    return sweep([*begin, over("i", count, step), *end])


def _mask_of_rows(nest: LoopNest, accs: Sequence[Accumulator], column: LoopDim) -> Reference | None:
    """The mask of ``x[mask].any(axis=0)``: where it is false, a row has nothing but identities.

    Such rows are not read at all, as NumPy does not read them.
    """
    payload = nest.op.payload
    masks = set()
    for acc, result in zip(accs, payload.results, strict=True):
        instr = instr_of(payload, result)
        if instr is None or instr.op != "select":
            return None
        mask, _, other = instr.operands
        neutral = instr_of(payload, other)
        if mask >= payload.num_inputs or neutral is None or neutral.op != "const":
            return None
        if acc.identity != Number(neutral.attr, neutral.dtype):
            return None
        masks.add(mask)
    if len(masks) != 1:
        return None
    reference = nest.inputs[masks.pop()]
    is_of_rows = reference.pointer is not None and not reference.offset.mentions(column.var)
    return reference if is_of_rows else None
