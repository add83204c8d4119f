"""Reductions down columns: whole rows of a tile of columns are combined at once."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests import deviation_columns, deviations
from fusejit.codegen.loop_nests.accumulators import (
    Accumulator,
    ceil_div,
    filled,
    instr_of,
    merged_blocks,
    of_numbers,
    plain,
    reduction_point,
    result_of,
    sweep,
    write_columns,
)
from fusejit.codegen.loop_nests.chunks import chunked, work_ns
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, Reference, over, wrap
from fusejit.ir.interpreter.summation import BLOCK, LANES
from fusejit.ir.loops.index_math import (
    I64,
    add,
    ceildiv,
    compute,
    equal,
    floordiv,
    less,
    let,
    maximum,
    minimum,
    mod,
    moved,
    name,
    operand,
)
from fusejit.ir.loops.nodes import (
    Call,
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
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import select

TILE_BYTES = 4096  # of the columns that are combined at once
LANE_LEVELS = 9  # partial rows on the stack of a block: log2(LANES) + 2
_PLAIN_ROWS = 256  # rows of a block when the order of combining does not show
_SCRATCH_SCOPE = 28
_ROWS_AT_ONCE = 4  # rows of a lane in one pass: saves loads and stores of the partial sums


def down_columns(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    parallel: Sequence[LoopDim],
    reductions: Sequence[LoopDim],
) -> list[Stmt]:
    """A parallel loop is innermost: whole rows of a tile of columns are combined at once.

    The work is cut into tiles of columns times blocks of rows. One block writes its totals straight
    out; several leave them in a scratch array of one row per block, whose rows are merged at the
    end. Other parallel loops, and other reduction loops, stand around the work.
    """
    column = parallel[-1]
    around = list(parallel[:-1])
    ordered = any(acc.is_ordered for acc in accs)
    rows, inner_reductions = reductions[0], list(reductions[1:])
    block = BLOCK if ordered else _PLAIN_ROWS
    tile, blocks, tiles = name("tile"), name("blocks"), name("tiles")
    tile_columns = TILE_BYTES // max(acc.dtype.itemsize for acc in accs)
    outer = around[0] if around else None
    size = Integer(blocks * column.extent)
    work: list[Stmt] = [
        let("tiles", ceil_div(column.extent, tile_columns)),
        let("blocks", maximum(ceil_div(rows.extent, block), 1)),
    ]
    for acc in accs:
        work.append(Scratch(f"part{acc.suffix}", size, acc.dtype, False, _scope(accs, acc)))
        if acc.of_numbers:
            work.append(Scratch(f"squared{acc.suffix}", size, acc.dtype, False))
    inner: list[Stmt] = [
        let("tile", mod("item", "tiles")),
        let("k", floordiv("item", "tiles")),
        let("c0", tile * tile_columns),
        let("w", minimum(column.extent - name("c0"), tile_columns)),
        let("base", name("k") * block),
        let("m", minimum(rows.extent - name("base"), block)),
    ]
    if ordered:
        inner += _column_sums(nest, accs, rows, column)
    else:
        inner += [filled(f"stack{acc.suffix}", "w", acc.identity) for acc in accs]
        row = {rows.var: name("base") + name("r")}
        loop = LoopDim("r", name("m"), True)
        combined: Stmt = _row_loop(nest, accs, column, row)
        mask = _mask_of_rows(nest, accs, column)
        if mask is not None:
            combined = If(mask.substitute(rows.var, row[rows.var]).load(), [combined])
        inner += wrap([loop, *inner_reductions], [combined])
    totals = [result_of("stack", "squares", acc) for acc in accs]
    partial: list[Stmt] = []
    for a in accs:
        at = name("k") * column.extent + name("c0") + name("c")
        partial.append(StoreElement(f"part{a.suffix}", at, Element(f"stack{a.suffix}", name("c"))))
        if a.of_numbers:
            squares = Element(f"squares{a.suffix}", name("c"))
            partial.append(StoreElement(f"squared{a.suffix}", at, squares))
    whole = write_columns(nest, accs, column, totals, name("c0") + name("c"))
    inner.append(If(equal("blocks", 1), [whole], [sweep(partial)]))
    stack_rows = LANE_LEVELS if ordered else 1
    memory = [("stack", a, stack_rows, _scope(accs, a, 2)) for a in accs]
    for _, a in of_numbers(accs):
        memory += [("squares", a, stack_rows, 0), ("pivot", a, 1, 0)]
    scratch = [
        Scratch(f"{each}{a.suffix}", operand(count * tile_columns), a.dtype, False, scope)
        for each, a, count, scope in memory
    ]
    frees = [Free(s.name) for s in scratch]
    cost = work_ns(nest)
    merge: list[Stmt] = []
    for acc in accs:
        if acc.of_numbers:
            merge += deviation_columns.merge_blocks(acc, rows, column)
        else:
            merge += _merge_blocks(acc, column)
    rows_out = [result_of("part", "squared", acc) for acc in accs]
    merge.append(write_columns(nest, accs, column, rows_out, name("c"), column.extent))
    finish = If(compute(">", "blocks", 1), merge)
    part_frees: list[Stmt] = [Free(f"part{a.suffix}") for a in accs]
    part_frees += [Free(f"squared{a.suffix}") for _, a in of_numbers(accs)]
    if outer is None:
        items = ParallelFor(
            Integer(blocks * tiles),
            cost,
            [*scratch, For("item", Var("lo"), Var("hi"), inner), *frees],
            nest.op.name,
        )
        return [*work, items, finish, *part_frees]
    all_items = over("item", Integer(blocks * tiles), inner)
    loops = wrap(around, [all_items, finish])
    body = [*work, *scratch, *loops, *frees, *part_frees]
    return [chunked(outer, body, cost, nest.op.name)]


def _scope(accs: Sequence[Accumulator], acc: Accumulator, base: int = 0) -> int:
    """Alias scopes of the scratch of reductions; 0 (no promise) when there are too many."""
    at = list(accs).index(acc)
    return _SCRATCH_SCOPE + base + at if at < 2 else 0


def _merge_blocks(acc: Accumulator, column: LoopDim) -> list[Stmt]:
    """Merge the rows of the blocks into the first one, neighbours in pairs."""
    part = f"part{acc.suffix}"
    n, b, c = column.extent, name("b"), name("c")
    left, right = Element(part, 2 * b * n + c), Element(part, (2 * b + 1) * n + c)
    pair = over("c", n, [StoreElement(part, b * n + c, acc.combine(left, right))])
    return [let("left", "blocks"), *merged_blocks(column, [part], [pair])]


def _row_loop(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    column: LoopDim,
    replacements: dict[str, Polynomial],
) -> For:
    """Combine one row of the tile into the accumulator row."""
    lets, results = reduction_point(nest, {column.var: name("c0") + name("c"), **replacements})
    body: list[Stmt] = list(lets)
    at = name("c")
    for acc, result in zip(accs, results, strict=True):
        stack = f"stack{acc.suffix}"
        body.append(StoreElement(stack, at, acc.combine(Element(stack, at), result)))
    return sweep(body)


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


def _column_sums(
    nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim, column: LoopDim
) -> list[Stmt]:
    """Statements that leave a block's totals of a tile of columns in row 0 of the stacks."""
    rows_of_many = ceildiv(name("m") - name("lane"), LANES)
    first: list[Stmt] = [
        let("rows", select(equal("spacing", 1), Var("m"), rows_of_many, I64)),
        let("head", add(mod(name("rows") - 1, _ROWS_AT_ONCE), 1)),
    ]
    begin: list[Stmt] = []
    for count in range(_ROWS_AT_ONCE, 0, -1):
        rows = _lane_rows(nest, accs, loop, column, Polynomial.const(0), count, True)
        begin = [If(equal("head", count), [rows], begin)] if begin else [rows]
    if plain(accs):
        first += begin
        number = name("head") + name("q") * _ROWS_AT_ONCE
        several = _lane_rows(nest, accs, loop, column, number, _ROWS_AT_ONCE, False)
        passes = floordiv(name("rows") - name("head"), _ROWS_AT_ONCE)
        first.append(over("q", passes, [several]))
    for at, acc in of_numbers(accs):  # the rows of a lane are in the nearest cache
        first += deviation_columns.lane_of_columns(nest, acc, at, loop, column)
    first += [let("count", "v"), let("span", "width")]
    # A lane without rows is the right one of its pair: the left one alone is the pair's sum.
    empty: list[Stmt] = [
        let("count", compute(">>", "v", 1)),
        let("span", compute(">>", "width", 1)),
        moved("top", -1),
    ]
    lanes = [
        let("lane", Call("reverse_bits", (Var("v"), Var("width")))),
        If(less("lane", "m"), first, empty),
        *_push_row(accs),
    ]
    return [
        let("width", Call("lane_width", (Var("m"),))),
        let("spacing", Call("lane_spacing", (Var("m"),))),
        let("top", 0),
        If(
            compute(">", "m", 0),
            [
                *(deviations.pivots(nest, acc, at, loop, column) for at, acc in of_numbers(accs)),
                over("v", Var("width"), lanes),
            ],
            [filled(result_of("stack", "squares", acc).pointer, "w", acc.identity) for acc in accs],
        ),
    ]


