"""Groups: one loop over tiles of the common bands, in which each op of the group runs in turn.

    for item in tiles of the bands:
        start0, wide0 = where the tile begins along the first shared loop, and how wide it is
        nest of the first op on [start0, start0 + wide0)
        nest of the second op on [start0, start0 + wide0)
        ...

A nest is written exactly as outside a group (the same order of sums, the same variants for short
rows), only the loops of its shared loops run over the tile. Values that nobody outside needs live
in scratch of one tile.

How wide a tile is, is decided when the kernel runs. Bands are cut so that a tile stays in the
nearest cache. Where a shared loop is the unit-stride dim of an array whose other dims run inside, a
tile is a strip of columns. A narrow strip touches a page for each of its rows and waits for the
address translation (a strip of 16 columns is copied eight times slower than whole rows), so strips
are as large as the second-level cache allows, and if that is less than a page wide the shared loop
is not cut. A single tile runs its nests in parallel; several tiles run in parallel themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.codegen.bufferize.memrefs import (
    Memory,
    MemRef,
    dense_strides,
    extent_polynomials,
)
from fusejit.codegen.intrinsics.statuses import Status
from fusejit.codegen.loop_nests.loop_nest import (
    point_cost_ps,
)
from fusejit.codegen.lower.store_emitter import StoreEmitter
from fusejit.dataclass import replace
from fusejit.ir.execution_plan import Group
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.index_math import (
    Index,
    add,
    ceildiv,
    compute,
    equal,
    floordiv,
    int_of,
    less,
    let,
    maximum,
    minimum,
    mod,
    mul,
    sub,
)
from fusejit.ir.loops.nodes import (
    Expr,
    For,
    Free,
    If,
    Integer,
    Let,
    ParallelFor,
    Scratch,
    Stmt,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial, product

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

LARGE = 1 << 20
"""Bytes of scratch from which on it is tried first whether there is memory for it."""


class GroupEmitter(StoreEmitter):
    """Adds groups of ops that share loops over tiles."""

    def group(self, group: Group) -> None:
        """All ops of a group as one loop over tiles."""
        tag = self._name("g")
        last, dims = group.ops[-1], group.shared_dims[-1]
        shared_loops = [
            _SharedLoop(
                extent=extent_polynomials(last.domain)[dim],
                start=Polynomial.name(f"{tag}_start{at}"),
                width=Polynomial.name(f"{tag}_wide{at}"),
                full=Polynomial.name(f"{tag}_tile{at}"),
                count=Polynomial.name(f"{tag}_count{at}"),
            )
            for at, dim in enumerate(dims)
        ]
        for op in group.ops:  # memory of the whole kernel
            for result in op.results:
                store = self.assignment.straight.get(result)
                is_free = store not in self.assignment.overlaps
                if store is not None and store is group.store and is_free:
                    view = store.view
                    self.memrefs[result] = MemRef(self.buffer_memory(view.buffer), view.map)
                    self.stored.add(store)
                elif result not in group.local:
                    self.assignment.straight.pop(result, None)
                    self._new_memref(result)
        outer, self.statements = self.statements, []
        scratch = self._local_scratch(group, shared_loops)
        work: list[Expr] = []
        for op, own, halo in zip(group.ops, group.shared_dims, group.halos, strict=True):
            self.tile_of = {d: b.around(h) for d, b, h in zip(own, shared_loops, halo, strict=True)}
            self.generic(op, [self.memrefs[r] for r in op.results])
            self.tile_of = {}
            nest = self._nest(op, [self.memrefs[r] for r in op.results], None)
            points = product(extent_polynomials(op.domain))
            work.append(floordiv(points * point_cost_ps(nest), 1000))
        is_single = f"{tag}_single"
        nests = _parallel_if(is_single, self.statements)
        self.statements = outer
        self.statements += self._tile_widths(group, shared_loops, tag)
        total = Polynomial.name(f"{tag}_items")
        self.statements.append(Let(f"{tag}_items", Integer(product(b.count for b in shared_loops))))
        self.statements.append(let(is_single, int_of(equal(total, 1))))
        self.statements += self._memory_probe(scratch, total, tag)
        body: list[Stmt] = [
            *scratch,
            For(
                f"{tag}_item",
                Var("lo"),
                Var("hi"),
                [*_place_in_shared_loops(shared_loops, tag), *nests],
            ),
            *(Free(s.name) for s in scratch),
        ]
        cost = add(*work) if len(work) > 1 else work[0]
        names = ", ".join(op.name for op in group.ops)
        self.statements.append(ParallelFor(Integer(total), cost, body, f"group: {names}"))
        for value in group.local:
            del self.memrefs[value]

    def _local_scratch(self, group: Group, shared_loops: Sequence[_SharedLoop]) -> list[Scratch]:
        """Scratch of one tile for each value that stays inside the group."""
        scratch = []
        for op, own, halo in zip(group.ops, group.shared_dims, group.halos, strict=True):
            shared_loop_of_dim = {
                d: (b, h) for d, b, h in zip(own, shared_loops, halo, strict=True)
            }
            for result, init in zip(op.results, op.inits, strict=True):
                if result not in group.local:
                    continue
                tile: list[Polynomial] = []
                largest: list[Polynomial] = []
                origins: list[Polynomial] = []
                for axis, extent in enumerate(extent_polynomials(result.type.extents)):
                    dim = init.map.results[axis].as_dim()
                    if dim is None or dim not in shared_loop_of_dim:
                        start, width, full = Polynomial.const(0), extent, extent
                    else:
                        shared_loop, (before, behind) = shared_loop_of_dim[dim]
                        start, width = shared_loop.around((before, behind))
                        full = shared_loop.full + (behind - before)
                    tile.append(width)
                    largest.append(full)
                    origins.append(start)
                strides = dense_strides(tile, result.order)
                origin = Polynomial.const(0)
                for start, stride in zip(origins, strides, strict=True):
                    origin = origin + start * stride
                name = f"p_{self._name('t')}"
                scope = self._next_scope(name)
                scratch.append(
                    Scratch(name, Integer(product(largest)), result.type.dtype, False, scope)
                )
                memory = Memory(name, result.type.dtype, strides, start=-origin)
                self.memrefs[result] = MemRef(memory, IndexingMap.identity(result.type.rank))
        return scratch

    # -- tiles ----------------------------------------------------------------------------------
    def _tile_widths(
        self, group: Group, shared_loops: Sequence[_SharedLoop], tag: str
    ) -> list[Stmt]:
        """How wide tiles are along each shared loop, and how many there are."""
        points = f"{tag}_points"  # of the widest op, for one point of the shared loops
        left = f"{tag}_left"  # points of the shared loops that still fit into a tile
        inner: list[Polynomial] = []
        for op, own in zip(group.ops, group.shared_dims, strict=True):
            extents = extent_polynomials(op.domain)
            here = product(e for d, e in enumerate(extents) if d not in own)
            if here not in inner:
                inner.append(here)
        statements: list[Stmt] = [Let(points, Integer(Polynomial.const(1)))]
        for each in inner:
            if each.as_constant() != 1:
                statements.append(let(points, maximum(points, each), rebind=True))
        if not self._in_strips(group):
            halo = max(behind - before for halos in group.halos for before, behind in halos)
            fits = floordiv(TILE_POINTS, points)
            if halo:
                fits = maximum(fits, HALO_SHARE * halo)
            statements.append(let(left, fits))
            for shared_loop in reversed(shared_loops):
                statements += shared_loop.cut(left)
            return statements
        *around, columns = shared_loops
        whole = columns.extent
        rounded = sub(left, mod(left, STRIP_ROUNDING))
        strip = maximum(minimum(whole, left), 1)
        statements += [
            let(left, floordiv(STRIP_POINTS, points)),
            let(str(columns.full), maximum(whole, 1)),
            If(
                compute(">=", left, minimum(STRIP_COLUMNS, whole)),
                [
                    If(less(left, whole), [let(left, rounded, rebind=True)]),
                    let(str(columns.full), strip, rebind=True),
                ],
            ),
            columns.counted(),
            let(left, floordiv(left, maximum(whole, 1)), rebind=True),
        ]
        for shared_loop in reversed(around):
            statements += shared_loop.cut(left)
        return statements

    def _in_strips(self, group: Group) -> bool:
        """Whether an array has its unit stride along a shared loop while other dims run inside."""
        for op, own in zip(group.ops, group.shared_dims, strict=True):
            inside = [d for d, e in enumerate(op.domain) if d not in own and e.as_constant() != 1]
            nest = self._nest(op, [self.memrefs[r] for r in op.results], None)
            for reference in nest.references:
                strides = [nest.stride(reference, f"d{d}") for d in range(len(op.domain))]
                if any(strides[d].terms for d in inside) and any(
                    strides[d].as_constant() in (1, -1) for d in own
                ):
                    return True
        return False

    def _memory_probe(self, scratch: Sequence[Scratch], items: Polynomial, tag: str) -> list[Stmt]:
        """Chunks cannot say that memory ran out, so large scratch is tried here once."""
        if not scratch:
            return []
        total = Polynomial.const(0)
        for each in scratch:
            assert isinstance(each.size, Integer)
            total = total + each.size.value * each.dtype.itemsize
        name = f"{tag}_bytes"
        size = mul(name, minimum(items, _AT_ONCE))
        probe = Scratch(f"{tag}_probe", size, np.dtype(np.uint8), False, 0, Status.NO_MEMORY)
        return [
            Let(name, Integer(total)),
            If(compute(">", name, LARGE), [probe, Free(probe.name)]),
        ]


_AT_ONCE = 16  # chunks that may hold scratch at one time


class _SharedLoop:
    """A shared loop of a group and the names of what is known about it when the kernel runs."""

    def __init__(
        self,
        extent: Polynomial,
        start: Polynomial,
        width: Polynomial,
        full: Polynomial,
        count: Polynomial,
    ) -> None:
        self.extent = extent
        self.start = start  # of the tile at hand
        self.width = width  # of the tile at hand
        self.full = full  # of tiles that are not at the end
        self.count = count  # how many tiles

    def around(self, halo: tuple[int, int]) -> tuple[Polynomial, Polynomial]:
        """Where an op with this halo begins for the tile at hand, and how many points it has."""
        before, behind = halo
        return self.start + before, self.width + (behind - before)

    def cut(self, left: str) -> list[Stmt]:
        """Take as much of the shared loop into a tile as fits, then of the loops around it."""
        return [
            let(str(self.full), maximum(minimum(self.extent, left), 1)),
            let(left, floordiv(left, maximum(self.extent, 1)), rebind=True),
            self.counted(),
        ]

    def counted(self) -> Stmt:
        """The number of tiles along the shared loop."""
        return let(str(self.count), ceildiv(self.extent, self.full))


def _place_in_shared_loops(shared_loops: Sequence[_SharedLoop], tag: str) -> list[Stmt]:
    """Where tile number ``item`` begins along each shared loop, the last one running fastest."""
    rest = f"{tag}_rest"
    statements: list[Stmt] = [Let(rest, Var(f"{tag}_item"))]
    for at, shared_loop in reversed(list(enumerate(shared_loops))):
        number: Index = rest if at == 0 else mod(rest, shared_loop.count)
        statements += [
            let(str(shared_loop.start), mul(number, shared_loop.full)),
            let(
                str(shared_loop.width),
                minimum(shared_loop.extent - shared_loop.start, shared_loop.full),
            ),
        ]
        if at:
            statements.append(let(rest, floordiv(rest, shared_loop.count), rebind=True))
    return statements


def _parallel_if(condition: str, statements: Sequence[Stmt]) -> list[Stmt]:
    """Loops that are launched in parallel only where ``condition`` is 1."""
    result: list[Stmt] = []
    for statement in statements:
        if isinstance(statement, ParallelFor):
            statement = replace(statement, work_ns=mul(statement.work_ns, condition))
        elif isinstance(statement, If):
            statement = replace(
                statement,
                body=_parallel_if(condition, statement.body),
                orelse=_parallel_if(condition, statement.orelse),
            )
        elif isinstance(statement, For | While):
            statement = replace(statement, body=_parallel_if(condition, statement.body))
        result.append(statement)
    return result
