"""Each extent with one symbol, also where it was used before two were found to be equal."""

from __future__ import annotations

import functools
from collections.abc import Callable

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Assert, GenericOp, Load, Loop, Op, Operand, Scatter, ViewOp, Write, walk
from fusejit.ir.types import TensorType
from fusejit.ir.values import View
from fusejit.tracer.builder.trace import Trace

Canonical = Callable[[AffineExpr], AffineExpr]


# ------------------------------------------------------------------------------- equal symbols
def substitute_equal_symbols(trace: Trace) -> None:
    """Write each extent with one symbol, also where it was used before the decision was taken."""
    trace.decisions.forget_checked()
    if not trace.decisions.equalities:
        return
    canonical = functools.cache(trace.decisions.canonical)
    graph = trace.graph
    for buffer in graph.buffers:
        buffer.type = _canonical_type(buffer.type, canonical)
    for op in walk(graph.block):
        for value in op.results:
            value.type = _canonical_type(value.type, canonical)
        _canonicalize_op(op, canonical)
    graph.results = tuple(
        _canonical_view(r, canonical) if isinstance(r, View) else r for r in graph.results
    )


def _canonicalize_op(op: Op, canonical: Canonical) -> None:
    if isinstance(op, GenericOp):
        op.domain = tuple(map(canonical, op.domain))
        op.inputs = tuple(Operand(o.value, _canonical_map(o.map, canonical)) for o in op.inputs)
        op.inits = tuple(replace(i, map=_canonical_map(i.map, canonical)) for i in op.inits)
        instrs = tuple(
            replace(i, attr=canonical(i.attr)) if i.op == "index" else i for i in op.payload.instrs
        )
        op.payload = replace(op.payload, instrs=instrs)
    elif isinstance(op, ViewOp):
        op.map = _canonical_map(op.map, canonical)
    elif isinstance(op, Assert) and op.shown is not None:
        at = op.shown
        index = canonical(at.index) if isinstance(at.index, AffineExpr) else at.index
        op.shown = replace(at, index=index, size=canonical(at.size))
    elif isinstance(op, Loop):
        op.lower = None if op.lower is None else canonical(op.lower)
        op.upper = None if op.upper is None else canonical(op.upper)
        for value in op.body.arguments:
            value.type = _canonical_type(value.type, canonical)
    elif isinstance(op, Load | Write):
        op.view = _canonical_view(op.view, canonical)
        if isinstance(op, Scatter):
            op.subscripts = tuple(
                Operand(s.value, _canonical_map(s.map, canonical))
                if isinstance(s, Operand)
                else canonical(s)
                for s in op.subscripts
            )


def _canonical_type(type_: TensorType, canonical: Canonical) -> TensorType:
    return TensorType(type_.dtype, tuple(map(canonical, type_.extents)))


def _canonical_map(map_: IndexingMap, canonical: Canonical) -> IndexingMap:
    return IndexingMap(map_.num_dims, tuple(map(canonical, map_.results)))


def _canonical_view(view: View, canonical: Canonical) -> View:
    extents = tuple(map(canonical, view.extents))
    return View(view.buffer, _canonical_map(view.map, canonical), extents)
