"""The first place where a condition holds, ``min { k : c[k] }``: blocks are asked before searched.

`argmax` and its like fold ``select(c[k], k, none)`` with min. For most blocks it is enough to know
that ``c`` holds nowhere in them, which takes a fraction of the time of folding places of 64 bits;
and once a place was found, all that follow are further on.

    met = boolean(False)
    for b in range(lo, hi):
        block = none
        if not met:
            for j in range(m):              # vectors
                met = met | c[base + j]
            if met:
                for j in range(m):          # once
                    block = minimum(block, select(c[base + j], base + j, none))
        part[b] = block
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.accumulators import Accumulator, instr_of, reduction_point
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, over
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import BOOL, I64, name, negated
from fusejit.ir.loops.nodes import Expr, If, Let, Number, Stmt, Var
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import scalar
from fusejit.ir.payload import drop_dead


def met_nowhere(acc: Accumulator) -> Stmt:
    """What stands before the loop over blocks."""
    return Let(f"met{acc.suffix}", Number(False, BOOL))


def searched(nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim) -> int | None:
    """The payload's number of the condition, if the op looks for the first place it holds."""
    payload = nest.op.payload
    (ref, *others) = payload.results
    if others or accs[0].combiner != "min" or accs[0].dtype != I64:
        return None
    chosen = instr_of(payload, ref)
    if chosen is None or chosen.op != "select":
        return None
    condition, place, nowhere = chosen.operands
    where, none = instr_of(payload, place), instr_of(payload, nowhere)
    if where is None or none is None or where.op != "index" or none.op != "const":
        return None
    dim = where.attr.as_dim()
    if dim is None or none.attr != accs[0].identity.value:
        return None
    step = nest.index_dims[dim].coefficient(loop.var).as_constant()
    return condition if step is not None and step > 0 else None


def if_met(
    nest: LoopNest,
    condition: int,
    loop: LoopDim,
    base: Polynomial,
    m: Expr,
    acc: Accumulator,
    search: Sequence[Stmt],
) -> list[Stmt]:
    """Statements that leave the first place of a block in its accumulator, found by ``search``."""
    payload = drop_dead(replace(nest.op.payload, results=(condition,)))
    asked = replace(nest, op=replace(nest.op, payload=payload))
    lets, (holds,) = reduction_point(asked, {loop.var: base + name("j")})
    met = Var(f"met{acc.suffix}")
    either = scalar("logical_or", met, holds, dtype=BOOL)
    ask = over("j", m, [*lets, Let(met.name, either, rebind=True)])
    nowhere = Number(acc.identity.value, acc.dtype)
    return [
        Let(f"block{acc.suffix}", nowhere),
        If(negated(met), [ask, If(met, list(search))]),
    ]
