"""`tile`: the same op on slices, inside loops over tiles.

>>> h = schedule(lambda a: np.exp(a), np.ones((3, 4)))["exp"]
>>> print(h.show())
%v1 = generic "exp" domain (s0, s1) ins (%v0) outs (write) { t0 = exp in0 : f64; yield t0 } : s0
    x s1 x f64
>>> print(h.tile(i=2).show())
for i_0 = 0 to (s0 + 1) floordiv 2 step 1 tiles (i_1 max 2 of s0) {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = const 2 : i64; t1 = index (-2 *
      i_0 + s0) : i64; t2 = minimum t0, t1 : i64; yield t2 } : i64 python
  bind i_1 = %i_1 local
  %v0_slice = view %v0 [(d0, d1) -> (d0 + 2 * i_0, d1)] : i_1 x s1 x f64
  %v1_tile = generic "exp" domain (i_1, s1) ins (%v0_slice) outs (write) { t0 = exp in0 : f64;
      yield t0 } : i_1 x s1 x f64
  store @v1 v2 [(d0, d1) -> (d0 + 2 * i_0, d1)] (i_1, s1) = %v1_tile
}

Rule: a tiled dim is parallel, or reduced; the tiles of a reduced dim are combined in order, which
keeps the bits unless the order of the terms shows in them. The last tile is shorter. Sizes stay
symbolic. Source: MLIR's ``transform.structured.tile_using_for``.
"""

from __future__ import annotations

from fusejit.fuse.new_names import unused
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.in_tiles import Parts, in_tiles
from fusejit.fuse.tiling.rules import is_carried, is_parallel, is_reduced, reassociates
from fusejit.ir.ops import base_name
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.steps import LoopInfo


@primitive
def tile(handle: H, *, reassociate: bool = False, check: bool = True, **sizes: int | Parts) -> H:
    """The same op on slices, in loops over tiles; the first dim has the outermost loop.

    Parameters
    ----------
    reassociate : bool, optional
        True: tiles of a float sum may be summed one after the other.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **sizes
        The size of the tiles of a dim, at least 1, or ``Parts(4)`` for so many tiles. The last tile
        may be shorter.

    Raises
    ------
    ScheduleError
        If a dim is unknown or cannot be tiled, or nothing would change.
    """
    step = call("tile", **sizes)
    numbers = {handle.dim(name, step): size for name, size in sizes.items()}
    op = handle.op
    if not numbers:
        raise illegal(step, op.name, "no dim is given", [f"{n}=.." for n in handle.dims])
    old = handle.schedule.graph
    graph, inner, tiles = in_tiles(old, op, numbers, handle.dims, step, reassociate)
    taken = {*handle.schedule.loops}
    loops = {
        unused(f"{handle.dims[t.dim]}.0", taken): LoopInfo(
            t.loop, is_parallel(op, t.dim), t.given if isinstance(t.given, int) else 0
        )
        for t in tiles
    }
    what = f"loops {', '.join(loops)} around {base_name(op.name)}"
    is_split = any(is_reduced(op, d) for d in numbers)
    tag = "reassoc" if (is_split or op.library_call) and reassociates(op) else "bits"
    tag = "reassoc" if reassociate and any(is_carried(op, d) for d in numbers) else tag
    return handle.after(step, tag, what, graph, inner, check=check, loops=loops)
