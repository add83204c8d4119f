"""Nests with a reduction: along rows, down columns, or of everything.

A float sum must have the bits of `fusejit.ir.summation` whatever the layout. Two ways of writing it
have them:

- *along a row* (the reduction loop is innermost): 64 lanes in scratch take 64 neighbours at a time;
- *down columns* (a parallel loop is innermost): rows of a tile of columns are visited lane by lane,
  in bit-reversed order of the lanes, so that neighbours on a stack of partial rows merge exactly as
  the halving tree would merge them.

Block sums merge on a stack in both. Combiners whose order does not show (integers, max, min) take
plain accumulators. Sums over several dims were split before (`split_reduction`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fusejit.codegen.chunks import chunked, work_ns
from fusejit.codegen.nest import (
    LoopDim,
    Nest,
    PayloadWriter,
    Reference,
    order_loops,
    point_cost_ps,
    token,
    wrap,
    zero,
)
from fusejit.ir.graph import GenericOp
from fusejit.ir.loops import (
    Apply,
    Element,
    Expr,
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
from fusejit.ir.polynomial import Polynomial
from fusejit.ir.scalar_ops import COMBINERS, SCALAR_OPS
from fusejit.ir.summation import BLOCK, LANES


def _constant_level(half: int) -> str:
    """A level of the tree over all lanes: a constant count, so that it is straight vector code."""
    return (
        f"        for j in range({half}):\n"
        "            left = get(lanes, j)\n"
        f"            right = get(lanes, j + {half})\n"
        "            put(lanes, j, {merged})\n"
    )


_COMBINING_HELPERS: dict[str, str] = {
    "merge_lanes_{c}": f'''\
def merge_lanes_{{c}}(lanes, width):
    """Halving tree over the lanes."""
    if width == {LANES}:
{"".join(_constant_level(half) for half in (32, 16, 8, 4, 2, 1))}        return get(lanes, 0)
    while width > 1:
        width //= 2
        for j in range(width):
            left = get(lanes, j)
            right = get(lanes, j + width)
            put(lanes, j, {{merged}})
    return get(lanes, 0)
''',
    "push_{c}": '''\
def push_{c}(stack, top, count, right):
    """Put the total of block number `count` on the stack, merging neighbours of equal size."""
    while count & 1:
        top -= 1
        left = get(stack, top)
        right = {merged}
        count >>= 1
    put(stack, top, right)
    return top + 1
''',
    "finish_{c}": '''\
def finish_{c}(stack, top, identity):
    """Merge what is left on the stack, the smallest first."""
    if top == 0:
        return identity
    top -= 1
    right = get(stack, top)
    while top > 0:
        top -= 1
        left = get(stack, top)
        right = {merged}
    return right
''',
}

# What generated source calls; `emit` puts the functions a kernel uses in front of it.
SUM_HELPERS: dict[str, str] = {
    "lane_width": f'''\
def lane_width(n):
    """Lanes that n numbers fill, rounded up to a power of two."""
    width = 1
    while width < n and width < {LANES}:
        width *= 2
    return width
''',
    "clear_lanes": """\
def clear_lanes(lanes, width, zero):
    for j in range(width):
        put(lanes, j, zero)
""",
    **{
        name.format(c=combiner): text.format(c=combiner, merged=merged)
        for combiner, merged in (
            ("add", "left + right"),
            ("multiply", "left * right"),
            ("max", "maximum(left, right)"),
            ("min", "minimum(left, right)"),
        )
        for name, text in _COMBINING_HELPERS.items()
    },
    "reverse_bits": '''\
def reverse_bits(value, width):
    """The bits of value in reverse, in a number below the power of two `width`."""
    reverse = 0
    while width > 1:
        reverse = 2 * reverse + (value & 1)
        value >>= 1
        width //= 2
    return reverse
''',
    "clear_row": """\
def clear_row(stack, base, w, zero):
    for c in range(w):
        put(stack, base + c, zero)
