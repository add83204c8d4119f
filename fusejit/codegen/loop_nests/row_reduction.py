"""Reductions along rows where the order of merging does not show: extrema, integers, bools.

Extrema of floats are kept in lanes, which take neighbours; integers in plain accumulators. Full
reductions of a few numbers, which loops make by the million, need neither blocks nor all lanes.
Sums of floats that are added one after the other are written here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fusejit.codegen.intrinsics.lanes import FEW, LANES
from fusejit.codegen.loop_nests.accumulators import (
    PLAIN_BLOCK,
    Accumulator,
    block_dtypes,
    ceil_div,
    filled,
    reduction_point,
    write_totals,
)
from fusejit.codegen.loop_nests.chunks import chunked, work_ns
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, over, wrap
from fusejit.codegen.loop_nests.searches import if_met, met_nowhere, searched
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import compute, floordiv, let, minimum, name, operand, sub
from fusejit.ir.loops.nodes import (
    Call,
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
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import cast


def along_rows(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    parallel: Sequence[LoopDim],
    reductions: Sequence[LoopDim],
) -> list[Stmt]:
    """One total per point of the parallel loops, reduced along the innermost loops."""
    totals = [Var(f"total{acc.suffix}") for acc in accs]
    laned = len(reductions) == 1 and all(acc.in_lanes for acc in accs)
    total = _row_totals(nest, accs, reductions[0]) if laned else _plain(nest, accs, reductions)
    inner = [*total, *write_totals(nest, accs, totals)]
    scratch = _lanes(accs) if laned else []
    if not parallel:
        return [*scratch, *inner]
    statements = [*scratch, *wrap(parallel, inner)]
    return [chunked(parallel[0], statements, work_ns(nest), nest.op.name)]


def of_everything(
    nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim, *, often: bool = False
) -> list[Stmt]:
    """A full reduction: block totals in parallel, then their merging.

    ``often`` says that it is inside a loop, where few numbers deserve code of their own.
    """
    end = write_totals(nest, accs, [Var(f"total{acc.suffix}") for acc in accs])
    if not often:
        return [*_of_blocks(nest, accs, loop), *end]
    some = _small_blocks(nest, accs, loop)
    extent = loop.extent.as_constant()
    if extent is not None and extent <= FEW:
        return [*some, *end]
    are_few = compute("<=", Integer(loop.extent), FEW)
    return [If(are_few, some, _of_blocks(nest, accs, loop)), *end]


def _small_blocks(nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Totals of at most `FEW` numbers, the same as those of blocks."""
    starts: list[Stmt] = []
    ends: list[Stmt] = []
    for acc in accs:
        s = acc.suffix
        if acc.in_lanes:
            starts.append(Scratch(f"lanes{s}", operand(FEW), acc.dtype, True))
            starts.append(filled(f"lanes{s}", FEW, acc.identity))
            ends.append(let(f"total{s}", Call(f"small_{acc.combiner}", (Var(f"lanes{s}"),))))
        else:
            starts.append(Let(f"block{s}", acc.identity))
            ends.append(Let(f"total{s}", Var(f"block{s}")))
    loop_over = _lane_loop(nest, accs, loop, Integer(loop.extent), Polynomial.const(0))
    return [*starts, loop_over, *ends]


