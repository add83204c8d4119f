"""`in_tiles`: the same op on slices, inside loops over tiles.

A tiled dim is parallel, or reduced; the tiles of a reduced dim are combined in order. The last tile
is shorter. Sizes stay symbolic. Source: MLIR's ``transform.structured.tile_using_for``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.dataclass import dataclass
from fusejit.fuse.new_names import symbols_of
from fusejit.fuse.tiling.destinations import destinations
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.parts import (
    bind_minimum,
    computed_in_parts,
    require_separable,
    stored_part,
)
from fusejit.fuse.tiling.rules import new_symbol
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.integers import Integers
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, GenericOp, Loop, Op
from fusejit.ir.tiles import LoopTile


@dataclass(frozen=True, slots=True)
class Parts:
    """At most so many tiles, whatever the extent; the last ones may be shorter."""

    number: int

    def __repr__(self) -> str:
        return f"Parts({self.number})"


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
