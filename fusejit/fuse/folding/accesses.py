"""Which elements of which memory the ops of a block read and write.

    %a = load @a v0 : s0 x s1 x f64
    %r = generic domain (s1) ins (%a [(d0) -> (i0, d0)]) { .. }      reads  @a[i0, d0], d0 < s1
    store @b v1 [() -> (i0)] () = %r                                 writes @b[i0]

A load covers its whole view, but what is read of it is what its users ask for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Block,
    GenericOp,
    Load,
    Op,
    Operand,
    ReshapeOp,
    Scatter,
    ViewOp,
    Write,
    walk,
)
from fusejit.ir.source import Location
from fusejit.ir.values import Buffer, Value

Subscripts = tuple[AffineExpr | None, ...]
"""One expression per axis, over dims of `Access.extents`; None where only the kernel knows."""


@dataclass(frozen=True, slots=True)
class Access:
    """Elements ``buffer[subscripts]`` for all dims within ``extents``, read or written."""

    buffer: Buffer
    subscripts: Subscripts
    extents: tuple[AffineExpr, ...]
    is_store: bool
    location: Location


def accesses(block: Block, defined: Mapping[Value, Op]) -> Iterator[Access]:
    """Every read and every write of memory in a block and the blocks inside it.

    ``defined`` has the ops that define the values of the graph.
    """
    for op in walk(block):
        if isinstance(op, ViewOp | ReshapeOp):
            continue
        for value, map, domain in _operands(op):
            yield from _read(value, map, domain, op.location, defined)
        if isinstance(op, Write):
            yield _written(op)
        for inner in op.blocks:
            yield from _yielded(inner, op.location, defined)
    if block.ops:
        yield from _yielded(block, block.ops[-1].location, defined)


def _yielded(block: Block, location: Location, defined: Mapping[Value, Op]) -> Iterator[Access]:
    for value in block.yields:
        yield from _read(value, *_whole(value), location, defined)


def _whole(value: Value) -> tuple[IndexingMap, tuple[AffineExpr, ...]]:
    return IndexingMap.identity(value.type.rank), value.type.extents


def _operands(op: Op) -> Iterator[tuple[Value, IndexingMap, Sequence[AffineExpr]]]:
    """What an op reads: a value, and the map from a domain to the elements that it reads."""
    if not isinstance(op, GenericOp):
        for value in op.operand_values:
            yield (value, *_whole(value))
        return
    gathered = op.payload.gathered()
    for at, operand in enumerate(op.inputs):
        if at in gathered:
            yield (operand.value, *_whole(operand.value))
        else:
            yield operand.value, operand.map, op.domain
    for init in op.inits:
        if init.start is not None:
            yield (init.start, *_whole(init.start))


def _read(
    value: Value,
    map: IndexingMap,
    domain: Sequence[AffineExpr],
    location: Location,
    defined: Mapping[Value, Op],
) -> Iterator[Access]:
    """The elements of memory behind a value, if it is a load or a view of one."""
    known = True
    op = defined.get(value)
    while isinstance(op, ViewOp | ReshapeOp):
        if isinstance(op, ViewOp) and known:
            map = op.map.compose(map)
        else:
            known = False
        op = defined.get(op.source)
    if isinstance(op, Load):
        rank = op.view.buffer.type.rank
        subscripts: Subscripts = (None,) * rank
        if known:
            subscripts = op.view.map.compose(map).results
        yield Access(op.view.buffer, subscripts, tuple(domain), False, location)


def _written(op: Write) -> Access:
    if not isinstance(op, Scatter):
        return Access(op.view.buffer, op.view.map.results, op.view.extents, True, op.location)
    known = [s for s in op.subscripts if not isinstance(s, Operand)]
    extents = op.value.type.extents
    if len(known) == len(op.subscripts):
        inner = IndexingMap(len(extents), tuple(known))
        return Access(
            op.view.buffer, op.view.map.compose(inner).results, extents, True, op.location
        )
    scattered = {axis for axis, s in enumerate(op.subscripts) if isinstance(s, Operand)}
    subscripts = tuple(
        None if result.dims() & scattered else result for result in op.view.map.results
    )
    return Access(op.view.buffer, subscripts, op.view.extents, True, op.location)