def _of_blocks(nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Statements that leave the totals of all numbers in ``total<suffix>``.

    Where there are few blocks no memory of the heap is needed.
    """
    blocks = Var("blocks")
    statements: list[Stmt] = [Let("blocks", Integer(ceil_div(loop.extent, PLAIN_BLOCK)))]
    are_many = compute(">", blocks, FEW)
    for acc in accs:
        part = Scratch(f"part{acc.suffix}", blocks, acc.dtype, False)
        few = replace(part, size=operand(FEW), on_stack=True)
        statements += [few, If(are_many, [part])]
    base, m = name("base"), Var("m")
    totals = _block_totals(nest, accs, loop, base, m, block_dtypes(nest, accs))
    condition = searched(nest, accs, loop)
    if condition is not None:
        totals = if_met(nest, condition, loop, base, m, accs[0], totals)
    inner: list[Stmt] = [
        Let("base", Integer(name("b") * PLAIN_BLOCK)),
        let("m", minimum(loop.extent - base, PLAIN_BLOCK)),
        *totals,
    ]
    for acc in accs:
        inner.append(StoreElement(f"part{acc.suffix}", name("b"), Var(f"block{acc.suffix}")))
    starts = _lanes(accs) if condition is None else [met_nowhere(accs[0])]
    body: list[Stmt] = [*starts, For("b", Var("lo"), Var("hi"), inner)]
    statements.append(ParallelFor(blocks, work_ns(nest), body, nest.op.name))
    for acc in accs:
        total, part_of_k = f"total{acc.suffix}", Element(f"part{acc.suffix}", name("k"))
        step = Let(total, acc.combine(Var(total), part_of_k), rebind=True)
        statements += [Let(total, acc.identity), over("k", blocks, [step])]
        statements.append(If(are_many, [Free(f"part{acc.suffix}")]))
    return statements


# -------------------------------------------------------------------------------------- one row
def _row_totals(nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Statements that leave the totals of one row in ``total<suffix>``."""
    done: list[Stmt] = [Let(f"total{a.suffix}", Var(f"block{a.suffix}")) for a in accs]
    n = Integer(loop.extent)
    return [*_block_totals(nest, accs, loop, Polynomial.const(0), n), *done]


def _block_totals(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    loop: LoopDim,
    base: Polynomial,
    m: Expr,
    dtypes: Mapping[str, np.dtype] | None = None,
) -> list[Stmt]:
    """Statements that leave the totals of ``m`` numbers from ``base`` on in ``block<suffix>``.

    ``dtypes`` says which accumulators are narrower than their totals, see `block_dtypes`.
    """
    narrow = dtypes or {}
    starts: list[Stmt] = []
    ends: list[Stmt] = []
    for acc in accs:
        s = acc.suffix
        if acc.in_lanes:
            starts.append(filled(f"lanes{s}", LANES, acc.identity))
            ends.append(Let(f"block{s}", Call(f"fold_{acc.combiner}", (Var(f"lanes{s}"),))))
        elif s in narrow:
            starts.append(Let(f"narrow{s}", Number(0, narrow[s])))
            ends.append(Let(f"block{s}", cast(Var(f"narrow{s}"), acc.dtype)))
        else:
            starts.append(Let(f"block{s}", acc.identity))
    if not any(acc.in_lanes for acc in accs):
        return [*starts, _lane_loop(nest, accs, loop, m, base, narrow), *ends]
    groups = _lane_loop(nest, accs, loop, operand(LANES), base + name("g") * LANES, narrow)
    return [
        *starts,
        let("full", floordiv(m, LANES)),
        over("g", Var("full"), [groups]),
        let("rest", sub(m, name("full") * LANES)),
        _lane_loop(nest, accs, loop, Var("rest"), base + name("full") * LANES, narrow),
        *ends,
    ]


def _lane_loop(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    loop: LoopDim,
    count: Expr,
    start: Polynomial,
    narrow: Mapping[str, np.dtype] | None = None,
) -> For:
    """Neighbours from ``start`` on, each into its lane (or into one accumulator)."""
    lets, results = reduction_point(nest, {loop.var: start + name("j")})
    body: list[Stmt] = list(lets)
    for acc, result in zip(accs, results, strict=True):
        if acc.in_lanes:
            lanes = f"lanes{acc.suffix}"
            old = Element(lanes, name("j"))
            body.append(StoreElement(lanes, old.offset, acc.combine(old, result)))
        elif narrow and acc.suffix in narrow:
            total, dtype = f"narrow{acc.suffix}", narrow[acc.suffix]
            part = cast(result, dtype)
            narrower = replace(acc, dtype=dtype).combine(Var(total), part)
            body.append(Let(total, narrower, rebind=True))
        else:
            block = f"block{acc.suffix}"
            body.append(Let(block, acc.combine(Var(block), result), rebind=True))
    return over("j", count, body)


def _plain(
    nest: LoopNest, accs: Sequence[Accumulator], reductions: Sequence[LoopDim]
) -> list[Stmt]:
    """One accumulator per init, for integers and for several loops of max and min."""
    lets, results = reduction_point(nest, {})
    body: list[Stmt] = list(lets)
    for acc, result in zip(accs, results, strict=True):
        total = f"total{acc.suffix}"
        body.append(Let(total, acc.combine(Var(total), result), rebind=True))
    starts: list[Stmt] = [Let(f"total{acc.suffix}", acc.identity) for acc in accs]
    return [*starts, *wrap(reductions, body)]


def _lanes(accs: Sequence[Accumulator]) -> list[Stmt]:
    return [
        Scratch(f"lanes{acc.suffix}", operand(LANES), acc.dtype, True)
        for acc in accs
        if acc.in_lanes
    ]
