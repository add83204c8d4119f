"""Gathers whose subscripts are affine become operands with a map.

Before and after `read_through_maps`::

    %r = generic domain (s0) ins (%x [(d0) -> (0)]) { t0 = index (d0 + 1); yield extract in0[t0] }
    %r = generic domain (s0) ins (%x [(d0) -> (d0 + 1)]) { yield in0 }
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Operand
from fusejit.ir.payload import Payload, PayloadBuilder


def read_through_maps(op: GenericOp, is_there: bool = False) -> GenericOp:
    """The op with an input for each element that it extracts at affine subscripts.

    What was gathered from stays an input, even if nothing reads it any more. The same object if
    there is no such gather. With ``is_there`` the elements are known to exist even where the domain
    has no points, as those of an operand are: text that was written from one is read back.
    """
    payload = op.payload
    inputs = list(op.inputs)
    place: dict[int, int] = {}  # number of an instruction -> the input that it is
    for at, instr in enumerate(payload.instrs):
        if instr.op != "extract":
            continue
        known = [affine_subscript(payload, o) for o in instr.operands]
        results = tuple(e for e in known if e is not None)
        operand = Operand(inputs[instr.attr].value, IndexingMap(len(op.domain), results))
        if len(results) < len(known) or not _fits(op, operand, is_there):
            continue
        if operand not in inputs:
            inputs.append(operand)
        place[at] = inputs.index(operand)
    if not place:
        return op
    num_inits = len(op.inits)
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], payload.inits)
    refs = [*range(payload.num_inputs), *range(len(inputs), len(inputs) + num_inits)]
    for at, instr in enumerate(payload.instrs):
        if at in place:
            refs.append(place[at])
        else:
            operands = tuple(refs[o] for o in instr.operands)
            refs.append(builder.add(replace(instr, operands=operands)))
    new = builder.finish([refs[r] for r in payload.results])
    return replace(op, inputs=tuple(inputs), payload=new)


def affine_subscript(payload: Payload, ref: int) -> AffineExpr | None:
    """An integer of the payload as an affine expression of dims and symbols, if it is one."""
    at = ref - payload.num_arguments
    if at < 0:
        return None
    instr = payload.instrs[at]
    if instr.op == "index":
        expr: AffineExpr = instr.attr
        return expr
    return AffineExpr.const(instr.attr) if instr.op == "const" else None


def _fits(op: GenericOp, operand: Operand, is_there: bool) -> bool:
    """Whether the element may be read where the domain has no points, and nothing was checked.

    No dim is known to be longer than the axis it would be. What does not depend on a dim is read in
    front of its loop: that loop has an iteration if those around the read have one, or the element
    is there in any case.
    """
    used = {d for expr in operand.map.results for d in expr.dims()}
    running = [AffineExpr.const(1), *(op.domain[d] for d in used)]  # 1 at least where it is read
    unused = [extent for d, extent in enumerate(op.domain) if d not in used]
    if not (is_there or _is_there(operand)) and not all(
        any((extent + 1).is_above(shorter) for shorter in running) for extent in unused
    ):
        return False
    for expr, extent in zip(operand.map.results, operand.value.type.extents, strict=True):
        dim = expr.as_dim()
        if dim is not None and op.domain[dim].is_above(extent):
            return False
    return True


def _is_there(operand: Operand) -> bool:
    """Whether all subscripts are constants within the axes."""
    pairs = zip(operand.map.results, operand.value.type.extents, strict=True)
    return all((at + 1).is_above(0) and extent.is_above(at) for at, extent in pairs)
