"""`fuse`: compute what a tile reads of a producer inside the loops around the tile.

>>> h = schedule(lambda a: np.exp(a).sum(axis=1), np.ones((3, 4)))["sum"].tile(i=2)
>>> print(h.show())
for i_0 = 0 to (s0 + 1) floordiv 2 step 1 tiles (i_1 max 2 of s0) {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = const 2 : i64; t1 = index (-2 *
      i_0 + s0) : i64; t2 = minimum t0, t1 : i64; yield t2 } : i64 python
  bind i_1 = %i_1 local
  %v1_slice = view %v1 [(d0, d1) -> (d0 + 2 * i_0, d1)] : i_1 x s1 x f64
  %v2_tile = generic "sum" domain (i_1, s1) iterators (parallel, reduction) ins (%v1_slice) outs
      (add [(d0, d1) -> (d0)]) { yield in0 } : i_1 x f64
  store @v2 v2 [(d0) -> (d0 + 2 * i_0)] (i_1) = %v2_tile
}
>>> print(h.fuse("exp").show())
for i_0 = 0 to (s0 + 1) floordiv 2 step 1 tiles (i_1 max 2 of s0) {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = const 2 : i64; t1 = index (-2 *
      i_0 + s0) : i64; t2 = minimum t0, t1 : i64; yield t2 } : i64 python
  bind i_1 = %i_1 local
  %v0_slice = view %v0 [(d0, d1) -> (d0 + 2 * i_0, d1)] : i_1 x s1 x f64
  %v1_slice = generic "exp" domain (i_1, s1) ins (%v0_slice) outs (write) { t0 = exp in0 : f64;
      yield t0 } : i_1 x s1 x f64
  %v2_tile = generic "sum" domain (i_1, s1) iterators (parallel, reduction) ins (%v1_slice) outs
      (add [(d0, d1) -> (d0)]) { yield in0 } : i_1 x f64
  store @v2 v2 [(d0) -> (d0 + 2 * i_0)] (i_1) = %v2_tile
}

Rule: the producer writes each element of its result once, so that a slice of the result tells the
part of the domain. Loops that the slice does not depend on compute it again each time, and so do
slices that overlap; the log has the factor of that. A producer that others read stays where it is
as well. Source: MLIR's ``fuse_into_containing_op``.
"""

from __future__ import annotations

from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.move_into_loops import FusionResult, moved_into_loops
from fusejit.fuse.tiling.rules import reassociates
from fusejit.ir.ops import GenericOp, base_name
from fusejit.transform.core.arguments import OpNames, op_names, primitive
from fusejit.transform.core.base import BaseHandle, H, call
from fusejit.transform.core.costs import estimate

MAX_RECOMPUTED = 16
"""How many times as much may be computed without being asked for."""


@primitive
def fuse(handle: H, *producers: OpNames, recompute: bool = False, check: bool = True) -> H:
    """Compute what the loops around the op read of producers inside these loops, in turn.

    Parameters
    ----------
    *producers : str, Handle or list of these
        The producers.
    recompute : bool, optional
        True: a producer may be computed more than `MAX_RECOMPUTED` times as often as before.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If no loop is around the op, nothing there reads a slice of a producer, a producer does not
        write each element once, or too much would be computed again.
    """
    if not producers:
        raise illegal("fuse()", handle.op.name, "no producer is given")
    for producer in op_names(handle, producers):
        handle = _fuse(handle, producer, recompute, check)
    return handle


def _fuse(handle: H, producer: str, recompute: bool, check: bool) -> H:
    step = call("fuse", producer, **({"recompute": True} if recompute else {}))
    moved = handle[producer].op
    fused = moved_into_loops(handle.schedule.graph, handle.op, moved, step)
    what = f"{producer} in the loops around {base_name(handle.op.name)}"
    if fused.recomputed:
        names = {info.symbol: name for name, info in handle.schedule.loops.items()}
        loops = ", ".join(names.get(symbol, symbol) for symbol in fused.recomputed)
        what += f", computed again for each {loops}"
    if fused.is_duplicated:
        what += ", and outside, where others read it"
    factor = _recomputed(handle, moved, fused)
    if factor is not None:
        what += f", recompute x{factor:.2f}"
    if factor is not None and factor > MAX_RECOMPUTED and not recompute:
        why = f"{producer} would be computed {factor:.0f} times as often as now"
        raise illegal(step, handle.op.name, why, ["recompute=True", "larger tiles"])
    tag = "reassoc" if moved.library_call and reassociates(moved) else "bits"
    found_at = {} if fused.is_duplicated else {moved.results[0]: fused.slices[0]}
    return handle.after(step, tag, what, fused.graph, handle.op, check=check, moved=found_at)


def _recomputed(handle: BaseHandle, producer: GenericOp, fused: FusionResult) -> float | None:
    """How many times as many points of a producer are computed, if the sizes are known."""
    sizes = handle.schedule.sizes
    before = estimate(handle.schedule.graph, sizes).points.get(producer, 0) if sizes else 0
    after = estimate(fused.graph, sizes).points.items() if before else ()
    made = {*fused.slices, *producer.results}
    total = sum(points for op, points in after if made & {*op.results})
    return total / before if before else None
