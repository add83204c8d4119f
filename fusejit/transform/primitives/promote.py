"""`promote`: copy the slice of an operand that a tile reads into dense memory, and read it there.

>>> h = schedule(lambda x, y: x[:8] + y.T[:8], *2 * [np.ones((30, 30))])["add"].tile(i=4)
>>> print(h.promote("y").show())
for i_0 = 0 to 2 step 1 {
  %v1_slice = view %v1 [(d0, d1) -> (d0 + 4 * i_0, d1)] : 4 x s1 x f64
  %v3_slice = view %v3 [(d0, d1) -> (d0 + 4 * i_0, d1)] : 4 x s1 x f64
  %v3_slice_copy = generic "copy" domain (4, s1) ins (%v3_slice) outs (write) materialized {
      yield in0 } : 4 x s1 x f64
  %v4_tile = generic "add" domain (4, s1) ins (%v1_slice, %v3_slice_copy) outs (write) { t0 =
      add in0, in1 : f64; yield t0 } : 4 x s1 x f64
  store @v4 v2 [(d0, d1) -> (d0 + 4 * i_0, d1)] (4, s1) = %v4_tile
}

Rule: all that tells the slice, its beginning and its extents, is known where the copy is made; what
is copied is a value, so that nothing writes to it. The copy is made for each iteration of the loop
in which it stands: before ``tile(m=..)`` once for all tiles of m, after it for each. Source: MLIR's
``transform.structured.promote``, TVM's ``cache_read``.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.new_names import symbols_defined
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import enclosing, replaced
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Block, GenericOp, Op, ViewOp, walk
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import BaseHandle, H, call
from fusejit.transform.core.operands import copied, operand_number


@primitive
def promote(handle: H, operand: str, *, at: str | None = None, check: bool = True) -> H:
    """Copy what the op reads of an operand into dense memory before it reads it.

    Parameters
    ----------
    operand : str
        The operand: an argument, the op that computes it, or ``a`` for the first one.
    at : str, optional
        The loop in whose iterations the copy is made, the innermost one by default.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If there is no such operand or loop, the operand is a copy already, or the slice depends on
        a loop inside.
    """
    step = call("promote", operand, **({} if at is None else {"at": at}))
    op, graph = handle.op, handle.schedule.graph
    number = operand_number(handle, operand, step)
    read = op.inputs[number]
    defining = definitions(graph.block)
    source = defining.get(read.value)
    if isinstance(source, GenericOp) and source.is_materialized:
        raise illegal(step, op.name, f"{operand} is read from memory of its own already")
    before = _place(handle, at, step)
    value, map_ = read.value, IndexingMap.identity(read.value.type.rank)
    extents = read.value.type.extents
    inside = {o for o in walk(Block((), [before])) if o is not op}
    while isinstance(source := defining.get(value), ViewOp) and source in inside:
        value, map_ = source.source, source.map.compose(map_)
    used = map_.symbols().union(*(e.symbols() for e in extents))
    if source in inside or used & symbols_defined(Block((), [before])):
        why = f"its slice of {operand} depends on loops inside {at}"
        raise illegal(step, op.name, why, [f'promote("{operand}")'])
    copy = copied(value, "copy", map_.results, extents, op.location)
    graph = replaced(graph, before, [copy, before])
    inputs = [*op.inputs]
    inputs[number] = replace(read, value=copy.results[0])
    new: GenericOp = replace(op, inputs=tuple(inputs))
    graph = eliminate_dead_ops(replaced(graph, op, [new]))
    what = f"{operand} is copied into {' x '.join(map(str, extents))}"
    return handle.after(step, "bits", what, graph, new, check=check)


def _place(handle: BaseHandle, at: str | None, step: str) -> Op:
    """The op before which a copy is made in the iterations of a loop."""
    op = handle.op
    if at is None:
        return op
    loops, _ = enclosing(handle.schedule.graph, op)
    known = {info.symbol: name for name, info in handle.schedule.loops.items()}
    names = [known.get(loop.induction or "", "") for loop in loops]
    if at not in names:
        legal = [f'at="{name}"' for name in names if name]
        raise illegal(step, op.name, f"no loop {at} is around it", legal)
    return [*loops, op][names.index(at) + 1]
