"""Reductions along rows: lanes take neighbours, block totals merge on a stack.

Where the order of merging does not show (max, min) a row is one block and needs no stack. Full
reductions of a few numbers, which loops make by the million, need neither blocks nor all lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fusejit.codegen.intrinsics.lanes import FEW, FOLDS
from fusejit.codegen.loop_nests import deviations
from fusejit.codegen.loop_nests.accumulators import (
    PLAIN_BLOCK,
    Accumulator,
    block_dtypes,
    ceil_div,
    filled,
    of_numbers,
    plain,
    reduction_point,
    write_totals,
)
from fusejit.codegen.loop_nests.chunks import chunked, work_ns
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, over, wrap
from fusejit.codegen.loop_nests.searches import if_met, met_nowhere, searched
from fusejit.dataclass import replace
from fusejit.ir.interpreter.summation import BLOCK, FEWEST
from fusejit.ir.loops.index_math import (
    both,
    compute,
    equal,
    floordiv,
    less,
    let,
    minimum,
    moved,
    name,
    operand,
    sub,
)
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
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import cast, select


def along_rows(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    parallel: Sequence[LoopDim],
    reductions: Sequence[LoopDim],
) -> list[Stmt]:
    """One total per point of the parallel loops, reduced along the innermost loops."""
    totals = [Var(f"total{acc.suffix}") for acc in accs]
    laned = len(reductions) == 1 and any(acc.in_lanes for acc in accs)
    total = _row_totals(nest, accs, reductions[0]) if laned else _plain(nest, accs, reductions)
    inner = [*total, *write_totals(nest, accs, totals)]
    scratch = [*_lanes(accs), *_stacks(accs)] if laned else []
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
    totals = [Var(f"total{acc.suffix}") for acc in accs]
    end = write_totals(nest, accs, totals)
    if not often or of_numbers(accs):
        return [*_of_blocks(nest, accs, loop), *end]
    extent = loop.extent.as_constant()
    if extent is not None and extent <= FEW:
        some = _sequential if 0 < extent < FEWEST else _small_blocks
        return [*some(nest, accs, loop), *end]
    n = Integer(loop.extent)
    blocks = _of_blocks(nest, accs, loop)
    statements = [If(compute("<=", n, FEW), _small_blocks(nest, accs, loop), blocks)]
    is_sequential = both(compute("<=", 1, n), less(n, FEWEST))
    return [If(is_sequential, _sequential(nest, accs, loop), statements), *end]


def _sequential(nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Totals of 1 to ``FEWEST - 1`` numbers in turn, in registers: LLVM unrolls the loop.

    Places after the last number read it again, and add the identity.
    """
    lets, results = reduction_point(nest, {loop.var: name("at")})
    starts: list[Stmt] = []
    body: list[Stmt] = [let("at", minimum("j", loop.extent - 1)), *lets]
    ends: list[Stmt] = []
    is_within = less("j", loop.extent)
    for acc, result in zip(accs, results, strict=True):
        s = acc.suffix
        taken = select(is_within, result, acc.identity, acc.dtype)
        if acc.in_lanes:
            starts.append(Scratch(f"lanes{s}", operand(FEWEST), acc.dtype, True))
            value = acc.combine(acc.identity, taken)
            body.append(StoreElement(f"lanes{s}", name("j"), value))
            ends.append(let(f"total{s}", Call(f"sequential_{acc.combiner}", (Var(f"lanes{s}"),))))
        else:
            starts.append(Let(f"total{s}", acc.identity))
            value = acc.combine(Var(f"total{s}"), taken)
            body.append(Let(f"total{s}", value, rebind=True))
    return [*starts, over("j", FEWEST, body), *ends]


