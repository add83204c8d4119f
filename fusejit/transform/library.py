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
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import IteratorType
from fusejit.transform.base import H
from fusejit.transform.errors import illegal
from fusejit.transform.rules import replaced

PARALLEL, REDUCTION = IteratorType.PARALLEL, IteratorType.REDUCTION

ROUTINE = "matmul"


def generalize(handle: H) -> H:
    """The op as loops, if it calls a routine.

    Raises
    ------
    ScheduleError
        If it calls none.
    """
    op = handle.op
    if op.library_call is None:
        raise illegal("generalize()", op.name, "it is computed by loops already")
    return _instead(handle, replace(op, library_call=None, is_named=False), "generalize()")


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
    builder = PayloadBuilder([dtype, dtype], [dtype])
    product = builder.finish([builder.op("multiply", [0, 1], dtype)])
    if init.combiner != "add" or op.payload != product:
        return f"it combines {op.payload} by {init.combiner}"
    return "" if init.start is None else "its result starts from an array"