""",
    "push_row": '''\
def push_row(stack, top, count, w):
    """Row `top` is partial sum number `count`: merge neighbours of equal size; new height."""
    while count & 1:
        for c in range(w):
            put(stack, (top - 1) * w + c, get(stack, (top - 1) * w + c) + get(stack, top * w + c))
        top -= 1
        count >>= 1
    return top + 1
''',
}
TILE_BYTES = 4096  # of the columns that are combined at once
SHORT_ROW = 16  # rows of fewer numbers are reduced down columns, many rows at once
LANE_LEVELS = 8  # partial rows on the stack of a block: log2(LANES) + 2
STACK = 64
_PLAIN_ROWS = 256  # rows of a block when the order of combining does not show
_SCRATCH_SCOPE = 28


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One init of the op: how partial results merge."""

    combiner: str
    dtype: np.dtype
    suffix: str
    start: Reference | None

    @property
    def is_ordered(self) -> bool:
        """Whether the order of merging shows in the bits."""
        return self.dtype.kind in COMBINERS[self.combiner].ordered

    @property
    def in_lanes(self) -> bool:
        """Whether rows are reduced in lanes: all floats (LLVM vectorises integers by itself)."""
        return self.dtype.kind == "f"

    @property
    def identity(self) -> Number:
        """The number to start from."""
        return Number(COMBINERS[self.combiner].identity(self.dtype), self.dtype)

    def combine(self, left: Expr, right: Expr) -> Expr:
        """``left combiner right``."""
        row = SCALAR_OPS[COMBINERS[self.combiner].scalar_op]
        template = row.template(self.dtype)
        assert template is not None
        return Apply(template, (left, right), token(self.dtype))


def accumulators(
    op: GenericOp, starts: Sequence[Reference | None], tag: str = ""
) -> list[Accumulator]:
    """One per init; ``tag`` keeps the names of nests that share a function apart."""
    many = len(op.inits) > 1
    return [
        Accumulator(
            init.combiner or "add", result.type.dtype, f"{tag}_{at}" if many else tag, starts[at]
        )
        for at, (init, result) in enumerate(zip(op.inits, op.results, strict=True))
    ]


def lower_reduction(nest: Nest, accs: Sequence[Accumulator]) -> list[Stmt]:
    """Loops for an op with reduction dims; only one if a float sum is among its inits."""
    order_loops(nest)
    reductions = [loop for loop in nest.loops if loop.is_reduction]
    parallel = [loop for loop in nest.loops if not loop.is_reduction]
    if parallel and not nest.loops[-1].is_reduction:
        return _down_columns(nest, accs, parallel, reductions)
    if parallel and len(reductions) == 1 and all(acc.in_lanes for acc in accs):
        is_short = Apply(f"{{0}} < {SHORT_ROW}", (Integer(reductions[0].extent),))
        return [
            If(
                is_short,
                _down_columns(nest, accs, parallel, reductions),
                _along_rows(nest, accs, parallel, reductions),
            )
        ]
    if parallel:
        return _along_rows(nest, accs, parallel, reductions)
    if len(reductions) == 1:
        return _of_everything(nest, accs, reductions[0])
    return _along_rows(nest, accs, [], reductions)


# ------------------------------------------------------------------------------------ pieces
def _point(nest: Nest, replacements: dict[str, Polynomial]) -> tuple[list[Let], list[Expr]]:
    """The payload with loop variables replaced by offsets inside blocks, lanes or tiles."""
    inputs = nest.inputs
    dims = dict(nest.index_dims)
    for var, value in replacements.items():
        inputs = [r.substitute(var, value) for r in inputs]
        dims = {d: p.substitute(var, value) for d, p in dims.items()}
    return PayloadWriter(nest, nest.prefix).write(inputs, [None] * len(nest.outputs), dims)


def _write(nest: Nest, accs: Sequence[Accumulator], values: Sequence[Expr]) -> list[Stmt]:
    """Store the totals, each combined with what its init starts from."""
    statements: list[Stmt] = []
    for acc, reference, value in zip(accs, nest.outputs, values, strict=True):
        total = value if acc.start is None else acc.combine(acc.start.load(), value)
        if reference.pointer is None:
            assert isinstance(reference.expr, Var)
            statements.append(Let(reference.expr.name, total))
        else:
            statements.append(StoreElement(reference.pointer, reference.offset, total))
    return statements


def _name(text: str) -> Polynomial:
    return Polynomial.name(text)


def _let(name: str, template: str, *operands: Expr, rebind: bool = False) -> Let:
    return Let(name, Apply(template, operands), rebind)


