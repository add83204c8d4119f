"""Reductions along rows: lanes take neighbours, block totals merge on a stack."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.accumulators import (
    Accumulator,
    let,
    name,
    reduction_point,
    write_totals,
)
from fusejit.codegen.chunks import chunked, work_ns
from fusejit.codegen.lanes import PLAIN_LANES
from fusejit.codegen.nest import (
    LoopDim,
    Nest,
    point_cost_ps,
    wrap,
    zero,
)
from fusejit.ir.loops import (
    Apply,
    Element,
    Expr,
    For,
    Free,
    Integer,
    Let,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.polynomial import Polynomial
from fusejit.ir.summation import BLOCK, LANES

STACK = 64
_PLAIN_BLOCK = 4096


def _block_and_lanes(accs: Sequence[Accumulator]) -> tuple[int, int]:
    """Numbers in a block, and lanes: those of `fusejit.ir.summation` where the order shows."""
    ordered = any(acc.is_ordered for acc in accs)
    return (BLOCK, LANES) if ordered else (_PLAIN_BLOCK, PLAIN_LANES)


def _row_sums(nest: Nest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Statements that leave the total of one row in ``total<suffix>`` (written-out order)."""
    n = Integer(loop.extent)
    block, lanes = _block_and_lanes(accs)
    blocks: list[Stmt] = [
        Let("base", Integer(name("k") * block)),
        let("m", f"min({{0}} - base, {block})", n),
        Let("full", Apply(f"(m // {lanes})", ())),
        let("width", f"lane_width(m, {lanes})"),
    ]
    for acc in accs:
        if acc.in_lanes:
            blocks.append(let("_", f"clear_lanes(lanes{acc.suffix}, width, {{0}})", acc.identity))
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
                    Integer(Polynomial.const(lanes)),
                    name("base") + name("g") * lanes,
                )
            ],
        )
    )
    blocks.append(
        _lane_loop(
            nest,
            accs,
            loop,
            Integer(name("m") - name("full") * lanes),
            name("base") + name("full") * lanes,
        )
    )
    for acc in accs:
        if acc.in_lanes:
            s = acc.suffix
            blocks.append(
                let(
                    f"top{s}",
                    f"push_{acc.combiner}(stack{s}, top{s}, k, "
                    f"merge_lanes_{acc.combiner}(lanes{s}, width))",
                    rebind=True,
                )
            )
    statements: list[Stmt] = []
    for acc in accs:
        if acc.in_lanes:
            statements.append(let(f"top{acc.suffix}", "0"))
        else:
            statements.append(Let(f"total{acc.suffix}", acc.identity))
    count = name(f"(({loop.extent + (block - 1)}) // {block})")
    statements.append(For("k", zero(), Integer(count), blocks))
    for acc in accs:
        if acc.in_lanes:
            s = acc.suffix
            statements.append(
                let(f"total{s}", f"finish_{acc.combiner}(stack{s}, top{s}, {{0}})", acc.identity)
            )
    return statements


def _lane_loop(
    nest: Nest, accs: Sequence[Accumulator], loop: LoopDim, count: Expr, start: Polynomial
) -> For:
    lets, results = reduction_point(nest, {loop.var: start + name("j")})
    body: list[Stmt] = list(lets)
    lane = name("j")
    for acc, result in zip(accs, results, strict=True):
        if acc.in_lanes:
            lanes = f"lanes{acc.suffix}"
            body.append(StoreElement(lanes, lane, acc.combine(Element(lanes, lane), result)))
        else:
            total = f"total{acc.suffix}"
            body.append(Let(total, acc.combine(Var(total), result), rebind=True))
    return For("j", zero(), count, body)


def _lane_scratch(accs: Sequence[Accumulator]) -> list[Stmt]:
    _, lanes = _block_and_lanes(accs)
    statements: list[Stmt] = []
    for acc in accs:
        if acc.in_lanes:
            for name, size in (("lanes", lanes), ("stack", STACK)):
                statements.append(
                    Scratch(f"{name}{acc.suffix}", Integer(Polynomial.const(size)), acc.dtype, True)
                )
    return statements


