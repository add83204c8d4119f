"""Arrays put together from parts, read part by part: a roll or a pad costs no pass over memory.

An elementwise op that reads such an array is cut into one op per region in which every operand lies
in one part; each reads what was stored there and stores its own part of the result.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.canonical.constants import splat_values
from fusejit.fuse.canonical.stale_loads import read_classes, with_versions
from fusejit.fuse.canonical.tidy_operands import tidy
from fusejit.fuse.rewrite_blocks import definitions, expand_ops, rewrite_blocks, used_values
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.change_domain import on_domain
from fusejit.ir.analysis.reduction_starts import writes_every_element
from fusejit.ir.analysis.symbol_facts import SymbolFacts
from fusejit.ir.analysis.writes import Part, dim_and_offset, last_part, part_of, store_that_takes
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Block,
    GenericOp,
    Init,
    Load,
    Op,
    Operand,
    Store,
    Write,
    walk,
)
from fusejit.ir.types import Kind
from fusejit.ir.values import Buffer, Value, View

MAX_REGIONS = 9  # of one op: a stencil that wraps around along two axes
MAX_OPS = 72  # that one block may be cut into
_ZERO = AffineExpr.const(0)


@dataclass(slots=True)
class Concatenated:
    """A local buffer that is stored part by part and then only read."""

    buffer: Buffer
    parts: list[Part] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReadRegion:
    """A box of an op's domain, and for each operand that is a joined array the part it lies in."""

    lows: tuple[AffineExpr, ...]
    extents: tuple[AffineExpr, ...]
    parts: Mapping[int, Part]


def split_concat_reads(graph: Graph) -> Graph:
    """Cut ops that read joined arrays into regions; the same object if there is none to cut.

    Before and after, for ``np.roll(x, 1) - x``::

        store @b v1 [(d0) -> (d0 + 1)] (s0 - 1) = %x_front     # x[:-1]
        store @b v2 [(d0) -> (d0)] (1) = %x_end                # x[-1:]
        %b = load @b v2
        %r = generic domain (s0) ins (%b, %x) { in0 - in1 }

        %r0 = generic domain (1) ins (%x_end, %x) { in0 - in1 }
        %r1 = generic domain (s0 - 1) ins (%x_front, %x [(d0) -> (d0 + 1)]) { in0 - in1 }
        store @r v1 [(d0) -> (d0)] (1) = %r0
        store @r v2 [(d0) -> (d0 + 1)] (s0 - 1) = %r1
    """
    if not any(isinstance(op, Alloc) for op in walk(graph.block)):
        return graph
    session = _Session(graph)
    cut = rewrite_blocks(graph, session.rewrite)
    if cut is graph:
        return graph
    results = tuple(
        View.whole(session.memory[r]) if isinstance(r, Value) and r in session.memory else r
        for r in graph.results
    )
    buffers = [*graph.buffers, *session.memory.values()]
    return with_versions(_without_unread(replace(cut, results=results, buffers=buffers)))


