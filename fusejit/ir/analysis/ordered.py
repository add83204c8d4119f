"""Whether the order of a reduction shows in the bits of its results."""

from __future__ import annotations

from fusejit.ir.ops import GenericOp
from fusejit.ir.scalar_ops.combiners import COMBINERS


def is_ordered(op: GenericOp) -> bool:
    """Whether the order in which the op combines shows in its bits."""
    return any(
        init.combiner is not None and r.type.dtype.kind in COMBINERS[init.combiner].ordered
        for init, r in zip(op.inits, op.results, strict=True)
    )
