"""`on_domain`: an op over other dims, which tell the old ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Operand
from fusejit.ir.payload import Instr
from fusejit.ir.types import IteratorType


def on_domain(
    op: GenericOp,
    dims: Mapping[int, AffineExpr],
    domain: Sequence[AffineExpr],
    iterators: Sequence[IteratorType],
) -> GenericOp:
    """The op over another domain: its maps and ``index`` instructions follow.

    Parameters
    ----------
    dims : mapping
        Each old dim as an expression of the new ones.
    domain, iterators : sequence
        Extents and iterator types of the new dims.
    """

    def followed(map: IndexingMap) -> IndexingMap:
        return IndexingMap(len(domain), tuple(r.substitute(dims=dims) for r in map.results))

    def moved(instr: Instr) -> Instr:
        if instr.op != "index":
            return instr
        return replace(instr, attr=instr.attr.substitute(dims=dims))

    return replace(
        op,
        domain=tuple(domain),
        iterators=tuple(iterators),
        inputs=tuple(Operand(o.value, followed(o.map)) for o in op.inputs),
        inits=tuple(replace(i, map=followed(i.map)) for i in op.inits),
        payload=replace(op.payload, instrs=tuple(map(moved, op.payload.instrs))),
    )
