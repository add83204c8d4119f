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

from collections.abc import Mapping, Sequence

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.integers import Integers
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, GenericOp, Loop, Op, base_name
from fusejit.ir.tiles import LoopTile
from fusejit.transform.core.arguments import Parts, primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.destinations import destinations
from fusejit.transform.core.errors import illegal
from fusejit.transform.core.parts import (
    bind_minimum,
    computed_in_parts,
    require_separable,
    stored_part,
)
from fusejit.transform.core.rules import (
    is_carried,
    is_parallel,
    is_reduced,
    new_symbol,
    reassociates,
    symbols_of,
    unused,
)
from fusejit.transform.core.steps import LoopInfo


@dataclass(frozen=True, slots=True)
class Tile:
    """One tiled dim: the symbols of its loop, of the tile's length, and of its beginning."""

    dim: int
    loop: str
    given: int | Parts
    length: str
    begin: str
    extent: AffineExpr

    @property
    def size(self) -> AffineExpr:
        """The extent of a tile that is not the last one."""
        if isinstance(self.given, Parts):
            return (self.extent + (self.given.number - 1)).floordiv(self.given.number)
        return AffineExpr.const(self.given)

    @property
    def start(self) -> AffineExpr:
        """Where the tile begins."""
        if isinstance(self.given, Parts):
            return AffineExpr.symbol(self.begin)
        return AffineExpr.symbol(self.loop) * self.given

    @property
    def is_whole(self) -> bool:
        """Whether all tiles have the full size, whatever the call."""
        return isinstance(self.given, int) and self.extent.mod(self.given).as_constant() == 0


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


def in_tiles(
    graph: Graph,
    op: GenericOp,
    sizes: Mapping[int, int | Parts],
    names: Sequence[str],
    step: str,
    reassociate: bool,
) -> tuple[Graph, GenericOp, list[Tile]]:
    """Tile dims; the first one has the outermost loop. Return the graph, and the op on slices.

    Parameters
    ----------
    sizes : mapping
        From dims to the sizes of their tiles.
    names : sequence of str
        The names of the dims.
    step : str
        What errors call it.
    reassociate : bool
        Whether terms may be combined in another order.
    """
    _check(op, sizes, names, step, reassociate)
    taken = symbols_of(graph)
    tiles = [
        Tile(
            d,
            new_symbol(f"{names[d]}_0", taken),
            n,
            new_symbol(f"{names[d]}_1", taken),
            new_symbol(f"{names[d]}_start", taken),
            op.domain[d],
        )
        for d, n in sizes.items()
    ]
    graph, places = destinations(graph, op)
    domain = list(op.domain)
    for t in tiles:
        domain[t.dim] = t.size if t.is_whole else AffineExpr.symbol(t.length)
    known = {t.dim: t.given for t in tiles if isinstance(t.given, int)}
    origin = {t.dim: t.start for t in tiles}
    inner, ops = stored_part(op, origin, domain, places, sizes=known)
    for t in reversed(tiles):
        upper, before = _count(t, taken)
        body = Block((), [*_length(t), *ops])
        ops = [
            *before,
            Loop(
                location=op.location,
                carried=(),
                body=body,
                induction=t.loop,
                lower=AffineExpr.const(0),
                upper=upper,
                tiles=() if t.is_whole else (LoopTile(t.length, t.extent, t.size),),
            ),
        ]
    return computed_in_parts(graph, op, [*sizes], places, ops), inner, tiles


def _count(t: Tile, taken: set[str]) -> tuple[AffineExpr, list[Op]]:
    """The number of tiles that are not empty, with the ops that compute it."""
    if isinstance(t.given, int):
        return (t.extent + (t.given - 1)).floordiv(t.given), []
    name, integers = new_symbol(f"{t.loop}_count", taken), Integers(1)
    number = integers(t.extent + t.size - 1).floordiv(integers(t.size).maximum(1))
    return AffineExpr.symbol(name), integers.bound("number", {name: number})


def _check(
    op: GenericOp,
    sizes: Mapping[int, int | Parts],
    names: Sequence[str],
    step: str,
    reassociate: bool,
) -> None:
    for d, size in sizes.items():
        name = names[d]
        number = size.number if isinstance(size, Parts) else size
        if number < 1:
            raise illegal(step, op.name, f"the size of {name} is {number}: it is at least 1")
        if op.register_tile is not None and op.register_tile.sizes[d] is not None:
            raise illegal(step, op.name, f"{name} is part of the register tile")
        extent = op.domain[d].as_constant()
        if isinstance(size, int) and extent is not None and size >= extent:
            why = f"{name} has extent {extent}, so that a tile of {size} changes nothing"
            raise illegal(step, op.name, why)
    known = {d: size for d, size in sizes.items() if isinstance(size, int)}
    require_separable(op, [*sizes], names, step, reassociate, known)


def _length(t: Tile) -> list[Op]:
    """The length of a tile, as a symbol."""
    if t.is_whole:
        return []
    if isinstance(t.given, int):
        return bind_minimum(t.length, t.given, t.extent - t.start)
    integers = Integers(2)
    start = integers(AffineExpr.symbol(t.loop)) * t.size
    length = (integers(t.extent) - start).minimum(t.size)
    return integers.bound("tile", {t.begin: start, t.length: length})