def _lane_rows(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    loop: LoopDim,
    column: LoopDim,
    number: Polynomial,
    count: int,
    begins: bool,
) -> For:
    """Add ``count`` rows of a lane, from its row ``number`` on, in one pass over the columns.

    The pass that ``begins`` a lane starts from the combiner's identity instead of partial sums.
    """
    at = name("top") * name("w") + name("c")
    body: list[Stmt] = []
    for acc in plain(accs):
        start = acc.identity if begins else Element(f"stack{acc.suffix}", at)
        body.append(Let(f"lane_sum{acc.suffix}", start))
    row = name("base") + name("lane") + (number + name("i")) * name("spacing")
    replacements = {column.var: name("c0") + name("c"), loop.var: row}
    lets, results = reduction_point(nest, replacements)
    step: list[Stmt] = list(lets)
    for acc, result in zip(accs, results, strict=True):
        if acc.of_numbers:
            continue
        lane_sum = f"lane_sum{acc.suffix}"
        step.append(Let(lane_sum, acc.combine(Var(lane_sum), result), rebind=True))
    body.append(over("i", count, step))
    for acc in plain(accs):
        body.append(StoreElement(f"stack{acc.suffix}", at, Var(f"lane_sum{acc.suffix}")))
    return sweep(body)


def _push_row(accs: Sequence[Accumulator]) -> list[Stmt]:
    """Row ``top`` is partial sum number ``count``: merge neighbours of equal size."""
    c, w = name("c"), name("w")
    right, left = name("top") * w + c, (name("top") - 1) * w + c
    merge: list[Stmt] = []
    for acc in plain(accs):
        stack = f"stack{acc.suffix}"
        merged = acc.combine(Element(stack, left), Element(stack, right))
        merge.append(StoreElement(stack, left, merged))
    pairs = [s for _, acc in of_numbers(accs) for s in deviation_columns.merge_lanes(acc)]
    level: list[Stmt] = [
        *([sweep(merge)] if merge else []),
        *pairs,
        let("span", compute(">>", "span", 1), rebind=True),
        moved("top", -1),
        let("count", compute(">>", "count", 1), rebind=True),
    ]
    return [While([], equal(compute("&", "count", 1), 1), level), moved("top", 1)]
