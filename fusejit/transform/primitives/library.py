"""`generalize` and `to_library`: an op as loops, or as a call of a BLAS routine.

>>> h = schedule(lambda a: a @ a, np.ones((3, 3)))["matmul"]
>>> print(h.show())
%v1 = generic "matmul" domain (s0, s0, s0) iterators (parallel, parallel, reduction) ins (%v0
    [(d0, d1, d2) -> (d0, d2)], %v0 [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1, d2) -> (d0,
    d1)]) library_call "matmul" { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s0 x f64
>>> print(h.generalize().show())
%v1 = generic "matmul" domain (s0, s0, s0) iterators (parallel, parallel, reduction) ins (%v0
    [(d0, d1, d2) -> (d0, d2)], %v0 [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1, d2) -> (d0,
    d1)]) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s0 x f64

Rule of `to_library`: iterators, maps, payload, combiner and dtypes are those of the routine, and
the result starts from nothing; names do not count. The routine sums in an order of its own.
"""

from __future__ import annotations

import numpy as np

from fusejit.dataclass import replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import is_carried, replaced
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import binary_payload
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call

PARALLEL, REDUCTION = IteratorType.PARALLEL, IteratorType.REDUCTION

ROUTINE = "matmul"


@primitive
def generalize(handle: H, *, reassociate: bool = False) -> H:
    """The op as loops, if it calls a routine; with ``reassociate``, sums in any order.

    Raises
    ------
    ScheduleError
        If it calls no routine, and its sums are in no order, or must stay in order.
    """
    step, op = call("generalize", **({"reassociate": True} if reassociate else {})), handle.op
    if op.library_call is not None:
        return _instead(handle, replace(op, library_call=None, is_named=False), step)
    if IteratorType.SEQUENTIAL not in op.iterators:
        raise illegal(step, op.name, "it is computed by loops already")
    if not reassociate:
        why = "its loops are in order, which shows in its bits"
        raise illegal(step, op.name, why, ["reassociate=True"])
    made = _in_any_order(op, handle.schedule.graph)
    if made is None:
        raise illegal(step, op.name, "it does not combine a term with the result so far")
    graph = eliminate_dead_ops(replaced(handle.schedule.graph, op, [made]))
    return handle.after(step, "reassoc", f"{op.name} sums in any order", graph, made)


def _in_any_order(op: GenericOp, graph: Graph) -> GenericOp | None:
    """An op that carries a result by a combiner, as a reduction."""
    payload, sequential = op.payload, IteratorType.SEQUENTIAL
    last = payload.instrs[-1] if payload.instrs else None
    init_ref = len(op.inputs)
    combiner = next((r for r in COMBINERS.values() if last and r.scalar_op == last.op), None)
    if len(op.inits) != 1 or last is None or combiner is None or init_ref not in last.operands:
        return None
    if payload.results != (payload.num_arguments + len(payload.instrs) - 1,):
        return None
    terms = [o for o in last.operands if o != init_ref]
    others = {o for instr in payload.instrs[:-1] for o in instr.operands}
    if (
        len(terms) != 1
        or init_ref in others
        or not all(is_carried(op, d) for d, i in enumerate(op.iterators) if i is sequential)
    ):
        return None
    start = op.inits[0].start
    fill = definitions(graph.block).get(start) if start is not None else None
    if isinstance(fill, GenericOp) and not fill.inputs:
        (instr,) = fill.payload.instrs if len(fill.payload.instrs) == 1 else (None,)
        identity = combiner.identity(op.results[0].type.dtype)
        if instr is not None and instr.op == "const" and instr.attr == identity:
            start = None
    return replace(
        op,
        iterators=tuple(REDUCTION if i is sequential else i for i in op.iterators),
        inits=(replace(op.inits[0], combiner=combiner.name, start=start),),
        payload=replace(payload, instrs=payload.instrs[:-1], results=tuple(terms)),
    )


@primitive
def to_library(handle: H) -> H:
    """The op as a call of BLAS.

    Raises
    ------
    ScheduleError
        If it is one already, or is no product of two matrices or stacks of them.
    """
    op = handle.op
    if op.library_call is not None:
        why = f"it calls the routine {op.library_call} already"
        raise illegal("to_library()", op.name, why)
    if why := _why_no_matmul(op):
        raise illegal("to_library()", op.name, f"it is no matrix product: {why}")
    return _instead(handle, replace(op, library_call=ROUTINE), "to_library()")


def _instead(handle: H, op: GenericOp, step: str) -> H:
    """Another op that defines the same value."""
    graph = replaced(handle.schedule.graph, handle.op, [op])
    what = f"{op.name} calls {op.library_call or 'no routine'}"
    return handle.after(step, "reassoc", what, graph, op, check=False)


def _why_no_matmul(op: GenericOp) -> str:
    """Why an op is not what the routine computes, or the empty text."""
    rank = len(op.iterators)
    is_product = rank > 2 and op.iterators == (*(PARALLEL,) * (rank - 1), REDUCTION)
    if not is_product or len(op.inputs) != 2 or len(op.inits) != 1:
        return f"its iterators are {', '.join(i.value for i in op.iterators)}"
    init = op.inits[0]
    maps = (*(o.map for o in op.inputs), init.map)
    *batch, m, n, k = range(rank)
    wanted = [IndexingMap.select(rank, [*batch, *axes]) for axes in ((m, k), (k, n), (m, n))]
    if list(maps) != wanted:
        return f"its maps are {', '.join(map(str, maps))}"
    dtype: np.dtype = op.results[0].type.dtype
    if dtype not in (np.dtype("f4"), np.dtype("f8")) or {*op.payload.arguments} != {dtype}:
        return f"its dtypes are {', '.join(map(str, op.payload.arguments))}"
    if init.combiner != "add" or op.payload != binary_payload("multiply", dtype):
        return f"it combines {op.payload} by {init.combiner}"
    return "" if init.start is None else "its result starts from an array"
