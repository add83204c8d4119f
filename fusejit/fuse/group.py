"""Grouping (tile-and-fuse): ops that cannot be one op share their outer loops.

A *band* is a dim that several ops have in common: parallel in each of them, of one extent, and such
that a value which passes from one op to another is read at the very point of the band where it was
written. Ops with a band in common run tile by tile over it: first op on the tile, second op on the
tile, ... so that what passes between them stays in cache, and an array that several of them read
comes from memory once. In

    m = x.max(axis=1)              # (i parallel, j reduction)
    e = exp(x - m[:, None])        # (i, j)
    s = e.sum(axis=1)              # (i, j reduction)
    y = e / s[:, None]             # (i, j)

``i`` is a band of all four. Bands are found along the maps, from dim to dim; ops join the earliest
group in which all that they read is ready. Only pure ops between two stores (or loops, or calls)
are looked at: memory is the same for all of them.

Source
------
Tiled producer/consumer fusion of MLIR's linalg and of IREE's dispatch regions, with the band
computed for the whole group at once and the tile chosen at run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fusejit.fuse.rewrite import definitions, used_values
from fusejit.ir.graph import (
    Alloc,
    Block,
    ConstantOp,
    GenericOp,
    Graph,
    Load,
    Op,
    Store,
    Value,
    ViewOp,
)
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.schedule import FusionReport, Group, Grouped
from fusejit.ir.types import IteratorType

MAX_OPS = 16  # of a group: keeps the streams of a tile and the compile time bounded

_MOVABLE = Load | ViewOp | ConstantOp | Alloc  # ops that do no work where they stand


@dataclass(frozen=True, slots=True)
class _Read:
    """An op reads a value: behind views, and with the map to the value's own axes."""

    root: Value
    map: IndexingMap


@dataclass(slots=True)
class _Forming:
    """A group in the making; ``bands[op]`` are its dims, one per band."""

    ops: list[GenericOp] = field(default_factory=list)
    bands: dict[GenericOp, tuple[int, ...]] = field(default_factory=dict)


def form_groups(graph: Graph, report: FusionReport) -> tuple[Graph, tuple[Group, ...]]:
    """Find the groups of the top-level block.

    Parameters
    ----------
    graph : Graph
        The fused graph.
    report : FusionReport
        Gets a line for each group.

    Returns
    -------
    Graph
        With the ops of each group next to each other; the same object if there is no group.
    tuple of Group
    """
    return _Grouping(graph, report).run()


