"""`regrouped`: an op with its dims merged or split, and reshapes around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.dataclass import replace
from fusejit.fuse.reshaping.move_reshapes import is_free
from fusejit.fuse.reshaping.regroup import DimGroup, Refused, Regrouping
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import reassociates, replaced, require_loops
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Operand
from fusejit.transform.core.base import H


def regrouped(
    handle: H,
    group: DimGroup,
    graph: Graph,
    step: str,
    what: str,
    names: Sequence[str],
    *,
    through: Mapping[int, AffineExpr] | None = None,
    reassociate: bool,
    check: bool,
) -> H:
    """Return the op over dims of which one is split, or some are merged.

    Parameters
    ----------
    group : DimGroup
        The dims and their new extents.
    graph : Graph
        The graph, with the symbols of these extents.
    step, what : str
        The step, and what became of the op.
    names : sequence of str
        The names of the dims after it.
    through : mapping, optional
        The old dims as expressions of the new ones, through which inputs are read; None reshapes
        them.
    reassociate, check : bool
        As the step was called.

    Raises
    ------
    ScheduleError
        If a rule of `fusejit.fuse.reshaping.regroup` is broken, or an operand lies in memory so
        that it cannot be reshaped.
    """
    op = handle.op
    require_loops(op, step)
    is_summed = group.dims[0] in op.reduction_dims and reassociates(op)
    if is_summed and not reassociate:
        summed = " and ".join(handle.dims[d] for d in group.dims)
        why = f"{summed} is summed, and the order of a float sum shows in its bits"
        raise illegal(step, op.name, why, ["reassociate=True"])
    given = op if through is None else replace(op, inputs=())
    try:
        regrouping = Regrouping(given, [group], reassociates=reassociate)
    except Refused as refused:
        raise illegal(step, op.name, refused.illegal.reason) from None
    new = regrouping.op
    if through is not None:
        rank = len(new.domain)
        inputs = (Operand(o.value, o.map.over(rank, through)) for o in op.inputs)
        new = replace(new, inputs=tuple(inputs))
    defined = definitions(graph.block)
    for reshape in regrouping.before:
        if not is_free(reshape.source, reshape.reassociation, defined):
            why = f"%{reshape.source.name} would have to be copied"
            raise illegal(step, op.name, why)
    for reshape in regrouping.after:
        (result,), in_order = reshape.results, tuple(range(reshape.results[0].type.rank))
        order = reshape.reassociation.order(reshape.source.order)
        if (order or in_order) != (result.order or in_order):
            why = f"%{result.name} has its axes in another order in memory"
            raise illegal(step, op.name, why)
    graph = replaced(graph, op, [*regrouping.before, new, *regrouping.after])
    tag = "reassoc" if is_summed else "bits"
    return handle.after(step, tag, what, graph, new, check=check, dims=names)
