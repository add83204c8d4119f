"""`interchange`: the dims of an op in another order.

>>> h = schedule(lambda a: a.T + 1, np.ones((3, 4)))["add"]
>>> print(h.show())
%v2 = generic "add" domain (s1, s0) ins (%v1) outs (write) { t0 = const 1.0 : f64; t1 = add in0,
    t0 : f64; yield t1 } : s1 x s0 x f64 order(1, 0)
>>> print(h.interchange("j i").show())
%v2 = generic "add" domain (s0, s1) ins (%v1 [(d0, d1) -> (d1, d0)]) outs (write [(d0, d1) ->
    (d1, d0)]) { t0 = const 1.0 : f64; t1 = add in0, t0 : f64; yield t1 } : s1 x s0 x f64
    order(1, 0)

Rule: parallel dims stand anywhere. Reduced dims keep their order among themselves, because the last
one is summed first, unless that does not show in the bits; sequential ones always do. The lowering
orders its loops by the strides of the operands, whatever the order of dims. The step decides what
other steps see: the order in which dims are reduced and `decompose` takes them apart, which dims
are neighbours for `collapse`, and the maps that `to_library` and `specialize` compare.
Source: MLIR's ``transform.structured.interchange``.
"""

from __future__ import annotations

from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import reassociates, replaced, require_loops
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.change_domain import on_domain
from fusejit.ir.ops import base_name
from fusejit.ir.types import IteratorType
from fusejit.transform.core.arguments import Names, names, primitive
from fusejit.transform.core.base import H, call


@primitive
def interchange(handle: H, *order: Names, reassociate: bool = False, check: bool = True) -> H:
    """The op with its dims in another order.

    Parameters
    ----------
    *order : str or list of str
        The names of all dims, the outermost one first: ``"j i k"``.
    reassociate : bool, optional
        True: dims along which floats are summed may change places.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If these are not the dims, dims that are reduced or run in sequence change places, the op
        calls a routine, or nothing would change.
    """
    given, op = names(order), handle.op
    step = call("interchange", " ".join(given))
    if sorted(given) != sorted(handle.dims):
        raise illegal(step, op.name, f"its dims are {' '.join(handle.dims)}, each once")
    places = [handle.dim(name, step) for name in given]
    if places == sorted(places):
        raise illegal(step, op.name, "nothing would change")
    require_loops(op, step)
    in_order = {
        kind: [d for d in places if op.iterators[d] is kind]
        for kind in (IteratorType.SEQUENTIAL, IteratorType.REDUCTION)
    }
    for kind, dims in in_order.items():
        if dims == sorted(dims):
            continue
        found = " and ".join(handle.dims[d] for d in dims)
        if kind is IteratorType.SEQUENTIAL:
            raise illegal(step, op.name, f"{found} run in sequence, and keep their order")
        if reassociates(op) and not reassociate:
            why = f"{found} are summed, and the order of a float sum shows in its bits"
            raise illegal(step, op.name, why, ["reassociate=True"])
    reduced = in_order[IteratorType.REDUCTION]
    tag = "reassoc" if reduced != sorted(reduced) and reassociates(op) else "bits"
    table = {d: AffineExpr.dim(at) for at, d in enumerate(places)}
    domain, iterators = [op.domain[d] for d in places], [op.iterators[d] for d in places]
    new = on_domain(op, table, domain, iterators)
    graph = replaced(handle.schedule.graph, op, [new])
    what = f"{base_name(op.name)} over {', '.join(given)}"
    return handle.after(step, tag, what, graph, new, check=check, dims=given)