def _plain_totals(
    nest: Nest, accs: Sequence[Accumulator], reductions: Sequence[LoopDim]
) -> list[Stmt]:
    lets, results = reduction_point(nest, {})
    body: list[Stmt] = list(lets)
    for acc, result in zip(accs, results, strict=True):
        total = f"total{acc.suffix}"
        body.append(Let(total, acc.combine(Var(total), result), rebind=True))
    starts: list[Stmt] = [Let(f"total{acc.suffix}", acc.identity) for acc in accs]
    return [*starts, *wrap(reductions, body)]


def along_rows(
    nest: Nest,
    accs: Sequence[Accumulator],
    parallel: Sequence[LoopDim],
    reductions: Sequence[LoopDim],
) -> list[Stmt]:
    totals = [Var(f"total{acc.suffix}") for acc in accs]
    laned = len(reductions) == 1 and any(acc.in_lanes for acc in accs)
    if laned:
        (loop,) = reductions
        inner = [*_row_sums(nest, accs, loop), *write_totals(nest, accs, totals)]
    else:
        inner = [*_plain_totals(nest, accs, reductions), *write_totals(nest, accs, totals)]
    scratch = _lane_scratch(accs) if laned else []
    if not parallel:
        return [*scratch, *inner]
    statements = [*scratch, *wrap(parallel, inner)]
    work = work_ns(nest, point_cost_ps(nest))
    return [chunked(parallel[0], statements, work, nest.op.name)]


def of_everything(nest: Nest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """A full reduction: block totals in parallel, then their merging."""
    block, lanes = _block_and_lanes(accs)
    count = Integer(name(f"(({loop.extent + (block - 1)}) // {block})"))
    lets: list[Stmt] = [
        Let("blocks", count),
    ]
    for acc in accs:
        lets.append(Scratch(f"part{acc.suffix}", Var("blocks"), acc.dtype, False))
    inner: list[Stmt] = [
        Let("base", Integer(name("b") * block)),
        let("m", f"min({{0}} - base, {block})", Integer(loop.extent)),
    ]
    if any(a.in_lanes for a in accs):
        inner += [
            Let("full", Apply(f"(m // {lanes})", ())),
            let("width", f"lane_width(m, {lanes})"),
        ]
    for acc in accs:
        if acc.in_lanes:
            inner.append(let("_", f"clear_lanes(lanes{acc.suffix}, width, {{0}})", acc.identity))
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
                        Integer(Polynomial.const(lanes)),
                        name("base") + name("g") * lanes,
                    )
                ],
            )
        )
        inner.append(
            _lane_loop(
                nest,
                accs,
                loop,
                Integer(name("m") - name("full") * lanes),
                name("base") + name("full") * lanes,
            )
        )
    else:
        inner.append(_lane_loop(nest, accs, loop, Var("m"), name("base")))
    for acc in accs:
        value: Expr = (
            Apply(f"merge_lanes_{acc.combiner}(lanes{acc.suffix}, width)", ())
            if acc.in_lanes
            else Var(f"total{acc.suffix}")
        )
        inner.append(StoreElement(f"part{acc.suffix}", name("b"), value))
    lane_memory = [s for s in _lane_scratch(accs) if isinstance(s, Scratch) and "lanes" in s.name]
    body: list[Stmt] = [*lane_memory, For("b", Var("lo"), Var("hi"), inner)]
    work = work_ns(nest, point_cost_ps(nest))
    statements: list[Stmt] = [*lets, ParallelFor(Var("blocks"), work, body, nest.op.name)]
    stacks = [s for s in _lane_scratch(accs) if isinstance(s, Scratch) and "stack" in s.name]
    statements += stacks
    for acc in accs:
        s = acc.suffix
        part = Element(f"part{s}", name("k"))
        if acc.in_lanes:
            statements += [
                let(f"top{s}", "0"),
                For(
                    "k",
                    zero(),
                    Var("blocks"),
                    [
                        let(
                            f"top{s}",
                            f"push_{acc.combiner}(stack{s}, top{s}, k, {{0}})",
                            part,
                            rebind=True,
                        )
                    ],
                ),
                let(f"total{s}", f"finish_{acc.combiner}(stack{s}, top{s}, {{0}})", acc.identity),
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
    return [*statements, *write_totals(nest, accs, [Var(f"total{a.suffix}") for a in accs])]
