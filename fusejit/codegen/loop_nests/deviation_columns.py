"""Squared deviations down columns, and along rows too short for lanes: one mean for each column."""

from __future__ import annotations

from fusejit.codegen.loop_nests.accumulators import (
    Accumulator,
    filled,
    merged_blocks,
    reduction_point,
    sweep,
)
from fusejit.codegen.loop_nests.deviations import (
    LANE_ROWS,
    distance_of,
    lane_at,
    merge,
    share_of,
    sum_of,
    weights,
    with_square,
)
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, over
from fusejit.ir.interpreter.summation import BLOCK
from fusejit.ir.loops.index_math import ceildiv, compute, equal, floordiv, let, minimum, name, sub
from fusejit.ir.loops.nodes import Element, Expr, If, Stmt, StoreElement, Var
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import convert, scalar


def lane_of_columns(
    nest: LoopNest, acc: Accumulator, at: int, loop: LoopDim, column: LoopDim
) -> list[Stmt]:
    """Statements that leave the pairs of a lane's ``rows`` rows in row ``top``."""
    s, dtype = acc.suffix, acc.dtype
    means, squares = f"stack{s}", f"squares{s}"
    place = name("top") * name("w") + name("c")
    row = name("base") + name("lane") + name("i") * name("spacing")
    lets, results = reduction_point(nest, {column.var: name("c0") + name("c"), loop.var: row})
    number = scalar("subtract", results[at], Element(f"pivot{s}", name("c")), dtype=dtype)
    share = share_of(acc, "rows")
    pair = ((means, f"mean{s}"), (squares, f"square{s}"))
    stores = (StoreElement(pointer, place, Var(value)) for pointer, value in pair)
    full = sweep([*lane_at(acc, lets, number), *stores])
    here, there = Element(means, place), Element(squares, place)
    divided = scalar("divide", here, convert(Var("rows"), dtype), dtype=dtype)
    shared = scalar("multiply", here, Var(f"share{s}"), dtype=dtype)
    begin = [StoreElement(p, place, acc.identity) for p in (means, squares)]
    grown: list[Stmt] = [*lets, StoreElement(means, place, sum_of(acc, here, number))]
    squared = StoreElement(squares, place, with_square(acc, there))
    about: list[Stmt] = [*lets, distance_of(acc, number, here), squared]
    mean_of_one, mean = (sweep([StoreElement(means, place, m)]) for m in (divided, shared))
    few: list[Stmt] = [
        sweep(begin),
        over("i", "rows", [sweep(grown)]),
        If(equal("spacing", 1), [mean_of_one], [mean]),
        over("i", "rows", [sweep(about)]),
    ]
    return [share, If(equal("rows", LANE_ROWS), [full], few)]


def merge_lanes(acc: Accumulator) -> list[Stmt]:
    """Merge row ``top`` of lane ``lane`` into the one below: lanes that differ by ``span / 2``."""
    s = acc.suffix
    places = f"stack{s}", f"squares{s}"
    c, w = name("c"), name("w")
    right, left = name("top") * w + c, (name("top") - 1) * w + c
    last = name("m") - name(f"first{s}") + name("span") - 1
    return [
        let(f"first{s}", compute("&", "lane", sub(floordiv("span", 2), 1))),
        let(f"lower{s}", ceildiv(name("m") - name(f"first{s}"), name("span"))),
        let(f"upper{s}", floordiv(sub(last, floordiv("span", 2)), "span")),
        *weights(acc, name(f"lower{s}"), name(f"upper{s}")),
        sweep(merge(acc, places, left, right)),
    ]


def merge_blocks(acc: Accumulator, rows: LoopDim, column: LoopDim) -> list[Stmt]:
    """Merge the rows of the blocks into the first one, neighbours in pairs."""
    s, n = acc.suffix, column.extent
    places = f"part{s}", f"squared{s}"
    b, c = name("b"), name("c")
    left, right = 2 * b * n + c, (2 * b + 1) * n + c
    pair = [
        let(f"upper{s}", minimum("each", rows.extent - (2 * b + 1) * name("each"))),
        *weights(acc, name("each"), name(f"upper{s}")),
        over("c", n, merge(acc, places, left, right, b * n + c)),
    ]
    doubled = let("each", name("each") * 2, rebind=True)
    begin = [let("left", "blocks"), let("each", BLOCK)]
    return [*begin, *merged_blocks(column, places, pair, [doubled])]


# ------------------------------------------------------------------------------------- short rows
def less_the_first(acc: Accumulator, length: Expr) -> list[Stmt]:
    """Take every number of a tile of rows less its row's first one, which is the last to change."""
    s = acc.suffix
    c = name("c")
    place = (name("last") - name("r")) * name("w") + c
    number, first, far = Element(f"stack{s}", place), Element(f"stack{s}", c), Var(f"far{s}")
    less: list[Stmt] = [
        distance_of(acc, number, first),
        StoreElement(f"stack{s}", place, far),
        StoreElement(f"squares{s}", place, scalar("subtract", far, far, dtype=acc.dtype)),
    ]
    return [let("last", sub(length, 1)), over("r", length, [sweep(less)])]


def in_turn(acc: Accumulator, length: Expr) -> list[Stmt]:
    """The squares of rows of a handful of numbers about their means, number by number."""
    s, dtype = acc.suffix, acc.dtype
    c = name("c")
    mean, squares = Element(f"about{s}", c), Element(f"squares{s}", c)
    number = Element(f"stack{s}", name("j") * name("w") + c)
    quotient = scalar("divide", mean, convert(length, dtype), dtype=dtype)
    added = StoreElement(f"about{s}", c, sum_of(acc, mean, number))
    divided = StoreElement(f"about{s}", c, quotient)
    squared = StoreElement(f"squares{s}", c, with_square(acc, squares))
    return [
        filled(f"about{s}", "w", acc.identity),
        over("j", length, [sweep([added])]),
        sweep([divided]),
        over("j", length, [sweep([distance_of(acc, number, mean), squared])]),
    ]


def merge_short(acc: Accumulator, length: Polynomial) -> list[Stmt]:
    """Number ``j`` of each row takes number ``j + half``; there is one number per lane."""
    s = acc.suffix
    places = f"stack{s}", f"squares{s}"
    lower = name("j") * name("w") + name("c")
    upper = (name("j") + name("half")) * name("w") + name("c")
    return [
        let(f"lower{s}", ceildiv(length - name("j"), name("width"))),
        let(f"upper{s}", ceildiv(length - name("j") - name("half"), name("width"))),
        *weights(acc, name(f"lower{s}"), name(f"upper{s}")),
        sweep(merge(acc, places, lower, upper)),
    ]
