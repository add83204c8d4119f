"""`fold_unit_dims`: dims of extent 1 are dropped.

>>> h = schedule(lambda a: np.exp(a[:, None] + 1), np.ones(3))["exp"]
>>> print(h.show())
%v3 = generic "exp" domain (s0, 1) ins (%v2) outs (write) { t0 = exp in0 : f64; yield t0 } : s0
    x 1 x f64
>>> print(h.fold_unit_dims().show())
%v3 = generic "exp" domain (s0) ins (%v2 [(d0) -> (d0, 0)]) outs (write [(d0) -> (d0, 0)]) { t0
    = exp in0 : f64; yield t0 } : s0 x 1 x f64

Rule: operands are read at index 0 of these dims, and keep their axes. The last reduced dim stays,
because the result starts from the identity of its combiner. Source: MLIR's
``linalg-fold-unit-extent-dims``.
"""

from __future__ import annotations

from fusejit.fuse.reshaping.unit_dims import unit_dims, without_dims
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import replaced, require_loops
from fusejit.ir.ops import base_name
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H


@primitive
def fold_unit_dims(handle: H, *, check: bool = True) -> H:
    """Drop the dims of extent 1.

    Parameters
    ----------
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If no dim can be dropped.
    """
    step, op = "fold_unit_dims()", handle.op
    require_loops(op, step)
    dims = unit_dims(op)
    if not dims:
        raise illegal(step, op.name, "no dim has extent 1 and may be dropped")
    new = without_dims(op, dims)
    names = [n for d, n in enumerate(handle.dims) if d not in dims]
    what = f"{base_name(op.name)} without {', '.join(handle.dims[d] for d in dims)}"
    graph = replaced(handle.schedule.graph, op, [new])
    return handle.after(step, "bits", what, graph, new, check=check, dims=names)
