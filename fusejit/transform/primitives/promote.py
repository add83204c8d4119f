"""`promote`: copy the slice of an operand that a tile reads into dense memory, and read it there.

>>> h = schedule(lambda x, y: x + y.T, *2 * [np.ones((30, 30))])["add"].tile(i=8)
>>> print(h.promote("y").show())
for i_0 = 0 to (s0 + 7) floordiv 8 step 1 {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = index (-8 * i_0 + s0) : i64; t1 =
      const 8 : i64; t2 = minimum t1, t0 : i64; yield t2 } : i64 python
  bind i_1 = %i_1
  %v0_slice = view %v0 [(d0, d1) -> (d0 + 8 * i_0, d1)] : i_1 x s1 x f64
  %v2_slice = view %v2 [(d0, d1) -> (d0 + 8 * i_0, d1)] : i_1 x s1 x f64
  %v2_slice_copy = generic "copy" domain (i_1, s1) ins (%v2_slice) outs (write) materialized {
      yield in0 } : i_1 x s1 x f64
  %v3_tile = generic "add" domain (i_1, s1) ins (%v0_slice, %v2_slice_copy) outs (write) { t0 =
      add in0, in1 : f64; yield t0 } : i_1 x s1 x f64
  store @v3 v2 [(d0, d1) -> (d0 + 8 * i_0, d1)] (i_1, s1) = %v3_tile
}

Rule: all that tells the slice, its beginning and its extents, is known where the copy is made; what
is copied is a value, so that nothing writes to it. The copy is made for each iteration of the loop
in which it stands: before ``tile(m=..)`` once for all tiles of m, after it for each. Source: MLIR's
``transform.structured.promote``, TVM's ``cache_read``.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Block, GenericOp, Op, ViewOp, walk
from fusejit.transform.core.base import BaseHandle, H, call
from fusejit.transform.core.errors import illegal
from fusejit.transform.core.operands import copied, operand_number
from fusejit.transform.core.rules import enclosing, replaced, symbols_defined


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
