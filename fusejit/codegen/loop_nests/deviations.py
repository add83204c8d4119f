"""Squared deviations from the mean, in one pass: what ``var`` and ``std`` reduce.

The order is that of `fusejit.ir.interpreter.summation.ordered_deviations`. A partial result is a
pair, the mean of some numbers (less the first number of all, unless they are fewer than FEWEST) and
their squares about it; how many they are follows from where they stand. Pairs merge as

    distance = mean1 - mean0
    mean     = mean0 + distance * (n1 / (n0 + n1))
    squares  = squares0 + (squares1 + distance * distance * (n0 * n1 / (n0 + n1)))

Names: ``means`` and ``squares`` are rows of partial results, ``pivot`` is the first number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.codegen.loop_nests.accumulators import Accumulator, filled, reduction_point, sweep
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, over
from fusejit.ir.interpreter.summation import BLOCK, FEWEST, LANES
from fusejit.ir.loops.index_math import (
    Index,
    compute,
    equal,
    floordiv,
    int_of,
    less,
    let,
    maximum,
    moved,
    name,
    operand,
    sub,
)
from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Element,
    Expr,
    For,
    If,
    Integer,
    Let,
    Number,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import convert, scalar, select

STACK = 64  # levels of block totals: more than any array has
_F64 = np.dtype(np.float64)
LANE_ROWS = BLOCK // LANES


def scratch_of_rows(acc: Accumulator) -> list[Stmt]:
    """What a block of one row needs: its numbers, and a pair per lane."""
    sizes = {"numbers": BLOCK, "means": LANES, "squares": LANES}
    return [Scratch(f"{n}{acc.suffix}", operand(k), acc.dtype, True) for n, k in sizes.items()]


def scratch_of_stack(acc: Accumulator) -> list[Stmt]:
    """Pairs of blocks that wait for their neighbours."""
    return [Scratch(name, operand(STACK), acc.dtype, True) for name in _stack(acc)]


# -------------------------------------------------------------------------------------- one block
def block_of_row(
    nest: LoopNest, acc: Accumulator, at: int, loop: LoopDim, base: Polynomial, m: Expr
) -> list[Stmt]:
    """Statements that leave the pair of ``m`` numbers from ``base`` on in lane 0."""
    s, dtype = acc.suffix, acc.dtype
    means, squares, numbers = f"means{s}", f"squares{s}", f"numbers{s}"
    lets, results = reduction_point(nest, {loop.var: Polynomial.const(0)})
    full, j, g = f"full{s}", name("j"), name("g")

    def in_lanes(count: Expr, group: Polynomial) -> For:
        at_group = group * LANES + j
        point, values = reduction_point(nest, {loop.var: base + at_group})
        number = Var(f"number{s}")
        body: list[Stmt] = [
            *point,
            Let(number.name, scalar("subtract", values[at], Var(f"pivot{s}"), dtype=dtype)),
            StoreElement(numbers, at_group, number),
            StoreElement(means, j, sum_of(acc, Element(means, j), number)),
        ]
        return over("j", count, body)

    def about_means(count: Expr, group: Polynomial) -> For:
        number, mean = Element(numbers, group * LANES + j), Element(means, j)
        grown = StoreElement(squares, j, with_square(acc, Element(squares, j)))
        return over("j", count, [distance_of(acc, number, mean), grown])

    def divided(start: Polynomial, count: Expr, numbers_each: Index) -> list[Stmt]:
        mean = scalar("multiply", Element(means, start + j), Var(f"share{s}"), dtype=dtype)
        store = StoreElement(means, start + j, mean)
        return [share_of(acc, numbers_each), over("j", count, [store])]

    def halved(lower: Polynomial, count: Expr, left: Polynomial, right: Polynomial) -> list[Stmt]:
        """Lane ``j`` takes lane ``j + half``, from lane ``lower`` on."""
        pair = merge(acc, (means, squares), lower + j, lower + j + name("half"))
        return [*weights(acc, left, right), over("j", count, pair)]

    each, more, split = name("each"), name("more"), name("split")
    first = halved(Polynomial.const(0), Var("split"), each + 1, each + more)
    others = halved(split, Integer(name("half") - split), each + more, each)
    halving: list[Stmt] = [
        let("half", floordiv("width", 2)),
        let("each", floordiv(m, "width")),
        let("odd", sub(m, each * name("width"))),
        let("more", int_of(compute(">", "odd", "half"))),
        let("split", name("odd") - name("half") * more),
        If(compute(">", "split", 0), first),
        If(compute(">", "each", 0), others),
        let("width", "half", rebind=True),
    ]
    rest = f"rest{s}"
    partly: list[Stmt] = [
        filled(means, LANES, acc.identity),
        filled(squares, LANES, acc.identity),
        let(full, floordiv(m, LANES)),
        let(rest, sub(m, name(full) * LANES)),
        over("g", full, [in_lanes(operand(LANES), g)]),
        in_lanes(Var(rest), name(full)),
        *divided(Polynomial.const(0), Var(rest), name(full) + 1),
        *divided(name(rest), Integer(LANES - name(rest)), maximum(full, 1)),
        over("g", full, [about_means(operand(LANES), g)]),
        about_means(Var(rest), name(full)),
    ]
    return [
        *lets,
        Let(f"pivot{s}", _unless_few(acc, results[at], loop)),
        If(
            equal(m, BLOCK),
            [_whole_block(nest, acc, at, loop, base)],
            [If(less(m, FEWEST), _sequential(nest, acc, at, loop, base, m), partly)],
        ),
        let("width", Call("lane_width", (m,))),
        While([], compute(">", "width", 1), halving),
    ]


def _whole_block(nest: LoopNest, acc: Accumulator, at: int, loop: LoopDim, base: Polynomial) -> For:
    """The lanes of a block of BLOCK numbers, lane by lane: the numbers of one stay in registers."""
    s = acc.suffix
    j = name("j")
    lets, results = reduction_point(nest, {loop.var: base + name("i") * LANES + j})
    number = scalar("subtract", results[at], Var(f"pivot{s}"), dtype=acc.dtype)
    mean = StoreElement(f"means{s}", j, Var(f"mean{s}"))
    square = StoreElement(f"squares{s}", j, Var(f"square{s}"))
    return over("j", LANES, [*lane_at(acc, lets, number), mean, square])


def _sequential(
    nest: LoopNest, acc: Accumulator, at: int, loop: LoopDim, base: Polynomial, m: Expr
) -> list[Stmt]:
    """The pair of a block of one lane."""
    s, dtype = acc.suffix, acc.dtype
    mean, square, first = f"mean{s}", f"square{s}", Polynomial.const(0)
    lets, results = reduction_point(nest, {loop.var: base + name("i")})
    kept = Element(f"numbers{s}", name("i"))
    number = scalar("subtract", results[at], Var(f"pivot{s}"), dtype=dtype)
    added = Let(mean, sum_of(acc, Var(mean), kept), rebind=True)
    squared = Let(square, with_square(acc, Var(square)), rebind=True)
    return [
        Let(mean, acc.identity),
        over("i", m, [*lets, StoreElement(kept.pointer, kept.offset, number), added]),
        Let(mean, scalar("divide", Var(mean), convert(m, dtype), dtype=dtype), rebind=True),
        Let(square, acc.identity),
        over("i", m, [distance_of(acc, kept, Var(mean)), squared]),
        StoreElement(f"means{s}", first, Var(mean)),
        StoreElement(f"squares{s}", first, Var(square)),
    ]


def _unless_few(acc: Accumulator, first: Expr, loop: LoopDim) -> Expr:
    """What numbers are taken less: the ``first`` of them, or 0."""
    return select(less(loop.extent, FEWEST), acc.identity, first, acc.dtype)


# ---------------------------------------------------------------------------------------- floats
def sum_of(acc: Accumulator, left: Expr, right: Expr) -> Apply:
    return scalar("add", left, right, dtype=acc.dtype)


def distance_of(acc: Accumulator, number: Expr, mean: Expr) -> Let:
    """How ``far`` a number is from the mean."""
    return Let(f"far{acc.suffix}", scalar("subtract", number, mean, dtype=acc.dtype))


def with_square(acc: Accumulator, squares: Expr) -> Apply:
    """Squares and that of what is ``far``."""
    return sum_of(acc, squares, scalar("square", Var(f"far{acc.suffix}"), dtype=acc.dtype))


def share_of(acc: Accumulator, numbers: Index) -> Let:
    """What the sum of so many numbers is multiplied by for their mean."""
    one, count = Number(1.0, acc.dtype), convert(operand(numbers), acc.dtype)
    return Let(f"share{acc.suffix}", scalar("divide", one, count, dtype=acc.dtype))


def lane_at(acc: Accumulator, lets: Sequence[Stmt], number: Expr) -> list[Stmt]:
    """Mean and squares of a whole lane, number ``i`` of it being ``number``."""
    s = acc.suffix
    total, mean, square = f"sum{s}", f"mean{s}", f"square{s}"
    grown = Let(total, sum_of(acc, Var(total), number), rebind=True)
    squared = Let(square, with_square(acc, Var(square)), rebind=True)
    share = Number(1.0 / LANE_ROWS, acc.dtype)
    return [
        Let(total, acc.identity),
        over("i", LANE_ROWS, [*lets, grown]),
        Let(mean, scalar("multiply", Var(total), share, dtype=acc.dtype)),
        Let(square, acc.identity),
        over("i", LANE_ROWS, [*lets, distance_of(acc, number, Var(mean)), squared]),
    ]


# ----------------------------------------------------------------------------------------- merging
def weights(acc: Accumulator, left: Polynomial, right: Polynomial) -> list[Stmt]:
    """The factors of a merge of ``left`` numbers with ``right`` numbers.

    Equal numbers need no division; the factors have the same bits.
    """
    share, weight = f"share{acc.suffix}", f"weight{acc.suffix}"
    lefts, rights, both = (convert(Integer(n), _F64) for n in (left, right, left + right))
    half = scalar("multiply", lefts, Number(0.5, _F64), dtype=_F64)
    product = scalar("multiply", lefts, rights, dtype=_F64)
    part = scalar("divide", rights, both, dtype=_F64)
    parts = scalar("divide", product, both, dtype=_F64)
    alike = [Let(share, Number(0.5, acc.dtype)), Let(weight, convert(half, acc.dtype))]
    others = [Let(share, convert(part, acc.dtype)), Let(weight, convert(parts, acc.dtype))]
    return [If(equal(left, right), alike, others)]


def merge(
    acc: Accumulator,
    places: tuple[str, str],
    left: Polynomial,
    right: Polynomial,
    target: Polynomial | None = None,
) -> list[Stmt]:
    """Merge the pair at ``right`` of ``places`` into the one at ``left``."""
    target = left if target is None else target
    s = acc.suffix
    mean, more = Element(places[0], left), Element(places[0], right)
    squares, others_squares = Element(places[1], left), Element(places[1], right)
    far, old = Var(f"far{s}"), Var(f"mean{s}")
    shift = scalar("multiply", far, Var(f"share{s}"), dtype=acc.dtype)
    square = scalar("square", far, dtype=acc.dtype)
    between = scalar("multiply", square, Var(f"weight{s}"), dtype=acc.dtype)
    grown = sum_of(acc, squares, sum_of(acc, others_squares, between))
    return [
        Let(old.name, mean),
        distance_of(acc, more, old),
        Let(f"grown{s}", grown),
        StoreElement(places[0], target, sum_of(acc, old, shift)),
        StoreElement(places[1], target, Var(f"grown{s}")),
    ]


def push(acc: Accumulator, mean: Expr, squares: Expr, count: Expr) -> list[Stmt]:
    """Put the pair of block ``k``, of ``count`` numbers, on the stack; neighbours merge."""
    s = acc.suffix
    places, top = _stack(acc), name(f"top{s}")
    level: list[Stmt] = [
        *_merge_top(acc),
        let(f"lower{s}", name(f"lower{s}") * 2, rebind=True),
        let(f"pending{s}", compute(">>", f"pending{s}", 1), rebind=True),
    ]
    return [
        StoreElement(places[0], top, mean),
        StoreElement(places[1], top, squares),
        moved(f"top{s}", 1),
        let(f"pending{s}", "k"),
        let(f"upper{s}", count),
        let(f"lower{s}", BLOCK),
        While([], equal(compute("&", f"pending{s}", 1), 1), level),
    ]


def _merge_top(acc: Accumulator) -> list[Stmt]:
    """Merge the two topmost pairs, of ``left`` and ``right`` numbers."""
    s = acc.suffix
    places, top = _stack(acc), name(f"top{s}")
    return [
        *weights(acc, name(f"lower{s}"), name(f"upper{s}")),
        *merge(acc, places, top - 2, top - 1),
        moved(f"top{s}", -1),
        moved(f"upper{s}", name(f"lower{s}")),
    ]


def finish(acc: Accumulator, blocks: Expr, numbers: Expr) -> list[Stmt]:
    """Merge what is left on the stack, the smallest first; the squares go to ``total``.

    ``blocks`` blocks of ``numbers`` numbers in all were pushed: the topmost pair has as many blocks
    as the lowest bit of that number says, the next one as many as the next bit, and so on.
    """
    s = acc.suffix
    rest, bit, bottom = f"pending{s}", f"bit{s}", Element(f"stackq{s}", Polynomial.const(0))
    lowest = compute("&", rest, compute("neg", rest))
    level: list[Stmt] = [
        let(bit, lowest, rebind=True),
        let(f"lower{s}", name(bit) * BLOCK),
        *_merge_top(acc),
        moved(rest, -name(bit)),
    ]
    return [
        Let(f"total{s}", acc.identity),
        let(rest, blocks),
        let(bit, lowest),
        let(f"upper{s}", sub(numbers, (name(rest) - name(bit)) * BLOCK)),
        moved(rest, -name(bit)),
        While([], compute(">", rest, 0), level),
        If(compute(">", f"top{s}", 0), [Let(f"total{s}", bottom, rebind=True)]),
    ]


def _stack(acc: Accumulator) -> tuple[str, str]:
    return f"stackm{acc.suffix}", f"stackq{acc.suffix}"


# ---------------------------------------------------------------------------------------- columns
def pivots(nest: LoopNest, acc: Accumulator, at: int, loop: LoopDim, column: LoopDim) -> For:
    """The first row of a tile of columns, which all rows are taken less."""
    first = {column.var: name("c0") + name("c"), loop.var: Polynomial.const(0)}
    lets, results = reduction_point(nest, first)
    store = StoreElement(f"pivot{acc.suffix}", name("c"), _unless_few(acc, results[at], loop))
    return sweep([*lets, store])
