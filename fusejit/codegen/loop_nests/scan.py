"""Nests with sequential dims: a recurrence along them, the other dims in parallel.

A *carried* result has no axis for the sequential dims: each point overwrites what the point before
it has left there, which the payload reads as ``out<k>``. The loop with unit strides is innermost:

- a sequential one: carried results are variables, one per row;
- a parallel one (a scan down columns): they are a row of memory, and the loop vectorises.

Sequential loops keep the order of their dims.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.chunks import chunked, work_ns
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, order_loops, point_of, wrap
from fusejit.ir.loops.nodes import For, Integer, Let, Number, ParallelFor, Stmt, Var


def lower_scan(
    nest: LoopNest, sequential: Sequence[str], carried: Sequence[bool], started: Sequence[bool]
) -> list[Stmt]:
    """Loops for an op with sequential dims.

    Parameters
    ----------
    nest : LoopNest
        Its loops in any order; ``prefix`` is not empty if it has no parallel loop.
    sequential : sequence of str
        The loops of the sequential dims, outermost first.
    carried : sequence of bool
        For each result whether it is carried along these loops.
    started : sequence of bool
        For each result whether it holds its start already.
    """
    order_loops(nest)
    inner = nest.loops[-1]
    in_sequence = [next(p for p in nest.loops if p.var == var) for var in sequential]
    parallel = [loop for loop in nest.loops if loop not in in_sequence]
    work = work_ns(nest)
    if inner in in_sequence:
        statements = wrap(parallel, _along_rows(nest, in_sequence, carried, started))
        return [chunked(parallel[0], statements, work, nest.op.name)] if parallel else statements
    inits = [r.load() if c else None for r, c in zip(nest.outputs, carried, strict=True)]
    lets, results = point_of(nest, nest.inputs, inits, nest.index_dims)
    stores = (r.store(value) for r, value in zip(nest.outputs, results, strict=True))
    body: list[Stmt] = [*lets, *stores]
    column = parallel.pop()
    if parallel:
        statements = wrap([*parallel, *in_sequence, column], body)
        return [chunked(parallel[0], statements, work, nest.op.name)]
    columns = For(column.var, Var("lo"), Var("hi"), body)  # each chunk of them down all rows
    rows = wrap(in_sequence, [columns])
    return [ParallelFor(Integer(column.extent), work, rows, nest.op.name)]


def _along_rows(
    nest: LoopNest, rows: Sequence[LoopDim], carried: Sequence[bool], started: Sequence[bool]
) -> list[Stmt]:
    """One row: carried results in variables, stored when the row is done."""
    names = [f"{nest.prefix}carried{k}" for k in range(len(carried))]
    inits = [Var(name) if c else None for name, c in zip(names, carried, strict=True)]
    lets, results = point_of(nest, nest.inputs, inits, nest.index_dims)
    before: list[Stmt] = []
    body: list[Stmt] = list(lets)
    after: list[Stmt] = []
    for name, c, has_start, reference, result, value in zip(
        names, carried, started, nest.outputs, results, nest.op.results, strict=True
    ):
        if not c:
            body.append(reference.store(result))
            continue
        start = reference.load() if has_start else Number(0, value.type.dtype)
        before.append(Let(name, start))
        body.append(Let(name, result, rebind=True))
        after.append(reference.store(Var(name)))
    return [*before, *wrap(rows, body), *after]
