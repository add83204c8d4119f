"""`on_domain`: an op over other dims, which tell the old ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import GenericOp, Operand
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
    count = len(domain)
    return replace(
        op,
        domain=tuple(domain),
        iterators=tuple(iterators),
        inputs=tuple(Operand(o.value, o.map.over(count, dims)) for o in op.inputs),
        inits=tuple(replace(i, map=i.map.over(count, dims)) for i in op.inits),
        payload=op.payload.over(dims),
    )
