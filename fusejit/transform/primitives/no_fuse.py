"""`no_fuse`: keep ops apart from others when the automatic passes run after the recipe.

>>> h = schedule(lambda a: np.exp(a) + 1, np.ones(3))["exp"]
>>> print(h.show())
%v1 = generic "exp" domain (s0) ins (%v0) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x
    f64
>>> print(h.no_fuse().show())
%v1 = generic "exp" domain (s0) ins (%v0) outs (write) unfused { t0 = exp in0 : f64; yield t0 }
    : s0 x f64

The mark stays with the op through later steps. Passes that fold, merge or group ops leave a marked
op alone, and in a kernel with a marked op neighbouring loop nests are not merged. `rematerialize`
refuses it as well; `fuse` moves it, since a step is asked for. Source: Halide's ``compute_root``,
which is the default there.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import replaced
from fusejit.transform.core.arguments import OpNames, op_names, primitive
from fusejit.transform.core.base import H, call


@primitive
def no_fuse(handle: H, *others: OpNames) -> H:
    """Keep the op, or the ops that are named, apart from others.

    Parameters
    ----------
    *others : str, Handle or list of these
        Ops; without any, the op of the handle is kept apart.

    Raises
    ------
    ScheduleError
        If nothing would change.
    """
    given, graph = op_names(handle, others), handle.schedule.graph
    step = call("no_fuse", *given)
    ops = [handle[name].op for name in given] or [handle.op]
    for op in ops:
        if op.is_unfused:
            raise illegal(step, op.name, "it is kept apart already")
        graph = replaced(graph, op, [replace(op, is_unfused=True)])
    what = f"{', '.join(op.name for op in ops)} kept apart"
    return handle.after(step, "bits", what, graph, handle.op, check=False)