# --------------------------------------------------------------------------------- along a row
def _row_sums(nest: Nest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Statements that leave the total of one row in ``total<suffix>`` (written-out order)."""
    n = Integer(loop.extent)
    blocks: list[Stmt] = [
        Let("base", Integer(_name("k") * BLOCK)),
        _let("m", f"min({{0}} - base, {BLOCK})", n),
        Let("full", Apply(f"(m // {LANES})", ())),
        _let("width", "lane_width(m)"),
    ]
    for acc in accs:
        if acc.in_lanes:
            blocks.append(_let("_", f"clear_lanes(lanes{acc.suffix}, width, {{0}})", acc.identity))
    blocks.append(
        For(
            "g",
            zero(),
            Var("full"),
            [
                _lane_loop(
                    nest,
                    accs,
                    loop,
                    Integer(Polynomial.const(LANES)),
                    _name("base") + _name("g") * LANES,
                )
            ],
        )
    )
    blocks.append(
        _lane_loop(
            nest,
            accs,
            loop,
            Integer(_name("m") - _name("full") * LANES),
            _name("base") + _name("full") * LANES,
        )
    )
    for acc in accs:
        if acc.in_lanes:
            s = acc.suffix
            blocks.append(
                _let(
                    f"top{s}",
                    f"push_{acc.combiner}(stack{s}, top{s}, k, "
                    f"merge_lanes_{acc.combiner}(lanes{s}, width))",
                    rebind=True,
                )
            )
    statements: list[Stmt] = []
    for acc in accs:
        if acc.in_lanes:
            statements.append(_let(f"top{acc.suffix}", "0"))
        else:
            statements.append(Let(f"total{acc.suffix}", acc.identity))
    count = _name(f"(({loop.extent + (BLOCK - 1)}) // {BLOCK})")
    statements.append(For("k", zero(), Integer(count), blocks))
    for acc in accs:
        if acc.in_lanes:
            s = acc.suffix
            statements.append(
                _let(f"total{s}", f"finish_{acc.combiner}(stack{s}, top{s}, {{0}})", acc.identity)
            )
    return statements


def _lane_loop(
    nest: Nest, accs: Sequence[Accumulator], loop: LoopDim, count: Expr, start: Polynomial
) -> For:
    lets, results = _point(nest, {loop.var: start + _name("j")})
    body: list[Stmt] = list(lets)
    lane = _name("j")
    for acc, result in zip(accs, results, strict=True):
        if acc.in_lanes:
            lanes = f"lanes{acc.suffix}"
            body.append(StoreElement(lanes, lane, acc.combine(Element(lanes, lane), result)))
        else:
            total = f"total{acc.suffix}"
            body.append(Let(total, acc.combine(Var(total), result), rebind=True))
    return For("j", zero(), count, body)


def _lane_scratch(accs: Sequence[Accumulator]) -> list[Stmt]:
    statements: list[Stmt] = []
    for acc in accs:
        if acc.in_lanes:
            for name, size in (("lanes", LANES), ("stack", STACK)):
                statements.append(
                    Scratch(f"{name}{acc.suffix}", Integer(Polynomial.const(size)), acc.dtype, True)
                )
    return statements


def _plain_totals(
    nest: Nest, accs: Sequence[Accumulator], reductions: Sequence[LoopDim]
) -> list[Stmt]:
    lets, results = _point(nest, {})
    body: list[Stmt] = list(lets)
    for acc, result in zip(accs, results, strict=True):
        total = f"total{acc.suffix}"
        body.append(Let(total, acc.combine(Var(total), result), rebind=True))
    starts: list[Stmt] = [Let(f"total{acc.suffix}", acc.identity) for acc in accs]
    return [*starts, *wrap(reductions, body)]


def _along_rows(
    nest: Nest,
    accs: Sequence[Accumulator],
    parallel: Sequence[LoopDim],
    reductions: Sequence[LoopDim],
) -> list[Stmt]:
    totals = [Var(f"total{acc.suffix}") for acc in accs]
    laned = len(reductions) == 1 and any(acc.in_lanes for acc in accs)
    if laned:
        (loop,) = reductions
        inner = [*_row_sums(nest, accs, loop), *_write(nest, accs, totals)]
    else:
        inner = [*_plain_totals(nest, accs, reductions), *_write(nest, accs, totals)]
    scratch = _lane_scratch(accs) if laned else []
    if not parallel:
        return [*scratch, *inner]
    statements = [*scratch, *wrap(parallel, inner)]
    work = work_ns(nest, point_cost_ps(nest))
    return [chunked(parallel[0], statements, work, nest.op.name)]


# ---------------------------------------------------------------------------------- everything
def _of_everything(nest: Nest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """A full reduction: block totals in parallel, then their merging."""
    block = BLOCK if any(a.in_lanes for a in accs) else 4 * BLOCK
    count = Integer(_name(f"(({loop.extent + (block - 1)}) // {block})"))
    lets: list[Stmt] = [
        Let("blocks", count),
    ]
    for acc in accs:
        lets.append(Scratch(f"part{acc.suffix}", Var("blocks"), acc.dtype, False))
    inner: list[Stmt] = [
        Let("base", Integer(_name("b") * block)),
        _let("m", f"min({{0}} - base, {block})", Integer(loop.extent)),
    ]
    if any(a.in_lanes for a in accs):
        inner += [
            Let("full", Apply(f"(m // {LANES})", ())),
            _let("width", "lane_width(m)"),
        ]
    for acc in accs:
        if acc.in_lanes:
            inner.append(_let("_", f"clear_lanes(lanes{acc.suffix}, width, {{0}})", acc.identity))
        else:
            inner.append(Let(f"total{acc.suffix}", acc.identity))
    if any(a.in_lanes for a in accs):
        inner.append(
            For(
                "g",
                zero(),
                Var("full"),
                [
                    _lane_loop(
                        nest,
                        accs,
                        loop,
                        Integer(Polynomial.const(LANES)),
                        _name("base") + _name("g") * LANES,
                    )
                ],
            )
        )
        inner.append(
            _lane_loop(
                nest,
                accs,
                loop,
                Integer(_name("m") - _name("full") * LANES),
                _name("base") + _name("full") * LANES,
            )
        )
    else:
        inner.append(_lane_loop(nest, accs, loop, Var("m"), _name("base")))
    for acc in accs:
        value: Expr = (
            Apply(f"merge_lanes_{acc.combiner}(lanes{acc.suffix}, width)", ())
            if acc.in_lanes
            else Var(f"total{acc.suffix}")
        )
        inner.append(StoreElement(f"part{acc.suffix}", _name("b"), value))
    lanes = [s for s in _lane_scratch(accs) if isinstance(s, Scratch) and "lanes" in s.name]
    body: list[Stmt] = [*lanes, For("b", Var("lo"), Var("hi"), inner)]
    work = work_ns(nest, point_cost_ps(nest))
    statements: list[Stmt] = [*lets, ParallelFor(Var("blocks"), work, body, nest.op.name)]
    stacks = [s for s in _lane_scratch(accs) if isinstance(s, Scratch) and "stack" in s.name]
    statements += stacks
    for acc in accs:
        s = acc.suffix
        part = Element(f"part{s}", _name("k"))
        if acc.in_lanes:
            statements += [
                _let(f"top{s}", "0"),
                For(
                    "k",
                    zero(),
                    Var("blocks"),
                    [
                        _let(
                            f"top{s}",
                            f"push_{acc.combiner}(stack{s}, top{s}, k, {{0}})",
                            part,
                            rebind=True,
                        )
                    ],
                ),
                _let(f"total{s}", f"finish_{acc.combiner}(stack{s}, top{s}, {{0}})", acc.identity),
            ]
        else:
            statements += [
                Let(f"total{s}", acc.identity),
                For(
                    "k",
                    zero(),
                    Var("blocks"),
                    [Let(f"total{s}", acc.combine(Var(f"total{s}"), part), rebind=True)],
                ),
            ]
        statements.append(Free(f"part{s}"))
    return [*statements, *_write(nest, accs, [Var(f"total{a.suffix}") for a in accs])]


# ------------------------------------------------------------------------------- down columns
def _down_columns(
    nest: Nest,
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
    work = Body()
    tile, blocks, tiles = _name("tile"), _name("blocks"), _name("tiles")
    tile_columns = TILE_BYTES // max(acc.dtype.itemsize for acc in accs)
    work.let("tiles", Integer(_ceil_div(column.extent, tile_columns)))
    work.apply("blocks", "max({0}, 1)", Integer(_ceil_div(rows.extent, block)))
    outer = around[0] if around else None
    for acc in accs:
        size = blocks * column.extent
        work.add(Scratch(f"part{acc.suffix}", Integer(size), acc.dtype, False, _scope(accs, acc)))
    inner = Body()
    inner.let("tile", Apply("(item % tiles)", ()))
    inner.let("k", Apply("(item // tiles)", ()))
    inner.let("c0", Integer(tile * tile_columns))
    inner.apply("w", f"min({{0}} - c0, {tile_columns})", Integer(column.extent))
    inner.let("base", Integer(_name("k") * block))
    inner.apply("m", f"min({{0}} - base, {block})", Integer(rows.extent))
    if ordered:
        inner.extend(_column_sums(nest, accs, rows, column))
    else:
        for acc in accs:
            inner.apply("_", f"clear_row(stack{acc.suffix}, 0, w, {{0}})", acc.identity)
        row = {rows.var: _name("base") + _name("r")}
        loop = LoopDim("r", _name("m"), True)
        nothing = Polynomial.const(0)
        inner.extend(wrap([loop, *inner_reductions], [_row_loop(nest, accs, column, row, nothing)]))
    totals = [Element(f"stack{acc.suffix}", _name("c")) for acc in accs]
    partial: list[Stmt] = [
        StoreElement(f"part{a.suffix}", _name("k") * column.extent + _name("c0") + _name("c"), t)
        for a, t in zip(accs, totals, strict=True)
    ]
    inner.add(
        If(
            Apply("blocks == 1", ()),
            [_write_columns(nest, accs, column, totals, _name("c0") + _name("c"), Var("w"))],
            [For("c", zero(), Var("w"), partial)],
        )
    )
    stack_rows = LANE_LEVELS if ordered else 1
    scratch: list[Stmt] = [
        Scratch(
            f"stack{a.suffix}",
            Integer(Polynomial.const(stack_rows * tile_columns)),
            a.dtype,
            False,
            _scope(accs, a, 2),
        )
        for a in accs
    ]
    frees: list[Stmt] = [Free(f"stack{a.suffix}") for a in accs]
    cost = work_ns(nest, point_cost_ps(nest))
    merge: list[Stmt] = []
    for acc in accs:
        merge += _merge_blocks(acc, column)
    rows_out = [Element(f"part{acc.suffix}", _name("c")) for acc in accs]
    merge.append(_write_columns(nest, accs, column, rows_out, _name("c"), Integer(column.extent)))
    finish = If(Apply("blocks > 1", ()), merge)
    part_frees: list[Stmt] = [Free(f"part{a.suffix}") for a in accs]
    if outer is None:
        items = ParallelFor(
            Integer(blocks * tiles),
            cost,
            [*scratch, For("item", Var("lo"), Var("hi"), inner.statements), *frees],
            nest.op.name,
        )
        return [*work.statements, items, finish, *part_frees]
    all_items = For("item", zero(), Integer(blocks * tiles), inner.statements)
    loops = wrap(around, [all_items, finish])
    body = [*work.statements, *scratch, *loops, *frees, *part_frees]
    return [chunked(outer, body, cost, nest.op.name)]


class Body:
    """Statements being written down one after the other."""

    def __init__(self) -> None:
        self.statements: list[Stmt] = []

    def add(self, statement: Stmt) -> None:
        """Append a statement."""
        self.statements.append(statement)

    def extend(self, statements: Sequence[Stmt]) -> None:
        """Append statements."""
        self.statements.extend(statements)

    def let(self, name: str, value: Expr) -> None:
        """``name = value``."""
        self.statements.append(Let(name, value))

    def apply(self, name: str, template: str, *operands: Expr) -> None:
        """``name = template(operands)``."""
        self.statements.append(Let(name, Apply(template, operands)))


def _scope(accs: Sequence[Accumulator], acc: Accumulator, base: int = 0) -> int:
    """Alias scopes of the scratch of reductions; 0 (no promise) when there are too many."""
    at = list(accs).index(acc)
    return _SCRATCH_SCOPE + base + at if at < 2 else 0


def _ceil_div(extent: Polynomial, size: int) -> Polynomial:
    return _name(f"(({extent + (size - 1)}) // {size})")


def _write_columns(
    nest: Nest,
    accs: Sequence[Accumulator],
    column: LoopDim,
    totals: Sequence[Expr],
    at: Polynomial,
    count: Expr,
) -> For:
    """Store the totals of ``count`` columns, the loop's column being ``at``."""
    placed = [r.substitute(column.var, at) for r in nest.outputs]
    starts = [None if a.start is None else a.start.substitute(column.var, at) for a in accs]
    moved = [replace(a, start=s) for a, s in zip(accs, starts, strict=True)]
    return For("c", zero(), count, _write(replace(nest, outputs=placed), moved, totals))


def _merge_blocks(acc: Accumulator, column: LoopDim) -> list[Stmt]:
    """Merge the rows of the blocks into the first one, neighbours in pairs."""
    part = f"part{acc.suffix}"
    n, b, c = column.extent, _name("b"), _name("c")
    left, right = Element(part, 2 * b * n + c), Element(part, (2 * b + 1) * n + c)
    last = Element(part, (_name("left") - 1) * n + c)
    pair = For("c", zero(), Integer(n), [StoreElement(part, b * n + c, acc.combine(left, right))])
    odd = For("c", zero(), Integer(n), [StoreElement(part, _name("half") * n + c, last)])
    level: list[Stmt] = [
        _let("half", "(left // 2)"),
        For("b", zero(), Var("half"), [pair]),
        If(Apply("left % 2 == 1", ()), [odd]),
        _let("left", "half + left % 2", rebind=True),
    ]
    return [_let("left", "blocks"), While([], Apply("(left > 1)", ()), level)]


def _row_loop(
    nest: Nest,
    accs: Sequence[Accumulator],
    column: LoopDim,
    replacements: dict[str, Polynomial],
    row: Polynomial,
    *,
    is_first: bool = False,
) -> For:
    """Combine one row of the tile into the accumulator row that starts at ``row``."""
    lets, results = _point(nest, {column.var: _name("c0") + _name("c"), **replacements})
    body: list[Stmt] = list(lets)
    at = row + _name("c")
    for acc, result in zip(accs, results, strict=True):
        stack = f"stack{acc.suffix}"
        left = acc.identity if is_first else Element(stack, at)
        body.append(StoreElement(stack, at, acc.combine(left, result)))
    return For("c", zero(), Var("w"), body)


def _column_sums(
    nest: Nest, accs: Sequence[Accumulator], loop: LoopDim, column: LoopDim
) -> list[Stmt]:
    """Statements that leave a block's totals of a tile of columns in row 0 of the stacks."""
    row = {loop.var: _name("row")}
    top = _name("top") * _name("w")
    first = Body()
    first.let("row", Apply("(base + lane)", ()))
    first.add(_row_loop(nest, accs, column, row, top, is_first=True))
    more = Body()
    more.let("row", Apply(f"(base + lane + g * {LANES})", ()))
    more.add(_row_loop(nest, accs, column, row, top))
    first.add(
        For(
            "g",
            Integer(Polynomial.const(1)),
            Apply(f"((m - lane + {LANES - 1}) // {LANES})", ()),
            more.statements,
        )
    )
    # A lane without rows is the right one of its pair: the left one alone is the pair's sum.
    empty = Body()
    lanes = Body()
    lanes.let("lane", Apply("reverse_bits(v, width)", ()))
    for acc in accs:
        assert acc.combiner == "add", "rows of sums merge only with sums"
        first.let("height", Apply(f"push_row(stack{acc.suffix}, top, v, w)", ()))
        empty.let("height", Apply(f"push_row(stack{acc.suffix}, top - 1, v >> 1, w)", ()))
    lanes.add(If(Apply("lane < m", ()), first.statements, empty.statements))
    lanes.add(_let("top", "height", rebind=True))
    return [
        _let("width", "lane_width(m)"),
        _let("top", "0"),
        If(
            Apply("m > 0", ()),
            [For("v", zero(), Var("width"), lanes.statements)],
            [_let("_", f"clear_row(stack{acc.suffix}, 0, w, {{0}})", acc.identity) for acc in accs],
        ),
    ]