class _Grouping:
    def __init__(self, graph: Graph, report: FusionReport) -> None:
        self.graph = graph
        self.report = report
        self.defining = definitions(graph.block)
        self.stored = {op.value for op in graph.block.ops if isinstance(op, Store)}

    def run(self) -> tuple[Graph, tuple[Group, ...]]:
        """Group each stretch between two ops with an effect."""
        ops: list[Op] = []
        groups: list[Group] = []
        stretch: list[Op] = []

        def end_stretch() -> None:
            formed = [g for g in self._form(stretch) if self._pays(g)]
            if formed:
                ops.extend(_in_order(stretch, formed))
                groups.extend(self._finished(g) for g in formed)
            else:
                ops.extend(stretch)
            stretch.clear()

        for op in self.graph.block.ops:
            is_work = isinstance(op, GenericOp) and op.library_call is None
            if is_work or isinstance(op, _MOVABLE):
                stretch.append(op)
            else:
                end_stretch()
                ops.append(op)
        end_stretch()
        if not groups:
            return self.graph, ()
        block: Block = replace(self.graph.block, ops=ops)
        return replace(self.graph, block=block), tuple(groups)

    # -- forming --------------------------------------------------------------------------------
    def _form(self, stretch: Sequence[Op]) -> list[_Forming]:
        """Every op of the stretch in a group, many of them alone, in an order that may run."""
        formed: list[_Forming] = []
        group_of: dict[Value, int] = {}  # values computed here, and arrays read here
        readers: dict[Value, list[int]] = {}
        for op in stretch:
            if not isinstance(op, GenericOp):
                continue
            reads = self._reads(op)
            earliest = max((group_of.get(r.root, -1) for r in reads), default=-1)
            wanted = {earliest, *(at for r in reads for at in readers.get(r.root, ()))}
            ready = [at for at in sorted(wanted) if at >= max(earliest, 0)]
            at = next((at for at in ready if self._join(formed[at], op)), len(formed))
            if at == len(formed):
                formed.append(_Forming([op], {op: self._own_bands(op)}))
            for value in op.results:
                group_of[value] = at
            for read in reads:
                if read.map.rank:
                    readers.setdefault(read.root, []).append(at)
        return formed

    def _reads(self, op: GenericOp) -> list[_Read]:
        """What an op reads, behind views."""
        reads = []
        for value, map in (
            *((o.value, o.map) for o in op.inputs),
            *((i.start, i.map) for i in op.inits if i.start is not None),
        ):
            while isinstance(view := self.defining.get(value), ViewOp):
                map = view.map.compose(map)
                value = view.source
            reads.append(_Read(value, map))
        return reads

    def _own_bands(self, op: GenericOp) -> tuple[int, ...]:
        """The dims that may be bands: parallel, and a plain axis of every result."""
        if not self._may_join(op):
            return ()
        return tuple(d for d in range(len(op.domain)) if _may_be_band(op, d))

    def _may_join(self, op: GenericOp) -> bool:
        """Whether codegen can write the op for a tile.

        A value that a store takes is written by the store.
        """
        return not op.payload.has_extract() and not self.stored.intersection(op.results)

    def _join(self, group: _Forming, op: GenericOp) -> bool:
        """Add the op if a band is left that all have in common."""
        if len(group.ops) >= MAX_OPS or not self._own_bands(op):
            return False
        kept: list[tuple[int, int]] = []  # band number, dim of op
        for band in range(len(group.bands[group.ops[0]])):
            dim = self._dim_of_band(group, band, op)
            if dim is not None and dim not in (d for _, d in kept):
                kept.append((band, dim))
        if not kept:
            return False
        group.bands = {o: tuple(dims[b] for b, _ in kept) for o, dims in group.bands.items()}
        group.bands[op] = tuple(d for _, d in kept)
        group.ops.append(op)
        return True

    def _dim_of_band(self, group: _Forming, band: int, op: GenericOp) -> int | None:
        """The dim of ``op`` that is a band of the group, or None.

        Values of the group decide; where the op reads none, an array that both read.
        """
        extent = group.ops[0].domain[group.bands[group.ops[0]][band]]
        dims: set[int | None] = set()
        shared: list[int] = []
        for read in self._reads(op):
            for member in group.ops:
                dim = group.bands[member][band]
                if read.root in member.results:
                    init = member.inits[member.results.index(read.root)]
                    dims.add(_same_axis(init.map, dim, read.map))
                else:
                    for other in self._reads(member):
                        if other.root is read.root and read.map.rank:
                            found = _same_axis(other.map, dim, read.map)
                            shared += [] if found is None else [found]
        candidates = dims if dims else set(shared[:1])
        if len(candidates) != 1:
            return None
        (wanted,) = candidates
        if wanted is None or not _may_be_band(op, wanted) or op.domain[wanted] != extent:
            return None
        return wanted

    # -- deciding -------------------------------------------------------------------------------
    def _pays(self, group: _Forming) -> bool:
        """Whether a large array stays in tiles, or is read once instead of several times.

        Large is what has as many axes as the widest op of the group: next to it, a value per row
        costs nothing.
        """
        if len(group.ops) < 2:
            return False
        rank = max(_real_rank(op.domain) for op in group.ops)
        seen: set[Value] = set()
        for op in group.ops:
            roots = {r.root for r in self._reads(op) if _real_rank(r.root.type.extents) >= rank}
            if roots & seen:
                return True
            seen |= roots | {v for v in op.results if _real_rank(v.type.extents) >= rank}
        return False

    def _finished(self, group: _Forming) -> Group:
        members = set(group.ops)
        leaving = {v for v in self.graph.results if isinstance(v, Value)}
        needed = set(leaving)
        for op in self.graph.block.ops:
            if op not in members and not isinstance(op, ViewOp):
                needed.update(used_values(op))
        needed.update(self.graph.block.yields)
        for op in reversed(self.graph.block.ops):  # a view that is needed needs its source
            if isinstance(op, ViewOp) and needed.intersection(op.results):
                needed.add(op.source)
        local = tuple(v for op in group.ops for v in op.results if v not in needed)
        self.report.grouped.append(
            Grouped(
                tuple(op.name for op in group.ops),
                len(group.bands[group.ops[0]]),
                tuple(v.name for v in local),
                tuple(op.location for op in group.ops),
            )
        )
        return Group(tuple(group.ops), tuple(group.bands[op] for op in group.ops), local)


def _may_be_band(op: GenericOp, dim: int) -> bool:
    return op.iterators[dim] is IteratorType.PARALLEL and all(
        any(r.as_dim() == dim for r in init.map.results) for init in op.inits
    )


def _same_axis(written: IndexingMap, dim: int, read: IndexingMap) -> int | None:
    """The reader's dim on the axis that the writer's ``dim`` runs along, if it is a plain dim."""
    for axis, result in enumerate(written.results):
        if result.as_dim() == dim:
            return read.results[axis].as_dim()
    return None


def _real_rank(extents: Sequence[object]) -> int:
    return sum(str(extent) != "1" for extent in extents)


def _behind_views(op: Op, definer: Mapping[Value, Op]) -> Op | None:
    """The op that computes what a chain of views shows."""
    while isinstance(op, ViewOp):
        source = definer.get(op.source)
        if source is None:
            return None
        op = source
    return op


def _in_order(stretch: Sequence[Op], groups: Sequence[_Forming]) -> Iterator[Op]:
    """The ops of a stretch, each group in one piece behind all that it reads."""
    definer = {v: op for op in stretch for v in op.results}
    group_of = {op: g for g in groups for op in g.ops}
    done: set[Op] = set()

    def place(op: Op) -> Iterator[Op]:
        """The op (with its group) behind all that it reads."""
        if op in done:
            return
        group = group_of.get(op) if isinstance(op, GenericOp) else None
        members: Sequence[Op] = [op] if group is None else group.ops
        for member in members:
            done.add(member)
        for member in members:
            for source in (definer.get(v) for v in used_values(member)):
                if source is not None and source not in members:
                    yield from outside(source, members)
        for member in members:  # views of members stand between them
            for source in (definer.get(v) for v in used_values(member)):
                if source is not None:
                    yield from place(source)
            yield member

    def outside(op: Op, members: Sequence[Op]) -> Iterator[Op]:
        """``place`` for what a group reads, but for views of its own values."""
        sources = [s for s in (definer.get(v) for v in used_values(op)) if s is not None]
        if isinstance(op, ViewOp) and any(_behind_views(s, definer) in members for s in sources):
            return
        yield from place(op)

    for op in stretch:  # what reads nothing that is computed here
        if isinstance(op, Alloc | ConstantOp | Load):
            done.add(op)
            yield op
    for op in stretch:
        yield from place(op)
