"""`fuse_siblings`: two ops over one domain become one op with the results of both.

>>> h = schedule(lambda a: (np.exp(a), np.sqrt(a)), np.ones(3))["sqrt"]
>>> print(h.show())
%v2 = generic "sqrt" domain (s0) ins (%v0) outs (write) { t0 = sqrt in0 : f64; yield t0 } : s0 x
    f64
>>> print(h.fuse_siblings("exp").show())
%v1, %v2 = generic "sqrt+1" domain (s0) ins (%v0) outs (write, write) { t0 = exp in0 : f64; t1 =
    sqrt in0 : f64; yield t0, t1 } : s0 x f64, s0 x f64

Rule: the ops stand in one block and have equal domains and iterator types. One of them may read the
other at its own points. One moves to the place of the other: nothing between them reads its
results, writes what it reads, or computes it. Source: MLIR's ``transform.loop.fuse_sibling`` and
``linalg`` elementwise fusion with several results.
"""

from __future__ import annotations

from fusejit.fuse.folding.siblings import joined_with_reader, may_move_down, may_move_up, merge
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import replaced, require_loops
from fusejit.ir.ops import base_name
from fusejit.ir.types import IteratorType
from fusejit.transform.core.arguments import op_name, primitive
from fusejit.transform.core.base import BaseHandle, H, call
from fusejit.transform.primitives.rematerialize import context_of


@primitive
def fuse_siblings(handle: H, other: str | BaseHandle, *, check: bool = True) -> H:
    """Compute another op over the same domain in the same op.

    Parameters
    ----------
    other : str or Handle
        The other op.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If it is the op itself, or a rule of the module is broken.
    """
    name, op, old = op_name(handle, other), handle.op, handle.schedule
    step, sibling = call("fuse_siblings", name), old.op_named(name)
    if sibling is op:
        raise illegal(step, op.name, "it is the op itself")
    require_loops(op, step)
    require_loops(sibling, step)
    context = context_of(old.graph, op, old.stage.target)
    if sibling not in context:
        raise illegal(step, op.name, f"{name} stands in another loop")
    if sibling.domain != op.domain or sibling.iterators != op.iterators:
        domains = [f"({', '.join(map(str, o.domain))})" for o in (op, sibling)]
        kinds = [", ".join(i.value for i in o.iterators) for o in (op, sibling)]
        why = f"its domain is {domains[0]} {kinds[0]}, that of {name} {domains[1]} {kinds[1]}"
        raise illegal(step, op.name, why)
    if IteratorType.SEQUENTIAL in op.iterators:
        raise illegal(step, op.name, "it runs in sequence")
    first, last = sorted((op, sibling), key=context.position)
    fused = merge(first, last)
    if any(v in first.results for v in last.operand_values):
        joined = joined_with_reader(first, last, context) if last.is_elementwise else None
        if joined is None:
            why = f"{last.name} reads {first.name} at other points, or after it is complete"
            raise illegal(step, op.name, why)
        fused = joined
    fixed = frozenset(s.name for s in old.graph.symbols)
    if may_move_down(first, last, context):
        place, gone = last, first
    elif not last.payload.has_extract() and may_move_up(last, first, context, fixed):
        place, gone = first, last
    else:
        why = f"neither {first.name} nor {last.name} can move to the other: what is between reads "
        raise illegal(step, op.name, f"{why}or changes what it computes")
    graph = replaced(replaced(old.graph, place, [fused]), gone, [])
    what = f"{base_name(first.name)} and {base_name(last.name)} in one op"
    return handle.after(step, "bits", what, graph, fused, check=check)
