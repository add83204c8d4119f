"""Operands of an op by name, and copies of them in another layout or with a border.

A copy is an op of its own, which the automatic pipeline leaves in memory
(``GenericOp.is_materialized``); `rematerialize` folds it into its reader again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.fuse.tiling.illegal import illegal
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Load, Op, Operand, ViewOp, base_name, walk
from fusejit.ir.payload import I64, Payload, PayloadBuilder, identity_payload, iterate_refs
from fusejit.ir.source import Location
from fusejit.ir.types import BOOL, TensorType
from fusejit.ir.values import Value
from fusejit.transform.core.base import BaseHandle

LETTERS = "abcdefgh"


def operand_number(handle: BaseHandle, operand: str, step: str) -> int:
    """The number of an input that is named by its position or by what it is.

    ``a`` is the first input, ``b`` the second one. An input is also named by the argument of the
    function that it is part of, or by the op that computes it.

    Raises
    ------
    ScheduleError
        If no input, or more than one, is meant.
    """
    op, block = handle.op, handle.schedule.graph.block
    sources = {value: o for o in walk(block) for value in o.results}
    names = [name_of(o.value, sources) for o in op.inputs]
    if why := why_no_operands(op):
        raise illegal(step, op.name, why)
    found = {k for k, name in enumerate(names) if operand in (LETTERS[k : k + 1], name)}
    if len(found) != 1:
        what = "several operands are" if found else "no operand is"
        known = [f"{LETTERS[k : k + 1]} ({name})" for k, name in enumerate(names)]
        raise illegal(step, op.name, f"{what} named {operand!r}", known)
    return found.pop()


def why_no_operands(op: GenericOp) -> str:
    """Why no operand may have another layout, or the empty text."""
    if op.library_call is not None:
        return f"the routine {op.library_call} takes its operands as they are; generalize() first"
    if op.payload.has_extract():
        return "it gathers, so that the elements it reads are not known"
    return ""


def name_of(value: Value, sources: dict[Value, Op]) -> str:
    """The argument that a value is part of, or the op that computes it."""
    source = sources.get(value)
    while isinstance(source, ViewOp):
        value = source.source
        source = sources.get(value)
    if isinstance(source, Load):
        return source.view.buffer.name
    return base_name(source.name) if isinstance(source, GenericOp) else value.name


def copied(
    source: Value,
    name: str,
    reads: Sequence[AffineExpr],
    extents: Sequence[AffineExpr],
    location: Location,
    *,
    bounds: Sequence[AffineExpr | None] | None = None,
    number: object = 0,
) -> GenericOp:
    """An op that copies: ``result[p] = source[reads(p)]``.

    Parameters
    ----------
    bounds : sequence of AffineExpr or None, optional
        For each axis of the source the subscript from which ``number`` is copied instead; None
        where no subscript of the axis is that large.
    number : optional
        The number outside the bounds.
    """
    rank, dtype = len(extents), source.type.dtype
    read_map, payload = IndexingMap(rank, tuple(reads)), identity_payload(dtype)
    if bounds is not None and any(b is not None for b in bounds):
        payload = _guarded(dtype, reads, bounds, number)
        read_map = IndexingMap(rank, (AffineExpr.const(0),) * len(reads))
    result = Value(f"{source.name}_{name}", TensorType(dtype, tuple(extents)))
    inputs = [Operand(source, read_map)]
    return elementwise(result, inputs, payload, name, location, is_materialized=True)


def _guarded(
    dtype: np.dtype,
    reads: Sequence[AffineExpr],
    bounds: Sequence[AffineExpr | None],
    number: object,
) -> Payload:
    """The payload that extracts an element within the bounds, or yields the number."""
    builder = PayloadBuilder([dtype], [dtype])
    inside: int | None = None
    subscripts: list[int] = []
    for read, bound in zip(reads, bounds, strict=True):
        ref = builder.index(read)
        if bound is not None:
            last = builder.op("minimum", [ref, builder.index(bound - 1)], I64)
            test = builder.op("equal", [ref, last], BOOL)
            inside = test if inside is None else builder.op("logical_and", [inside, test], BOOL)
            ref = last
        subscripts.append(ref)
    assert inside is not None
    element = builder.extract(0, subscripts, dtype)
    return builder.finish(
        [builder.op("select", [inside, element, builder.const(number, dtype)], dtype)]
    )


def copied_from(
    op: GenericOp,
) -> tuple[Value, list[AffineExpr], list[AffineExpr | None]] | None:
    """The source, the subscripts and the bounds of an op that `copied` has made; None of others."""
    if len(op.inputs) != 1 or len(op.inits) != 1 or not op.is_materialized:
        return None
    if not op.is_elementwise or not op.inits[0].map.is_identity:
        return None
    (operand,), payload = op.inputs, op.payload
    if payload == identity_payload(operand.value.type.dtype):
        return operand.value, [*operand.map.results], [None] * operand.map.rank
    extracts = [i for i in payload.instrs if i.op == "extract"]
    instrs = dict(iterate_refs(payload))
    last = instrs.get(payload.results[0])
    if len(extracts) != 1 or last is None or last.op != "select":
        return None
    if instrs.get(last.operands[1]) is not extracts[0]:
        return None
    reads: list[AffineExpr] = []
    bounds: list[AffineExpr | None] = []
    for ref in extracts[0].operands:
        parts = [instrs[o] for o in instrs[ref].operands] or [instrs[ref]]
        if any(part.op != "index" for part in parts):
            return None
        reads.append(parts[0].attr)
        bounds.append(parts[1].attr + 1 if len(parts) == 2 else None)
    return operand.value, reads, bounds