class _Session:
    """One run of the pass over a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.facts = SymbolFacts(graph)
        self.defined = definitions(graph.block)
        self.splats = splat_values(graph)
        self.needed: set[Value] = set()  # parts that regions read
        self.memory: dict[Value, Buffer] = {}  # of results that are put together from regions
        classes = [b.alias_class for b in graph.buffers]
        self.classes = itertools.count(max(classes, default=-1) + 1)
        self.users: dict[Value, list[Op]] = {}
        for op in walk(graph.block):
            for value in op.operand_values:
                self.users.setdefault(value, []).append(op)
            for block in op.blocks:
                for value in block.yields:
                    self.users.setdefault(value, []).append(op)
        self.leaving = {r for r in graph.results if isinstance(r, Value)}
        self.mentioned = _mentions(graph)

    # -- what is joined ---------------------------------------------------------------------------
    def concatenated(self, block: Block) -> dict[Value, Concatenated]:
        """Joined arrays of a block, by the values that are loaded from them."""
        found: dict[Buffer, Concatenated] = {}
        for op in block.ops:
            if isinstance(op, Alloc) and op.buffer not in self.mentioned:
                found[op.buffer] = Concatenated(op.buffer)
                continue
            if not isinstance(op, Load | Write) or op.view.buffer not in found:
                continue
            join = found[op.view.buffer]
            if isinstance(op, Load):
                join.loads.append(op)
                continue
            part = part_of(op)
            if part is None or join.loads:
                del found[op.view.buffer]
            else:
                join.parts.append(part)
        here = {op for op in block.ops if isinstance(op, Load | Write)}
        for op in walk(self.graph.block):
            if isinstance(op, Load | Write) and op not in here:
                found.pop(op.view.buffer, None)
        return {
            op.results[0]: join
            for join in found.values()
            if len(join.parts) > 1 and self._is_cheap(join)
            for op in join.loads
        }

    def _is_cheap(self, join: Concatenated) -> bool:
        """Whether its parts are there anyway, or fold into the one place that reads them."""
        uses = sum(len(self.users.get(op.results[0], ())) for op in join.loads)
        return uses == 1 or all(
            not isinstance(self.defined.get(p.value), GenericOp) or p.value in self.splats
            for p in join.parts
        )

    # -- what may be cut --------------------------------------------------------------------------
    def cuts(
        self, block: Block, loaded: dict[Value, Concatenated]
    ) -> dict[GenericOp, list[ReadRegion]]:
        """The ops to cut, of which each joined array has no other readers."""
        regions: dict[GenericOp, list[ReadRegion]] = {}
        for op in block.ops:
            if isinstance(op, GenericOp) and any(o.value in loaded for o in op.inputs):
                found = self._regions(op, loaded) if self._may_be_cut(op) else None
                if found is not None:
                    regions[op] = found
        while True:  # an array that must exist for another reader is read by all
            kept = {
                id(join)
                for value, join in loaded.items()
                if value in self.leaving or not all(u in regions for u in self.users.get(value, ()))
            }
            gone = [
                op
                for op in regions
                if any(id(loaded[o.value]) in kept for o in op.inputs if o.value in loaded)
            ]
            if not gone:
                break
            for op in gone:
                del regions[op]
        return regions if sum(map(len, regions.values())) <= MAX_OPS else {}

    def _may_be_cut(self, op: GenericOp) -> bool:
        """Elementwise, and read only elementwise: a reduction shares loops with what it reads."""
        if not op.is_elementwise or op.is_fixed or op.payload.has_extract():
            return False
        for init, value in zip(op.inits, op.results, strict=True):
            if init.start is not None or not writes_every_element(init, op.domain, value.type):
                return False
            if value in self.leaving and value.kind is not Kind.ARRAY:
                return False
            for user in self.users.get(value, ()):
                plain = isinstance(user, GenericOp) and user.is_elementwise
                if not plain and not isinstance(user, Store):
                    return False
        return bool(op.domain)

    def _regions(self, op: GenericOp, loaded: dict[Value, Concatenated]) -> list[ReadRegion] | None:
        """The regions of an op; None if it is not known where they end, or there are too many."""
        bounds: list[list[AffineExpr]] = [[_ZERO, extent] for extent in op.domain]
        places: dict[int, tuple[AffineExpr, ...]] = {}
        for k, operand in enumerate(op.inputs):
            join = loaded.get(operand.value)
            if join is None:
                continue
            load = next(ld for ld in join.loads if ld.results[0] is operand.value)
            places[k] = place = load.view.map.compose(operand.map).results
            for axis, index in enumerate(place):
                dim, offset = dim_and_offset(index)
                if dim is None:
                    if index.dims():
                        return None
                    continue
                for part in join.parts:
                    for end in part.sides[axis]:
                        if not self._insert(bounds[dim], end - offset):
                            return None
        if math.prod(len(b) - 1 for b in bounds) > MAX_REGIONS:
            return None
        regions = []
        for corners in itertools.product(*(itertools.pairwise(b) for b in bounds)):
            parts = {
                k: self._part_of(loaded[op.inputs[k].value], place, corners)
                for k, place in places.items()
            }
            known = {k: p for k, p in parts.items() if p is not None}
            if len(known) < len(parts):
                return None
            lows = tuple(low for low, _ in corners)
            regions.append(ReadRegion(lows, tuple(high - low for low, high in corners), known))
        return regions

    def _insert(self, bounds: list[AffineExpr], bound: AffineExpr) -> bool:
        """Put a bound into its place between the others; False if that is not known."""
        at_most = self.facts.is_at_most
        if at_most(bound, bounds[0]) or at_most(bounds[-1], bound):
            return True
        for at, other in enumerate(bounds):
            if bound == other:
                return True
            if at and at_most(bounds[at - 1], bound) and at_most(bound, other):
                bounds.insert(at, bound)
                return True
        return False

    def _part_of(
        self,
        join: Concatenated,
        place: Sequence[AffineExpr],
        corners: Sequence[tuple[AffineExpr, AffineExpr]],
    ) -> Part | None:
        """The part that was stored last of those that hold the elements of a region."""
        box = []
        for index in place:
            dim, offset = dim_and_offset(index)
            low, high = corners[dim] if dim is not None else (_ZERO, AffineExpr.const(1))
            box.append((low + offset, high + offset))
        return last_part(join.parts, box, self.facts)

    # -- cutting ----------------------------------------------------------------------------------
    def rewrite(self, block: Block, leaving: frozenset[Value]) -> Block:
        """The block with its ops cut."""
        loaded = self.concatenated(block)
        regions = self.cuts(block, loaded) if loaded else {}
        if not regions or set(block.yields) & {r for op in regions for r in op.results}:
            return block
        self.needed |= {
            p.value for found in regions.values() for r in found for p in r.parts.values()
        }
        ops: list[Op] = []
        delayed: dict[Store, list[Store]] = {}
        here = frozenset(block.ops)
        for op in block.ops:
            if isinstance(op, GenericOp) and op in regions:
                ops += self._cut(op, regions[op], loaded, delayed, here)
            elif isinstance(op, Store) and op in delayed:
                ops += delayed[op]
            else:
                ops.append(op)
        return replace(block, ops=ops)

    def _cut(
        self,
        op: GenericOp,
        regions: Sequence[ReadRegion],
        loaded: dict[Value, Concatenated],
        delayed: dict[Store, list[Store]],
        here: Collection[Op],
    ) -> Iterator[Op]:
        partitions = [_in_region(op, region, loaded) for region in regions]
        yield from partitions
        for k, (init, value) in enumerate(zip(op.inits, op.results, strict=True)):
            store = self._only_store(value, partitions, here)
            target = View.whole(self._new_buffer(value)) if store is None else store.view
            stores = [
                _store_of(partition.results[k], target, init.map, region, op)
                for partition, region in zip(partitions, regions, strict=True)
            ]
            if store is not None:
                delayed[store] = [replace(s, location=store.location) for s in stores]
                continue
            yield Alloc(buffer=target.buffer, location=op.location)
            yield from stores
            yield Load(results=(value,), view=target, version=0, location=op.location)

    def _only_store(
        self, value: Value, partitions: Sequence[GenericOp], here: Collection[Op]
    ) -> Store | None:
        """The store of this block that alone takes a value, if no region reads what it writes.

        A value that is a part of a joined array is read by the regions of what reads that array.
        """
        store = store_that_takes(value, self.users.get(value, ()))
        if store is None or store not in here or value in self.leaving or value in self.needed:
            return None
        read = {c for partition in partitions for c in read_classes(partition, self.defined)}
        if store.mask is not None or store.view.buffer.alias_class in read:
            return None
        return store

    def _new_buffer(self, value: Value) -> Buffer:
        buffer = Buffer(value.name, value.type, next(self.classes), order=value.order)
        self.memory[value] = buffer
        return buffer


def _mentions(graph: Graph) -> set[Buffer]:
    """Buffers that are handed out or seen through others, or share their class."""
    found = {r.buffer.root for r in graph.results if isinstance(r, View)}
    for op in walk(graph.block):
        if isinstance(op, Alias):
            found |= {op.buffer, op.buffer.root}
    count = Counter(buffer.alias_class for buffer in graph.buffers)
    return found | {buffer for buffer in graph.buffers if count[buffer.alias_class] > 1}


def _in_region(op: GenericOp, region: ReadRegion, loaded: dict[Value, Concatenated]) -> GenericOp:
    """The op over a region: its operands shifted, joined ones replaced by their parts."""
    moved = {d: AffineExpr.dim(d) + low for d, low in enumerate(region.lows)}
    new = on_domain(op, moved, region.extents, op.iterators)
    inputs = [*new.inputs]
    for k, part in region.parts.items():
        join = loaded[inputs[k].value]
        load = next(ld for ld in join.loads if ld.results[0] is inputs[k].value)
        place = load.view.map.compose(inputs[k].map).results
        results = [_ZERO] * part.value.type.rank
        for axis, dim in enumerate(part.dims):
            if dim is not None:
                results[dim] = place[axis] - part.sides[axis][0]
        inputs[k] = Operand(part.value, IndexingMap(len(op.domain), tuple(results)))
    made = []
    for init, value in zip(op.inits, op.results, strict=True):
        dims = [r.as_dim() for r in init.map.results]
        extents = tuple(region.extents[d] for d in dims if d is not None)
        made.append(
            Value(value.name, replace(value.type, extents=extents), Kind.ARRAY, value.order)
        )
    return tidy(
        replace(
            new,
            results=tuple(made),
            inputs=tuple(inputs),
            inits=tuple(Init(i.map) for i in op.inits),
        )
    )


def _store_of(
    value: Value, target: View, init_map: IndexingMap, region: ReadRegion, op: GenericOp
) -> Store:
    """The store of a region's part of a result."""
    dims = [r.as_dim() for r in init_map.results]
    place = IndexingMap(
        len(dims),
        tuple(AffineExpr.dim(k) + region.lows[d] for k, d in enumerate(dims) if d is not None),
    )
    view = View(target.buffer, target.map.compose(place), value.type.extents)
    return Store(view=view, value=value, version=0, location=op.location)


# ------------------------------------------------------------------------------------ afterwards
def _without_unread(graph: Graph) -> Graph:
    """Without local buffers that are only stored into."""
    ops = [*walk(graph.block)]
    loads = {op for op in ops if isinstance(op, Load)}
    local = {op.buffer for op in ops if isinstance(op, Alloc)}
    unread = local - {op.view.buffer for op in loads} - _mentions(graph)
    values = {*graph.results, *(v for op in ops for v in used_values(op))}
    loads = {op for op in loads if op.view.buffer in local and op.results[0] not in values}
    if not unread and not loads:
        return graph

    def keep(op: Op) -> bool:
        if isinstance(op, Load):
            return op not in loads
        if isinstance(op, Write):
            return op.view.buffer not in unread
        return not (isinstance(op, Alloc) and op.buffer in unread)

    kept = expand_ops(graph, lambda op: (op,) if keep(op) else ())
    return _without_unread(replace(kept, buffers=[b for b in graph.buffers if b not in unread]))
