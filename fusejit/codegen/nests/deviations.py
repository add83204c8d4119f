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

from fusejit.codegen.nests.accumulators import Accumulator, let, name, reduction_point
from fusejit.codegen.nests.nest import LoopDim, Nest, token, zero
from fusejit.ir.interpreter.summation import BLOCK, FEWEST, LANES
from fusejit.ir.loops import (
    Apply,
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
from fusejit.ir.polynomial import Polynomial

STACK = 64
_LANE_ROWS = BLOCK // LANES


def scratch_of_rows(acc: Accumulator) -> list[Stmt]:
    """What a block of one row needs: its numbers, and a pair per lane."""
    s = acc.suffix
    return [
        Scratch(f"numbers{s}", _const(BLOCK), acc.dtype, True),
        Scratch(f"means{s}", _const(LANES), acc.dtype, True),
        Scratch(f"squares{s}", _const(LANES), acc.dtype, True),
    ]


def scratch_of_stack(acc: Accumulator) -> list[Stmt]:
    """Pairs of blocks that wait for their neighbours."""
    s = acc.suffix
    return [
        Scratch(f"stackm{s}", _const(STACK), acc.dtype, True),
        Scratch(f"stackq{s}", _const(STACK), acc.dtype, True),
    ]


# -------------------------------------------------------------------------------------- one block
def block_of_row(
    nest: Nest, acc: Accumulator, at: int, loop: LoopDim, base: Polynomial, m: Expr
) -> list[Stmt]:
    """Statements that leave the pair of ``m`` numbers from ``base`` on in lane 0."""
    s, T = acc.suffix, token(acc.dtype)
    means, squares, numbers = f"means{s}", f"squares{s}", f"numbers{s}"
    lets, results = reduction_point(nest, {loop.var: Polynomial.const(0)})
    full, j, g = f"full{s}", name("j"), name("g")
    one = Number(1.0, acc.dtype)

    def in_lanes(count: Expr, group: Polynomial) -> For:
        at_group = group * LANES + j
        point, values = reduction_point(nest, {loop.var: base + at_group})
        number = f"number{s}"
        return For(
            "j",
            zero(),
            count,
            [
                *point,
                Let(number, Apply("({0} - {1})", (values[at], Var(f"pivot{s}")))),
                StoreElement(numbers, at_group, Var(number)),
                StoreElement(means, j, Apply("({0} + {1})", (Element(means, j), Var(number)))),
            ],
        )

    def about_means(count: Expr, group: Polynomial) -> For:
        far = f"far{s}"
        distance = Apply("({0} - {1})", (Element(numbers, group * LANES + j), Element(means, j)))
        grown = Apply(f"({{0}} + {far} * {far})", (Element(squares, j),))
        return For("j", zero(), count, [Let(far, distance), StoreElement(squares, j, grown)])

    def divided(start: Polynomial, count: Expr, numbers_each: str) -> list[Stmt]:
        share = f"share{s}"
        mean = Apply(f"({{0}} * {share})", (Element(means, start + j),))
        return [
            Let(share, Apply(f"({{0}} / {{T}}({numbers_each}))", (one,), T)),
            For("j", zero(), count, [StoreElement(means, start + j, mean)]),
        ]

    rest = f"rest{s}"
    partly: list[Stmt] = [
        let("_", f"fill({means}, 0, {LANES}, {{0}})", acc.identity),
        let("_", f"fill({squares}, 0, {LANES}, {{0}})", acc.identity),
        let(full, f"({{0}} // {LANES})", m),
        let(rest, f"{{0}} - {full} * {LANES}", m),
        For("g", zero(), Var(full), [in_lanes(_const(LANES), g)]),
        in_lanes(Var(rest), name(full)),
        *divided(Polynomial.const(0), Var(rest), f"{full} + 1"),
        *divided(name(rest), Apply(f"({LANES} - {rest})", ()), f"max({full}, 1)"),
        For("g", zero(), Var(full), [about_means(_const(LANES), g)]),
        about_means(Var(rest), name(full)),
    ]
    return [
        *lets,
        Let(f"pivot{s}", _unless_few(acc, results[at], loop)),
        If(
            Apply(f"{{0}} == {BLOCK}", (m,)),
            [_whole_block(nest, acc, at, loop, base)],
            [If(Apply(f"{{0}} < {FEWEST}", (m,)), _handful(nest, acc, at, loop, base, m), partly)],
        ),
        let("width", "lane_width({0})", m),
        While(
            [],
            Apply("(width > 1)", ()),
            [
                let("half", "(width // 2)"),
                let("each", "({0} // width)", m),
                let("odd", "({0} - each * width)", m),
                let("more", "i64(odd > half)"),
                let("split", "(odd - half * more)"),
                If(
                    Apply("split > 0", ()),
                    [
                        *weights(acc, "(each + 1)", "(each + more)"),
                        _halved(acc, Polynomial.const(0), Var("split")),
                    ],
                ),
                If(
                    Apply("each > 0", ()),
                    [
                        *weights(acc, "(each + more)", "each"),
                        _halved(acc, name("split"), Apply("(half - split)", ())),
                    ],
                ),
                let("width", "half", rebind=True),
            ],
        ),
    ]


def _whole_block(nest: Nest, acc: Accumulator, at: int, loop: LoopDim, base: Polynomial) -> For:
    """The lanes of a block of BLOCK numbers, lane by lane: the numbers of one stay in registers."""
    s = acc.suffix
    j = name("j")
    lets, results = reduction_point(nest, {loop.var: base + name("i") * LANES + j})
    number = Apply("({0} - {1})", (results[at], Var(f"pivot{s}")))
    return For(
        "j",
        zero(),
        _const(LANES),
        [
            *_lane(acc, lets, number),
            StoreElement(f"means{s}", j, Var(f"mean{s}")),
            StoreElement(f"squares{s}", j, Var(f"square{s}")),
        ],
    )


def _handful(
    nest: Nest, acc: Accumulator, at: int, loop: LoopDim, base: Polynomial, m: Expr
) -> list[Stmt]:
    """The pair of a block of one lane."""
    s, T = acc.suffix, token(acc.dtype)
    mean, square, far, first = f"mean{s}", f"square{s}", f"far{s}", Polynomial.const(0)
    lets, results = reduction_point(nest, {loop.var: base + name("i")})
    kept = Element(f"numbers{s}", name("i"))
    number = Apply("({0} - {1})", (results[at], Var(f"pivot{s}")))
    added = Let(mean, Apply(f"({mean} + {{0}})", (kept,)), rebind=True)
    distance = Let(far, Apply(f"({{0}} - {mean})", (kept,)))
    squared = Let(square, Apply(f"({square} + {far} * {far})", ()), rebind=True)
    return [
        Let(mean, acc.identity),
        For("i", zero(), m, [*lets, StoreElement(kept.pointer, kept.offset, number), added]),
        Let(mean, Apply(f"({mean} / {{T}}({{0}}))", (m,), T), rebind=True),
        Let(square, acc.identity),
        For("i", zero(), m, [distance, squared]),
        StoreElement(f"means{s}", first, Var(mean)),
        StoreElement(f"squares{s}", first, Var(square)),
    ]


def _unless_few(acc: Accumulator, first: Expr, loop: LoopDim) -> Expr:
    """What numbers are taken less: the ``first`` of them, or 0."""
    are_few = Apply(f"{{0}} < {FEWEST}", (Integer(loop.extent),))
    return Apply("select({0}, {1}, {2})", (are_few, acc.identity, first))


def _lane(acc: Accumulator, lets: Sequence[Stmt], number: Expr) -> list[Stmt]:
    """Mean and squares of a whole lane, number ``i`` of it being ``number``."""
    s = acc.suffix
    total, mean, far, square = f"sum{s}", f"mean{s}", f"far{s}", f"square{s}"
    grown = Let(total, Apply(f"({total} + {{0}})", (number,)), rebind=True)
    squared = Let(square, Apply(f"({square} + {far} * {far})", ()), rebind=True)
    distance = Let(far, Apply(f"({{0}} - {mean})", (number,)))
    return [
        Let(total, acc.identity),
        For("i", zero(), _const(_LANE_ROWS), [*lets, grown]),
        Let(mean, Apply(f"({total} * {{0}})", (Number(1.0 / _LANE_ROWS, acc.dtype),))),
        Let(square, acc.identity),
        For("i", zero(), _const(_LANE_ROWS), [*lets, distance, squared]),
    ]


def _halved(acc: Accumulator, start: Polynomial, count: Expr) -> For:
    """Lane ``j`` takes lane ``j + half``, from lane ``start`` on."""
    left = start + name("j")
    places = f"means{acc.suffix}", f"squares{acc.suffix}"
    return For("j", zero(), count, merge(acc, places, left, places, left + name("half")))


# ----------------------------------------------------------------------------------------- merging
def weights(acc: Accumulator, left: str, right: str) -> list[Stmt]:
    """The factors of a merge of ``left`` numbers with ``right`` numbers.

    Equal numbers need no division; the factors have the same bits.
    """
    s, T = acc.suffix, token(acc.dtype)
    share, weight, both = f"share{s}", f"weight{s}", f"f64({left} + {right})"
    return [
        If(
            Apply(f"{left} == {right}", ()),
            [
                Let(share, Number(0.5, acc.dtype)),
                Let(weight, Apply(f"{{T}}(f64({left}) * 0.5)", (), T)),
            ],
            [
                Let(share, Apply(f"{{T}}(f64({right}) / {both})", (), T)),
                Let(weight, Apply(f"{{T}}(f64({left}) * f64({right}) / {both})", (), T)),
            ],
        )
    ]


def merge(
    acc: Accumulator,
    places: tuple[str, str],
    left: Polynomial,
    others: tuple[str, str],
    right: Polynomial,
    target: Polynomial | None = None,
) -> list[Stmt]:
    """Merge the pair at ``right`` of ``others`` into the one at ``left`` of ``places``."""
    target = left if target is None else target
    s = acc.suffix
    mean, more = Element(places[0], left), Element(others[0], right)
    squares, others_squares = Element(places[1], left), Element(others[1], right)
    far, old = f"far{s}", f"mean{s}"
    grown = f"({{0}} + ({{1}} + {far} * {far} * weight{s}))"
    return [
        Let(old, mean),
        Let(far, Apply(f"({{0}} - {old})", (more,))),
        Let(f"grown{s}", Apply(grown, (squares, others_squares))),
        StoreElement(places[0], target, Apply(f"({old} + {far} * share{s})", ())),
        StoreElement(places[1], target, Var(f"grown{s}")),
    ]


def push(acc: Accumulator, mean: Expr, squares: Expr, count: Expr) -> list[Stmt]:
    """Put the pair of block ``k``, of ``count`` numbers, on the stack; neighbours merge."""
    s = acc.suffix
    places, top = _stack(acc), name(f"top{s}")
    return [
        StoreElement(places[0], top, mean),
        StoreElement(places[1], top, squares),
        let(f"top{s}", f"top{s} + 1", rebind=True),
        let(f"pending{s}", "k"),
        let(f"upper{s}", "{0}", count),
        let(f"lower{s}", str(BLOCK)),
        While(
            [],
            Apply(f"pending{s} & 1 == 1", ()),
            [
                *_merge_top(acc),
                let(f"lower{s}", f"lower{s} * 2", rebind=True),
                let(f"pending{s}", f"pending{s} >> 1", rebind=True),
            ],
        ),
    ]


def _merge_top(acc: Accumulator) -> list[Stmt]:
    """Merge the two topmost pairs, of ``left`` and ``right`` numbers."""
    s = acc.suffix
    places, top = _stack(acc), name(f"top{s}")
    return [
        *weights(acc, f"lower{s}", f"upper{s}"),
        *merge(acc, places, top - 2, places, top - 1),
        let(f"top{s}", f"top{s} - 1", rebind=True),
        let(f"upper{s}", f"lower{s} + upper{s}", rebind=True),
    ]


def finish(acc: Accumulator, blocks: Expr, numbers: Expr) -> list[Stmt]:
    """Merge what is left on the stack, the smallest first; the squares go to ``total``.

    ``blocks`` blocks of ``numbers`` numbers in all were pushed: the topmost pair has as many blocks
    as the lowest bit of that number says, the next one as many as the next bit, and so on.
    """
    s = acc.suffix
    rest, bit = f"pending{s}", f"bit{s}"
    return [
        Let(f"total{s}", acc.identity),
        let(rest, "{0}", blocks),
        let(bit, f"({rest} & (-{rest}))"),
        let(f"upper{s}", f"{{0}} - ({rest} - {bit}) * {BLOCK}", numbers),
        let(rest, f"{rest} - {bit}", rebind=True),
        While(
            [],
            Apply(f"{rest} > 0", ()),
            [
                let(bit, f"({rest} & (-{rest}))", rebind=True),
                let(f"lower{s}", f"{bit} * {BLOCK}"),
                *_merge_top(acc),
                let(rest, f"{rest} - {bit}", rebind=True),
            ],
        ),
        If(
            Apply(f"top{s} > 0", ()),
            [Let(f"total{s}", Element(f"stackq{s}", Polynomial.const(0)), rebind=True)],
        ),
    ]


def _stack(acc: Accumulator) -> tuple[str, str]:
    return f"stackm{acc.suffix}", f"stackq{acc.suffix}"


# ---------------------------------------------------------------------------------------- columns
def pivots(nest: Nest, acc: Accumulator, at: int, loop: LoopDim, column: LoopDim) -> For:
    """The first row of a tile of columns, which all rows are taken less."""
    first = {column.var: name("c0") + name("c"), loop.var: Polynomial.const(0)}
    lets, results = reduction_point(nest, first)
    store = StoreElement(f"pivot{acc.suffix}", name("c"), _unless_few(acc, results[at], loop))
    return For("c", zero(), Var("w"), [*lets, store])


def lane_of_columns(
    nest: Nest, acc: Accumulator, at: int, loop: LoopDim, column: LoopDim
) -> list[Stmt]:
    """Statements that leave the pairs of a lane's ``rows`` rows in row ``top``."""
    s, T = acc.suffix, token(acc.dtype)
    means, squares = f"stack{s}", f"squares{s}"
    place = name("top") * name("w") + name("c")
    row = name("base") + name("lane") + name("i") * name("spacing")
    lets, results = reduction_point(nest, {column.var: name("c0") + name("c"), loop.var: row})
    number = Apply("({0} - {1})", (results[at], Element(f"pivot{s}", name("c"))))
    far = f"far{s}"
    one = Number(1.0, acc.dtype)
    share = Let(f"share{s}", Apply("({0} / {T}(rows))", (one,), T))
    full = For(
        "c",
        zero(),
        Var("w"),
        [
            *_lane(acc, lets, number),
            StoreElement(means, place, Var(f"mean{s}")),
            StoreElement(squares, place, Var(f"square{s}")),
        ],
    )

    def sweep(statements: Sequence[Stmt]) -> For:
        return For("c", zero(), Var("w"), list(statements))

    here, there = Element(means, place), Element(squares, place)
    few: list[Stmt] = [
        sweep(
            [
                StoreElement(means, place, acc.identity),
                StoreElement(squares, place, acc.identity),
            ]
        ),
        For(
            "i",
            zero(),
            Var("rows"),
            [sweep([*lets, StoreElement(means, place, Apply("({0} + {1})", (here, number)))])],
        ),
        If(
            Apply("spacing == 1", ()),
            [sweep([StoreElement(means, place, Apply("({0} / {T}(rows))", (here,), T))])],
            [sweep([StoreElement(means, place, Apply(f"({{0}} * share{s})", (here,)))])],
        ),
        For(
            "i",
            zero(),
            Var("rows"),
            [
                sweep(
                    [
                        *lets,
                        Let(far, Apply("({0} - {1})", (number, here))),
                        StoreElement(squares, place, Apply(f"({{0}} + {far} * {far})", (there,))),
                    ]
                )
            ],
        ),
    ]
    return [share, If(Apply(f"rows == {_LANE_ROWS}", ()), [full], few)]


def merge_lanes(acc: Accumulator) -> list[Stmt]:
    """Merge row ``top`` of lane ``lane`` into the one below: lanes that differ by ``span / 2``."""
    s = acc.suffix
    places = f"stack{s}", f"squares{s}"
    c, w = name("c"), name("w")
    right, left = name("top") * w + c, (name("top") - 1) * w + c
    return [
        let(f"first{s}", "(lane & (span // 2 - 1))"),
        let(f"lower{s}", f"((m - first{s} + span - 1) // span)"),
        let(f"upper{s}", f"((m - first{s} - span // 2 + span - 1) // span)"),
        *weights(acc, f"lower{s}", f"upper{s}"),
        For("c", zero(), Var("w"), merge(acc, places, left, places, right)),
    ]


def merge_blocks(acc: Accumulator, rows: LoopDim, column: LoopDim) -> list[Stmt]:
    """Merge the rows of the blocks into the first one, neighbours in pairs."""
    s, n = acc.suffix, column.extent
    places = f"part{s}", f"squared{s}"
    b, c = name("b"), name("c")
    pair = For(
        "c",
        zero(),
        Integer(n),
        merge(acc, places, 2 * b * n + c, places, (2 * b + 1) * n + c, b * n + c),
    )
    last, half = (name("left") - 1) * n + c, name("half") * n + c
    odd = [StoreElement(p, half, Element(p, last)) for p in places]
    level: list[Stmt] = [
        let("half", "(left // 2)"),
        For(
            "b",
            zero(),
            Var("half"),
            [
                let(f"upper{s}", "min(each, {0} - (2 * b + 1) * each)", Integer(rows.extent)),
                *weights(acc, "each", f"upper{s}"),
                pair,
            ],
        ),
        If(Apply("left % 2 == 1", ()), [For("c", zero(), Integer(n), odd)]),
        let("left", "half + left % 2", rebind=True),
        let("each", "each * 2", rebind=True),
    ]
    return [
        let("left", "blocks"),
        let("each", str(BLOCK)),
        While([], Apply("(left > 1)", ()), level),
    ]


# ------------------------------------------------------------------------------------- short rows
def less_the_first(acc: Accumulator, length: Expr) -> list[Stmt]:
    """Take every number of a tile of rows less its row's first one, which is the last to change."""
    s = acc.suffix
    c = name("c")
    place = (name("last") - name("r")) * name("w") + c
    number, first = Element(f"stack{s}", place), Element(f"stack{s}", c)
    less: list[Stmt] = [
        Let(f"far{s}", Apply("({0} - {1})", (number, first))),
        StoreElement(f"stack{s}", place, Var(f"far{s}")),
        StoreElement(f"squares{s}", place, Apply(f"(far{s} - far{s})", ())),
    ]
    return [
        let("last", "({0} - 1)", length),
        For("r", zero(), length, [For("c", zero(), Var("w"), less)]),
    ]


def in_turn(acc: Accumulator, length: Expr) -> list[Stmt]:
    """The squares of rows of a handful of numbers about their means, number by number."""
    s, T = acc.suffix, token(acc.dtype)
    c = name("c")
    mean, squares = Element(f"about{s}", c), Element(f"squares{s}", c)
    number = Element(f"stack{s}", name("j") * name("w") + c)
    added = StoreElement(f"about{s}", c, Apply("({0} + {1})", (mean, number)))
    divided = StoreElement(f"about{s}", c, Apply("({0} / {T}({1}))", (mean, length), T))
    grown = Apply(f"({{0}} + far{s} * far{s})", (squares,))
    about_mean: list[Stmt] = [
        Let(f"far{s}", Apply("({0} - {1})", (number, mean))),
        StoreElement(f"squares{s}", c, grown),
    ]
    return [
        let("_", f"fill(about{s}, 0, w, {{0}})", acc.identity),
        For("j", zero(), length, [For("c", zero(), Var("w"), [added])]),
        For("c", zero(), Var("w"), [divided]),
        For("j", zero(), length, [For("c", zero(), Var("w"), about_mean)]),
    ]


def merge_short(acc: Accumulator, length: Expr) -> list[Stmt]:
    """Number ``j`` of each row takes number ``j + half``; there is one number per lane."""
    s = acc.suffix
    places = f"stack{s}", f"squares{s}"
    lower = name("j") * name("w") + name("c")
    upper = (name("j") + name("half")) * name("w") + name("c")
    return [
        let(f"lower{s}", "(({0} - j + width - 1) // width)", length),
        let(f"upper{s}", "(({0} - j - half + width - 1) // width)", length),
        *weights(acc, f"lower{s}", f"upper{s}"),
        For("c", zero(), Var("w"), merge(acc, places, lower, places, upper)),
    ]


def _const(number: int) -> Integer:
    return Integer(Polynomial.const(number))
