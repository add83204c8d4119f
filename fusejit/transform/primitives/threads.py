"""`threads`: the tiles of a loop are computed by several threads.

>>> h = schedule(lambda a: a + 1, np.ones(30))["add"].tile(i=8)
>>> print(h.show().splitlines()[0])
for i_0 = 0 to (s0 + 7) floordiv 8 step 1 tiles (i_1 max 8 of s0) {
>>> print(h.threads("i.0").show().splitlines()[0])
for i_0 = 0 to (s0 + 7) floordiv 8 step 1 parallel tiles (i_1 max 8 of s0) {

Rule: each tile writes elements of its own: the dim of the loop is parallel. Source: MLIR's
``tile_using_forall``, which takes reduced dims too and lets threads race.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import loop_of, replaced
from fusejit.transform.core.arguments import Names, names, primitive
from fusejit.transform.core.base import H, call


@primitive
def threads(handle: H, *loops: Names) -> H:
    """Let several threads compute the tiles of loops.

    Raises
    ------
    ScheduleError
        If there is no such loop, its tiles write the same elements, or nothing would change.
    """
    given, graph, op = names(loops), handle.schedule.graph, handle.op
    step = call("threads", *given)
    known = handle.schedule.loops
    legal = [f'threads("{name}")' for name, info in known.items() if info.is_parallel]
    for name in given:
        if name not in known:
            raise illegal(step, op.name, f"there is no loop {name}", legal)
        if not known[name].is_parallel:
            why = f"the tiles of {name} are combined into the same elements"
            raise illegal(step, op.name, why, legal)
        loop = loop_of(graph, known[name].symbol)
        if not loop.is_parallel:
            graph = replaced(graph, loop, [replace(loop, is_parallel=True)])
    if graph is handle.schedule.graph:
        raise illegal(step, op.name, "nothing would change", legal)
    what = f"threads share {', '.join(given)}"
    return handle.after(step, "bits", what, graph, op, check=False)
