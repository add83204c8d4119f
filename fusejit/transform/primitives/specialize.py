"""`specialize`: a generic op is the op of linalg that it computes.

>>> h = schedule(lambda a, b: a + b, np.ones((3, 4)), np.ones((3, 4)))["add"].interchange("j i")
>>> print(h.show())
%v2 = generic "add" domain (s1, s0) ins (%v0 [(d0, d1) -> (d1, d0)], %v1 [(d0, d1) -> (d1, d0)])
    outs (write [(d0, d1) -> (d1, d0)]) { t0 = add in0, in1 : f64; yield t0 } : s0 x s1 x f64
>>> print(h.specialize().show())
%v2 = generic "add" domain (s0, s1) ins (%v0, %v1) outs (write) { t0 = add in0, in1 : f64; yield
    t0 } : s0 x s1 x f64

Rule: maps, iterator types, combiner and payload are those of the named op, up to the names and the
order of dims, and the order of inputs and of commuting operands. Dims and inputs take the order of
the named op. Names do not count, and neither does the number of dims alone: MLIR's
``transform.structured.specialize``, the source, once took other ops for ``mmt4d``. The way back is
`generalize`. ``fusejit.mlir`` exports the op under its name.
"""

from __future__ import annotations

from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import reassociates, replaced, require_loops
from fusejit.ir.ops import base_name
from fusejit.mlir.export.match_named import as_named
from fusejit.mlir.export.named import named_form
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call


@primitive
def specialize(handle: H, *, reassociate: bool = False, check: bool = True) -> H:
    """Name the op of linalg that the op is.

    Parameters
    ----------
    reassociate : bool, optional
        True: dims along which floats are summed may change places.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If it has that name already, or is no named op.
    """
    step, op = call("specialize"), handle.op
    require_loops(op, step)
    if named_form(op) is not None:
        raise illegal(step, op.name, f"it is linalg.{op.name} already")
    found = as_named(op)
    if found is None:
        maps = ", ".join(str(m) for m in (*(o.map for o in op.inputs), op.inits[0].map))
        raise illegal(step, op.name, f"no op of linalg has the maps {maps} and this payload")
    reduced = [d for d in found.dims if d in op.reduction_dims]
    changes_order = reduced != sorted(reduced) and reassociates(op)
    if changes_order and not reassociate:
        names = " and ".join(handle.dims[d] for d in reduced)
        why = f"linalg.{found.op.name} sums {names} in this order, which shows in the bits"
        raise illegal(step, op.name, why, ["reassociate=True"])
    graph = replaced(handle.schedule.graph, op, [found.op])
    what = f"{base_name(op.name)} is linalg.{found.op.name}"
    dims = [handle.dims[d] for d in found.dims]
    tag = "reassoc" if changes_order else "bits"
    return handle.after(step, tag, what, graph, found.op, check=check, dims=dims)
