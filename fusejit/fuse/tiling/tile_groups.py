"""`tile_groups`: the ops of each group in one parallel loop over tiles.

    %tile, %number = generic "tiles" ..         # how wide tiles are, and how many there are
    for item = 0 to number parallel tiles (wide max tile of s0) {
      %start, %wide = generic "tile" ..
      %m = generic "max" domain (wide, s1) ..   # the ops on [start, start + wide)
      %e = generic "exp" ..
      store @y [start ..] = ..
    }

Of values that only the group reads there is no more than a tile; an op that is read at neighbours
runs that much further (its halo). How wide tiles are is known when the kernel runs. Tiles of rows
stay in the nearest cache. Where a shared loop is the unit-stride dim of an array whose other dims
run inside, a tile is a strip of columns. A narrow strip touches a page for each of its rows and
waits for the address translation (a strip of 16 columns is copied eight times slower than whole
rows), so strips are as large as the second-level cache allows, and if that is less than a page wide
the shared loop is not cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.fuse.new_names import symbols_of
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.destinations import with_memory
from fusejit.fuse.tiling.rules import new_symbol
from fusejit.fuse.tiling.slices import Origin, extents_reached, moved_identity, part_of, shifted
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.analysis.integers import Integer, Integers
from fusejit.ir.execution_plan import Group
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Block, GenericOp, Init, Load, Loop, Op, Operand, Store, ViewOp
from fusejit.ir.tiles import LoopTile
from fusejit.ir.types import TensorType
from fusejit.ir.values import Buffer, Layout, Value, View

TILE_POINTS = 2048
"""Points of a tile of whole rows: all that a group reads and writes stays near the core."""

HALO_SHARE = 8
"""A tile is at least so many times wider than the halo that is computed twice."""

STRIP_POINTS = 65_536
"""Points of a strip of columns: half a megabyte of float64, in the second-level cache."""

STRIP_COLUMNS = 1024
"""The narrowest strip: a page or two of each row."""

STRIP_ROUNDING = 64
"""Strips that do not reach the end are a multiple of so many columns wide."""


def tile_groups(graph: Graph, groups: Sequence[Group]) -> Graph:
    """Put the ops of each group into a loop over tiles; the same object if there is no group."""
    for number, group in enumerate(groups):
        graph = _TiledGroup(graph, group, f"g{number}").rewritten()
    return with_versions(eliminate_dead_ops(graph)) if groups else graph


@dataclass(frozen=True, slots=True)
class _SharedLoop:
    """A shared loop of a group, and the symbols of what is known about it when the kernel runs."""

    extent: AffineExpr
    start: str  # of the tile at hand
    wide: str  # how many points it has
    tile: str  # how many those have that are not at the end
    count: str  # how many tiles


class _TiledGroup:
    """The rewrite of one group."""

    def __init__(self, graph: Graph, group: Group, tag: str) -> None:
        self.graph = graph
        self.group = group
        self.taken = symbols_of(graph)
        last, dims = group.ops[-1], group.shared_dims[-1]
        self.item, self.items = (new_symbol(f"{tag}_{n}", self.taken) for n in ("item", "items"))
        names = ("start", "wide", "tile", "count")
        self.loops = [
            _SharedLoop(
                last.domain[dim], *(new_symbol(f"{tag}_{n}{at}", self.taken) for n in names)
            )
            for at, dim in enumerate(dims)
        ]
        self.defining = definitions(graph.block)
        self.tiles: dict[Value, tuple[Value, list[AffineExpr]]] = {}  # and where it begins
        self.loads: dict[Value, Value] = {}  # of the memory that the group overwrites
        self.body: list[Op] = []
        self.before: list[Op] = []
        self.after: list[Op] = []

    def rewritten(self) -> Graph:
        """The graph with the loop in place of the group, and of its store."""
        group = self.group
        for member, dims, halos in zip(group.ops, group.shared_dims, group.halos, strict=True):
            self._add(member, dims, halos)
        body = Block((), [*self._tile_at_hand(), *self.body])
        loop = Loop(
            location=group.ops[-1].location,
            carried=(),
            body=body,
            induction=self.item,
            lower=AffineExpr.const(0),
            upper=AffineExpr.symbol(self.items),
            is_parallel=True,
            tiles=tuple(LoopTile(s.wide, s.extent, AffineExpr.symbol(s.tile)) for s in self.loops),
        )
        ops: list[Op] = []
        late: list[Op] = []  # views of what the group computes
        made = {result for op in group.ops for result in op.results}
        for op in self.graph.block.ops:
            if op is group.ops[-1]:
                ops += [*self.before, *self._tile_sizes(), loop, *self.after, *late]
                made.clear()
            elif not made.isdisjoint(op.operand_values) and op not in group.ops:
                late.append(op)
                made.update(op.results)
            elif op not in group.ops and op is not group.store:
                ops.append(op)
        return replace(self.graph, block=replace(self.graph.block, ops=ops))

    # -- ops on a tile ----------------------------------------------------------------------------
    def _add(self, op: GenericOp, dims: Sequence[int], halos: Sequence[tuple[int, int]]) -> None:
        """The op for the tile at hand, and the stores of what leaves the group."""
        origin: dict[int, AffineExpr] = {}
        domain = list(op.domain)
        for dim, shared, (before, after) in zip(dims, self.loops, halos, strict=True):
            start, wide = AffineExpr.symbol(shared.start), AffineExpr.symbol(shared.wide)
            origin[dim], domain[dim] = start + before, wide + (after - before)
        part = part_of(op, origin, domain)
        part = replace(
            part,
            inputs=tuple(self._read(o) for o in part.inputs),
            inits=tuple(self._started(i, origin, domain) for i in part.inits),
        )
        self.body.append(part)
        for result, tile, init in zip(op.results, part.results, op.inits, strict=True):
            starts = [shifted(r, origin) for r in init.map.results]
            self.tiles[result] = tile, starts
            if result not in self.group.local:
                self._store(result, tile, starts, op)

    def _read(self, operand: Operand) -> Operand:
        """An operand of a part where the group has it: in a tile, or in memory it overwrites."""
        value, map_ = operand.value, operand.map
        while isinstance(op := self.defining.get(value), ViewOp):
            value, map_ = op.source, op.map.compose(map_)
        if value in self.tiles:
            tile, starts = self.tiles[value]
            moved = (r - s for r, s in zip(map_.results, starts, strict=True))
            return Operand(tile, IndexingMap(map_.num_dims, tuple(moved)))
        store = self.group.store
        if store is None or not isinstance(op, Load):
            return operand
        is_same = op.view.buffer.alias_class == store.view.buffer.alias_class
        is_same &= op.version == store.version - 1  # else another store has been there already
        return Operand(self._loaded(op), map_) if is_same else operand

    def _loaded(self, load: Load) -> Value:
        """The memory as it is when the tile at hand begins."""
        (value,) = load.results
        if value not in self.loads:
            again = Value(f"{value.name}_here", value.type, value.kind, order=value.order)
            self.loads[value] = again
            self.body.append(replace(load, results=(again,)))
        return self.loads[value]

    def _started(self, init: Init, origin: Origin, domain: Sequence[AffineExpr]) -> Init:
        """An init that starts from the part of its start that belongs to the tile."""
        if init.start is None:
            return init
        starts = [shifted(r, origin) for r in init.map.results]
        source = self._read(Operand(init.start, moved_identity(starts)))
        extents = extents_reached(init.map, domain, init.start.type.extents, origin)
        part = Value(f"{init.start.name}_tile", TensorType(init.start.type.dtype, extents))
        self.body.append(ViewOp(results=(part,), source=source.value, map=source.map))
        return replace(init, start=part)

    def _store(
        self, result: Value, tile: Value, starts: Sequence[AffineExpr], op: GenericOp
    ) -> None:
        """Store a tile of a result into the memory of the whole, which is loaded after the loop."""
        store = self.group.store
        if store is not None and store.value is result:
            whole = store.view
        else:
            self.graph, alloc = with_memory(self.graph, result, op)
            self.before.append(alloc)
            whole = View.whole(alloc.buffer)
            self.after.append(Load(results=(result,), location=op.location, view=whole, version=0))
        view = View(whole.buffer, whole.map.compose(moved_identity(starts)), tile.type.extents)
        self.body.append(Store(location=op.location, view=view, value=tile, version=0))

    # -- tiles ------------------------------------------------------------------------------------
    def _tile_at_hand(self) -> list[Op]:
        """Where tile number ``item`` begins in each shared loop, the last one running fastest."""
        integers = Integers(2 * len(self.loops))
        rest = integers(AffineExpr.symbol(self.item))
        found: dict[str, Integer] = {}
        for at, shared in reversed([*enumerate(self.loops)]):
            number = rest.mod(AffineExpr.symbol(shared.count)) if at else rest
            rest = rest.floordiv(AffineExpr.symbol(shared.count)) if at else rest
            tile = AffineExpr.symbol(shared.tile)
            found[shared.start] = number * tile
            found[shared.wide] = (integers(shared.extent) - found[shared.start]).minimum(tile)
        return integers.bound("tile", found)

    def _tile_sizes(self) -> list[Op]:
        """How wide tiles are in each shared loop, and how many there are."""
        integers = Integers(2 * len(self.loops) + 1)
        found: dict[str, Integer] = {}

        def counted(shared: _SharedLoop, tile: Integer) -> None:
            found[shared.tile] = tile
            found[shared.count] = (tile + shared.extent - 1).floordiv(tile)

        inner = dict.fromkeys(
            tuple(e for d, e in enumerate(op.domain) if d not in own and e.as_constant() != 1)
            for op, own in zip(self.group.ops, self.group.shared_dims, strict=True)
        )
        # of the widest op, for one point of the shared loops
        sizes = [reduce(Integer.__mul__, map(integers, extents)) for extents in inner if extents]
        points = reduce(Integer.maximum, sizes, integers(1)) if sizes else None

        def fits(number: int) -> Integer:
            return integers(number) if points is None else integers(number).floordiv(points)

        if not self._in_strips():
            halo = max(after - before for halos in self.group.halos for before, after in halos)
            left = fits(TILE_POINTS)
            left = left.maximum(HALO_SHARE * halo) if halo else left
            rest = self.loops
        else:
            *rest, columns = self.loops
            whole = integers(columns.extent)
            left = fits(STRIP_POINTS)
            rounded = left.at_least(whole, whole, left - left.mod(STRIP_ROUNDING))
            is_wide = left - whole.minimum(STRIP_COLUMNS)
            counted(columns, is_wide.at_least(0, rounded, whole).maximum(1))
            left = left.floordiv(whole.maximum(1))
        for shared in reversed(rest):  # as much of one as fits, then of the loops around it
            extent = integers(shared.extent)
            counted(shared, extent.minimum(left).maximum(1))
            left = left.floordiv(extent.maximum(1))
        items = reduce(Integer.__mul__, (found[shared.count] for shared in self.loops))
        return integers.bound("tiles", {**found, self.items: items})

    def _in_strips(self) -> bool:
        """Whether an array has its unit stride along a shared loop while other dims run inside."""
        for op, own in zip(self.group.ops, self.group.shared_dims, strict=True):
            inside = {d for d, e in enumerate(op.domain) if d not in own and e.as_constant() != 1}
            accesses = [(o.value, o.map) for o in op.inputs]
            accesses += [(r, i.map) for r, i in zip(op.results, op.inits, strict=True)]
            for value, map_ in accesses:
                unit = self._unit_axis(value, map_)
                if unit is None or not map_.dims() & inside:
                    continue
                if any(abs(unit.coefficient(Dim(d))) == 1 for d in own):
                    return True
        return False

    def _unit_axis(self, value: Value, map_: IndexingMap) -> AffineExpr | None:
        """The subscript of the axis along which neighbours are neighbours in memory, if known."""
        store = self.group.store
        if store is not None and store.value is value:
            return _unit_axis_of(store.view.buffer, store.view.map.compose(map_))
        while isinstance(op := self.defining.get(value), ViewOp):
            value, map_ = op.source, op.map.compose(map_)
        if isinstance(op, Load):
            return _unit_axis_of(op.view.buffer, op.view.map.compose(map_))
        axes = value.order or range(map_.rank)
        return map_.results[axes[-1]] if axes else None


def _unit_axis_of(buffer: Buffer, map_: IndexingMap) -> AffineExpr | None:
    axes = buffer.order or range(map_.rank)
    if not axes or buffer.layout not in (Layout.CONTIGUOUS, Layout.UNIT):
        return None
    return map_.results[axes[-1]]
