"""What a scatter computes at one point: its subscripts and its value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fusejit.codegen.bufferize.bufferization import BufferAssignment
from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Operand, Scatter
from fusejit.ir.payload import I64, Instr, Payload, PayloadBuilder
from fusejit.ir.values import Value

_Source = tuple[Value | GenericOp, IndexingMap]
"""What is read or computed, and from which dims."""


def operand_maps(op: Scatter) -> Iterator[IndexingMap]:
    """From the value's dims to each of the scatter's operands: the value, then the integers."""
    yield IndexingMap.identity(op.value.type.rank)
    for subscript in op.subscripts:
        if isinstance(subscript, Operand):
            yield subscript.map


def scatter_payload(
    op: Scatter, operands: Sequence[Operand], assignment: BufferAssignment
) -> tuple[Payload, tuple[Operand, ...]]:
    """The payload that yields one subscript per axis of the view, then the value.

    ``operands`` are the value and the integers, as `operand_maps` orders them. Those that the
    scatter alone reads are computed in the payload from what their ops read.
    """
    inputs: list[Operand] = []
    starts: dict[_Source, int] = {}
    sources: list[_Source] = []
    for operand in operands:
        producer = assignment.scattered.get(operand.value)
        source: _Source = (operand.value if producer is None else producer, operand.map)
        sources.append(source)
        if source in starts:
            continue
        starts[source] = len(inputs)
        if producer is None:
            inputs.append(operand)
        else:
            inputs += [Operand(o.value, o.map.compose(operand.map)) for o in producer.inputs]
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], [])
    computed: dict[_Source, tuple[int, ...]] = {}
    refs: list[int] = []
    for operand, source in zip(operands, sources, strict=True):
        producer, start = assignment.scattered.get(operand.value), starts[source]
        if producer is None:
            refs.append(start)
            continue
        to_producer = operand.map.results

        def moved(
            instr: Instr, shift: int = start, dims: Sequence[AffineExpr] = to_producer
        ) -> Instr:
            if instr.op == "index":
                return replace(instr, attr=instr.attr.substitute(list(dims)))
            return replace(instr, attr=instr.attr + shift) if instr.op == "extract" else instr

        if source not in computed:
            arguments = [
                *range(start, start + len(producer.inputs)),
                *(None for _ in producer.inits),
            ]
            computed[source] = builder.inline(producer.payload, arguments, moved)
        refs.append(computed[source][producer.results.index(operand.value)])
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
