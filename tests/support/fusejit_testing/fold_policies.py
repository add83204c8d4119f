"""Policies of folds for tests of the mechanism: each is a `ControlFusionFn`."""

from __future__ import annotations

from fusejit.fuse.folding.cost import ACCEPT, Accept, Reject
from fusejit.fuse.folding.fold_context import BlockContext
from fusejit.ir.ops import GenericOp


def fold_always(
    producer: GenericOp, operand_index: int, consumer: GenericOp, context: BlockContext
) -> Accept | Reject:
    """Fold whatever is legal, recomputing without regard."""
    return ACCEPT


def fold_single_uses(
    producer: GenericOp, operand_index: int, consumer: GenericOp, context: BlockContext
) -> Accept | Reject:
    """Fold a producer that one operand reads: the default of MLIR's linalg."""
    kept = context.kept_for(producer)
    if kept:
        return Reject("kept anyway", kept)
    uses = len(context.uses(producer))
    if uses != 1:
        return Reject("several uses", f"{uses} operands read it")
    return Accept("one place", "one operand reads it")
