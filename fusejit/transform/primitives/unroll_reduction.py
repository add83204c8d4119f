"""`unroll_reduction`: the payload combines all points of small reduced dims.

>>> h = schedule(lambda a: a[:, :2].sum(axis=1), np.ones((3, 4)))["sum"]
>>> print(h.show())
%v0 = generic "sum" domain (s0, 2) iterators (parallel, reduction) ins (%v2) outs (add [(d0, d1)
    -> (d0)]) { yield in0 } : s0 x f64
>>> print(h.unroll_reduction("j").show())
%v0 = generic "sum" domain (s0) ins (%v2 [(d0) -> (d0, 0)], %v2 [(d0) -> (d0, 1)]) outs (write)
    { t0 = add in0, in1 : f64; t1 = const 0.0 : f64; t2 = add t1, t0 : f64; yield t2 } : s0 x
    f64

Rule: the dims are reduced and have known extents, with at most 64 points in all. Terms are combined
in the order in which the reduction combines them. Where that shows in the bits, all dims are summed
as one: some of them alone are unrolled with ``reassociate=True``. What is left has fewer loops,
and is elementwise if no reduced dim is left. Source: MLIR's ``transform.loop.unroll``.
"""

from __future__ import annotations

from math import prod

from fusejit.fuse.reshaping.unroll import unrolled, why_not_unrolled
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import is_reduced, reassociates, replaced, require_loops
from fusejit.ir.ops import base_name
from fusejit.transform.core.arguments import Names, names, primitive
from fusejit.transform.core.base import H, call

MAX_POINTS = 64


@primitive
def unroll_reduction(handle: H, *dims: Names, reassociate: bool = False, check: bool = True) -> H:
    """Combine all points of reduced dims in the payload.

    Parameters
    ----------
    *dims : str or list of str
        Reduced dims of known extents.
    reassociate : bool, optional
        True: floats may be summed in another order.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If a dim is not reduced or its extent is not known, there are too many points, or another
        order shows in the bits.
    """
    given, op = names(dims), handle.op
    step = call("unroll_reduction", *given)
    legal = [f'"{n}"' for d, n in enumerate(handle.dims) if is_reduced(op, d)]
    if not given:
        raise illegal(step, op.name, "no dim is given", legal)
    numbers = sorted({handle.dim(name, step) for name in given})
    require_loops(op, step)
    if why := why_not_unrolled(op):
        raise illegal(step, op.name, why)
    for d in numbers:
        if not is_reduced(op, d):
            raise illegal(step, op.name, f"{handle.dims[d]} is not reduced", legal)
        if not op.domain[d].as_constant():
            why = f"{handle.dims[d]} has extent {op.domain[d]}, which is no known number above 0"
            raise illegal(step, op.name, why)
    points = prod(op.domain[d].constant for d in numbers)
    if points > MAX_POINTS:
        why = f"{points} points are too many for one payload: at most {MAX_POINTS} are combined"
        raise illegal(step, op.name, why, ["tile first"])
    keeps_order = len(numbers) == len(op.reduction_dims) or not reassociates(op)
    if not keeps_order and not reassociate:
        summed = [handle.dims[d] for d in op.reduction_dims]
        why = (
            f"{', '.join(summed)} are summed as one, and the order of a float sum shows in its bits"
        )
        every = ", ".join(f'"{name}"' for name in summed)
        raise illegal(step, op.name, why, [f"unroll_reduction({every})", "reassociate=True"])
    new = unrolled(op, numbers)
    graph = replaced(handle.schedule.graph, op, [new])
    left = [n for d, n in enumerate(handle.dims) if d not in numbers]
    what = f"{points} points of {base_name(op.name)} in its payload"
    tag = "bits" if keeps_order else "reassoc"
    return handle.after(step, tag, what, graph, new, check=check, dims=left)
