"""What a scatter computes at one point: its subscripts and its value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fusejit.codegen.placement import Placement
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Operand, Scatter
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import I64, Instr, Payload, PayloadBuilder


def operand_maps(op: Scatter) -> Iterator[IndexingMap]:
    """From the value's dims to each of the scatter's operands: the value, then the integers."""
    yield IndexingMap.identity(op.value.type.rank)
    for subscript in op.subscripts:
        if isinstance(subscript, Operand):
            yield subscript.map


def scatter_payload(
    op: Scatter, operands: Sequence[Operand], placement: Placement
) -> tuple[Payload, tuple[Operand, ...]]:
    """The payload that yields one subscript per axis of the view, then the value.

    ``operands`` are the value and the integers, as `operand_maps` orders them. Those that the
    scatter alone reads are computed in the payload from what their ops read.
    """
    inputs: list[Operand] = []
    starts: list[int] = []
    for operand in operands:
        starts.append(len(inputs))
        producer = placement.scattered.get(operand.value)
        if producer is None:
            inputs.append(operand)
        else:
            inputs += [Operand(o.value, o.map.compose(operand.map)) for o in producer.inputs]
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], [])
    refs: list[int] = []
    for operand, start in zip(operands, starts, strict=True):
        producer = placement.scattered.get(operand.value)
        if producer is None:
            refs.append(start)
            continue
        shift, to_producer = start, operand.map.results

        def moved(
            instr: Instr, shift: int = shift, dims: Sequence[AffineExpr] = to_producer
        ) -> Instr:
            if instr.op == "index":
                return replace(instr, attr=instr.attr.substitute(list(dims)))
            return replace(instr, attr=instr.attr + shift) if instr.op == "extract" else instr

        arguments = [*range(start, start + len(producer.inputs)), None]
        refs += builder.inline(producer.payload, arguments, moved)
    integers = iter(refs[1:])
    results = [
        builder.index(subscript)
        if isinstance(subscript, AffineExpr)
        else _counted(builder, next(integers), extent, op.from_start)
        for subscript, extent in zip(op.subscripts, op.view.extents, strict=True)
    ]
    return builder.finish([*results, refs[0]]), tuple(inputs)


def _counted(builder: PayloadBuilder, ref: int, extent: AffineExpr, from_start: bool) -> int:
    """An integer as an index from the start of its axis."""
    return builder.cast(ref, I64) if from_start else builder.subscript(ref, extent)