def _small_blocks(nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Totals of `FEWEST` to `FEW` numbers, or of none, the same bits as those of blocks.

    Lanes that nothing was put into hold the identity; the halving tree merges them first.
    """
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
    """Statements that leave the totals of all numbers in ``total<suffix>``."""
    on_stack = not of_numbers(accs)  # where there are few blocks no memory of the heap is needed
    block = BLOCK if _is_ordered(accs) else PLAIN_BLOCK
    blocks = Var("blocks")
    statements: list[Stmt] = [Let("blocks", Integer(ceil_div(loop.extent, block)))]
    are_many = compute(">", blocks, FEW)
    for acc in accs:
        part = Scratch(f"part{acc.suffix}", blocks, acc.dtype, False)
        if on_stack:
            few = replace(part, size=operand(FEW), on_stack=True)
            statements += [few, If(are_many, [part])]
        else:
            statements.append(part)
        if acc.of_numbers:
            statements.append(Scratch(f"squared{acc.suffix}", blocks, acc.dtype, False))
    base, m = name("base"), Var("m")
    totals = _block_totals(nest, accs, loop, base, m, block_dtypes(nest, accs))
    condition = searched(nest, accs, loop)
    if condition is not None:
        totals = if_met(nest, condition, loop, base, m, accs[0], totals)
    inner: list[Stmt] = [
        Let("base", Integer(name("b") * block)),
        let("m", minimum(loop.extent - base, block)),
        *totals,
    ]
    for acc in accs:
        s = acc.suffix
        total: Expr = _lane_0("means", acc) if acc.of_numbers else Var(f"block{s}")
        inner.append(StoreElement(f"part{s}", name("b"), total))
        if acc.of_numbers:
            inner.append(StoreElement(f"squared{s}", name("b"), _lane_0("squares", acc)))
    starts = _lanes(accs) if condition is None else [met_nowhere(accs[0])]
    body: list[Stmt] = [*starts, For("b", Var("lo"), Var("hi"), inner)]
    work = work_ns(nest)
    statements += [ParallelFor(blocks, work, body, nest.op.name), *_stacks(accs)]
    for acc in accs:
        total_of_k = Element(f"part{acc.suffix}", name("k"))
        if acc.of_numbers:
            squared = f"squared{acc.suffix}"
            numbers = minimum(loop.extent - name("k") * BLOCK, BLOCK)
            pushed = deviations.push(acc, total_of_k, Element(squared, name("k")), numbers)
            statements += [
                let(f"top{acc.suffix}", 0),
                over("k", blocks, pushed),
                *deviations.finish(acc, blocks, Integer(loop.extent)),
                Free(squared),
            ]
        else:
            statements += _merged(acc, blocks, total_of_k)
        free = Free(f"part{acc.suffix}")
        statements.append(If(are_many, [free]) if on_stack else free)
    return statements


# -------------------------------------------------------------------------------------- one row
def _row_totals(nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim) -> list[Stmt]:
    """Statements that leave the totals of one row in ``total<suffix>``."""
    n = Integer(loop.extent)
    if not _is_ordered(accs):
        nothing = Polynomial.const(0)
        done: list[Stmt] = [Let(f"total{a.suffix}", Var(f"block{a.suffix}")) for a in accs]
        return [*_block_totals(nest, accs, loop, nothing, n), *done]
    inner: list[Stmt] = [
        Let("base", Integer(name("k") * BLOCK)),
        let("m", minimum(loop.extent - name("base"), BLOCK)),
        *_block_totals(nest, accs, loop, name("base"), Var("m")),
    ]
    statements: list[Stmt] = []
    blocks = Integer(ceil_div(loop.extent, BLOCK))
    ends: list[Stmt] = []
    for acc in accs:
        statements.append(let(f"top{acc.suffix}", 0))
        if acc.of_numbers:
            pair = _lane_0("means", acc), _lane_0("squares", acc)
            inner += deviations.push(acc, *pair, Var("m"))
            ends += deviations.finish(acc, blocks, n)
        else:
            inner += _push(acc, Var(f"block{acc.suffix}"))
            ends += _finish(acc)
    return [*statements, over("k", blocks, inner), *ends]


def _lane_0(lanes: str, acc: Accumulator) -> Element:
    return Element(f"{lanes}{acc.suffix}", Polynomial.const(0))


def _block_totals(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    loop: LoopDim,
    base: Polynomial,
    m: Expr,
    dtypes: Mapping[str, np.dtype] | None = None,
) -> list[Stmt]:
    """Statements that leave the totals of ``m`` numbers from ``base`` on in ``block<suffix>``.

    A pair of mean and squares is left in lane 0 of its own lanes; the block is in the nearest cache
    then. ``dtypes`` says which accumulators are narrower than their totals, see `block_dtypes`.
    """
    narrow = dtypes or {}
    pairs: list[Stmt] = []
    for at, acc in of_numbers(accs):
        pairs += deviations.block_of_row(nest, acc, at, loop, base, m)
    if not plain(accs):
        return pairs
    starts: list[Stmt] = []
    ends: list[Stmt] = []
    for acc in plain(accs):
        s = acc.suffix
        if acc.in_lanes:
            lanes = FOLDS[acc.combiner][0]
            starts.append(filled(f"lanes{s}", lanes, acc.identity))
            fold = Call(f"fold_{acc.combiner}", (Var(f"lanes{s}"), m))
            ends.append(Let(f"block{s}", fold))
        elif s in narrow:
            starts.append(Let(f"narrow{s}", Number(0, narrow[s])))
            ends.append(Let(f"block{s}", cast(Var(f"narrow{s}"), acc.dtype)))
        else:
            starts.append(Let(f"block{s}", acc.identity))
    widths = {FOLDS[acc.combiner][0] for acc in plain(accs) if acc.in_lanes}
    if not widths:
        return [*starts, _lane_loop(nest, accs, loop, m, base, narrow), *ends, *pairs]
    (lanes,) = widths
    groups = _lane_loop(nest, accs, loop, operand(lanes), base + name("g") * lanes, narrow)
    return [
        *starts,
        let("full", floordiv(m, lanes)),
        over("g", Var("full"), [groups]),
        let("rest", sub(m, name("full") * lanes)),
        _lane_loop(nest, accs, loop, Var("rest"), base + name("full") * lanes, narrow),
        *ends,
        *pairs,
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
        if acc.of_numbers:
            continue
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


# ------------------------------------------------------------------------------- merging blocks
def _merged(acc: Accumulator, blocks: Expr, part: Element) -> list[Stmt]:
    """Statements that merge the block totals ``part`` (number ``k``) into ``total<suffix>``."""
    total = f"total{acc.suffix}"
    if acc.is_ordered:
        push = over("k", blocks, _push(acc, part))
        return [let(f"top{acc.suffix}", 0), push, *_finish(acc)]
    step = Let(total, acc.combine(Var(total), part), rebind=True)
    return [Let(total, acc.identity), over("k", blocks, [step])]


def _push(acc: Accumulator, value: Expr) -> list[Stmt]:
    """Put the total of block ``k`` on the stack, merging neighbours of equal size."""
    s = acc.suffix
    left = Element(f"stack{s}", name(f"top{s}"))
    level: list[Stmt] = [
        moved(f"top{s}", -1),
        Let(f"right{s}", acc.combine(left, Var(f"right{s}")), rebind=True),
        let(f"count{s}", compute(">>", f"count{s}", 1), rebind=True),
    ]
    return [
        Let(f"right{s}", value),
        let(f"count{s}", "k"),
        While([], equal(compute("&", f"count{s}", 1), 1), level),
        StoreElement(f"stack{s}", name(f"top{s}"), Var(f"right{s}")),
        moved(f"top{s}", 1),
    ]


def _finish(acc: Accumulator) -> list[Stmt]:
    """Merge what is left on the stack into ``total<suffix>``, the smallest first."""
    s = acc.suffix
    top = Element(f"stack{s}", name(f"top{s}"))
    pop = moved(f"top{s}", -1)
    is_left = compute(">", f"top{s}", 0)
    merge = Let(f"total{s}", acc.combine(top, Var(f"total{s}")), rebind=True)
    return [
        Let(f"total{s}", acc.identity),
        If(is_left, [pop, Let(f"total{s}", top, rebind=True)]),
        While([], is_left, [pop, merge]),
    ]


def _is_ordered(accs: Sequence[Accumulator]) -> bool:
    return any(acc.is_ordered for acc in accs)


def _lanes(accs: Sequence[Accumulator]) -> list[Stmt]:
    lanes: list[Stmt] = []
    for acc in accs:
        if acc.of_numbers:
            lanes += deviations.scratch_of_rows(acc)
        elif acc.in_lanes:
            count = operand(FOLDS[acc.combiner][0])
            lanes.append(Scratch(f"lanes{acc.suffix}", count, acc.dtype, True))
    return lanes


def _stacks(accs: Sequence[Accumulator]) -> list[Stmt]:
    size = operand(deviations.STACK)
    ordered = _is_ordered(accs)
    return [
        *(s for _, acc in of_numbers(accs) for s in deviations.scratch_of_stack(acc)),
        *(Scratch(f"stack{a.suffix}", size, a.dtype, True) for a in plain(accs) if ordered),
    ]
