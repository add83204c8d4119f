"""Stores in place: rows are computed in blocks, and written back when nothing reads them any more.

    for step in first .. last + lag:
        if step < last: compute block number `step` into its slot of the ring buffer
        if step >= first + lag: copy the slot of block `step - lag` into the array

A block is about `BLOCK_POINTS` elements or one row. ``lag`` is the number of blocks that the reads
reach back to, 0 if they all look ahead; the ring buffer has ``lag + 1`` slots. Blocks are taken
from the end of the array where that makes the lag smaller: `fusejit.codegen.bufferize.hazards`.

A large store runs in parallel, as row blocks of blocks. The rows at both ends of a row block, as
far as its neighbours reach, wait in slots of their own until all row blocks are computed. No
element is computed twice or otherwise than without bands, so the number of row blocks changes no
bit.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.codegen.bufferize.hazards import Overlap
from fusejit.codegen.bufferize.memrefs import Memory, MemRef, dense_strides, extent_polynomials
from fusejit.codegen.loop_nests.loop_nest import calls_vector_functions, over, point_cost_ps
from fusejit.codegen.lower.kernel_emitter import KernelEmitter
from fusejit.codegen.lower.kernel_memory import Enclosing
from fusejit.dataclass import replace
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.index_math import (
    add,
    both,
    ceildiv,
    compute,
    either,
    equal,
    floordiv,
    int_of,
    less,
    let,
    maximum,
    minimum,
    mod,
    mul,
    operand,
)
from fusejit.ir.loops.nodes import Apply, Expr, For, If, Integer, Let, ParallelFor, Stmt, Var
from fusejit.ir.loops.polynomial import Polynomial, product
from fusejit.ir.ops import GenericOp, Store

BLOCK_POINTS = 1024
"""Elements of a block: a ring buffer of a few of them stays in the nearest cache."""

ROW_BLOCK_POINTS = 65_536
"""Elements of a row block at least: half a megabyte of float64."""

MAX_ROW_BLOCKS = 16

ROW_BLOCK_EDGES = 8
"""A row block has at least so many times more blocks than wait at one of its ends."""

SERIAL_POINTS = 32_768
"""Stores below this size are one row block: two passes over edges and a launch would not pay."""


class BlockEmitter(KernelEmitter):
    """Adds stores that overlap what they read and are written without a copy of their value."""

    def overlapping(self, store: Store, producer: GenericOp, overlap: Overlap) -> None:
        """Write a store whose producer reads what it writes, in the order that keeps it right."""
        target, place = self.target_of(store, producer)
        nest = self._nest(producer, [target], place)
        if overlap.rows is None and len(nest.loops) > 1 and calls_vector_functions(nest):
            # Short rows are packed in scratch that only functions of their own can hold.
            blocks = replace(overlap, rows=overlap.outermost, backwards=frozenset())
            if blocks.rows is not None:
                overlap = blocks
        if overlap.rows is not None and overlap.constants is None:
            self._in_blocks_if_they_meet(store, producer, overlap)
            return
        if overlap.rows is not None:
            self._in_blocks(store, producer, overlap)
            return
        extents = extent_polynomials(producer.domain)
        self.reversed = {d: extents[d] - 1 for d in overlap.backwards}
        self.own_names = True
        with self.apart() as inside:
            self.generic(producer, [target], place)
        self.own_names = False
        self.reversed = {}
        self.statements += in_one_piece(inside)

    def _in_blocks_if_they_meet(self, store: Store, producer: GenericOp, overlap: Overlap) -> None:
        """In any order where no row that is read is one that is written, else in blocks.

        Only the kernel knows how far it is from the one to the other. Where the rows are elements
        and the distance is 0, each point reads what it writes itself.
        """
        assert overlap.rows is not None
        rows = extent_polynomials(producer.domain)[overlap.rows]
        are_disjoint = [
            _is_apart(Polynomial.from_affine(d), rows, len(producer.domain) == 1)
            for d in overlap.distances
        ]
        target, place = self.target_of(store, producer)
        with self.apart() as together:
            self.generic(producer, [target], place)
        with self.enclosed(Enclosing(self.statements, self.frees, is_loop=False)) as in_blocks:
            self._in_blocks(store, producer, overlap)
        test = functools.reduce(lambda a, b: compute("&", a, b), are_disjoint)
        self.statements.append(If(test, together, in_blocks))

    def _in_blocks(self, store: Store, producer: GenericOp, overlap: Overlap) -> None:
        target, place = self.target_of(store, producer)
        assert overlap.rows is not None
        assert target.map is not None
        ring_buffer = _RingBuffer(self._name("h"))
        value = store.value
        extents = extent_polynomials(producer.domain)
        points = product(extents)
        row = product(e for d, e in enumerate(extents) if d != overlap.rows)
        nest = self._nest(producer, [target], None)
        sizes = ring_buffer.sizes(extents[overlap.rows], row, points, overlap)
        name = f"p_{ring_buffer.tag}"
        size = ring_buffer.row_blocks * ring_buffer.slots * ring_buffer.block * ring_buffer.row
        self.allocate(sizes, name, Integer(size), value.type.dtype)
        # the ring buffer: rows outermost, the others as in the memory that is written
        buffer = store.view.buffer
        near = buffer.order or tuple(range(buffer.type.rank))
        axis_of = {d: k for k, r in enumerate(producer.inits[0].map.results) for d in r.dims()}
        position = {
            dim: at
            for at, axis in enumerate(near)
            for dim in target.map.compose(producer.inits[0].map).results[axis].dims()
        }
        order = sorted(axis_of, key=lambda d: (d != overlap.rows, position.get(d, -1)))
        length_of = {axis: extents[dim] for dim, axis in axis_of.items()}
        lengths = [length_of.get(k, Polynomial.const(1)) for k in range(value.type.rank)]
        strides = dense_strides(lengths, [axis_of[dim] for dim in order])
        row_axis = axis_of[overlap.rows]
        origin = ring_buffer.base - ring_buffer.start * strides[row_axis]
        memory = Memory(name, value.type.dtype, strides, start=origin)
        slot = MemRef.whole(memory)

        self.tile_of = {overlap.rows: (ring_buffer.start, ring_buffer.wide)}
        with self.apart() as computed:
            self.generic(producer, [slot])
        self.tile_of = {row_axis: (ring_buffer.start, ring_buffer.wide)}
        whole = None if place is None else (place[0], IndexingMap.identity(value.type.rank))
        with self.apart() as write:
            self._copy_from(slot, value, target, "write back", whole)
        self.tile_of = {}
        cost = floordiv(points * point_cost_ps(nest), 1000)
        work = mul(cost, int_of(compute(">", ring_buffer.row_blocks, 1)))
        self.statements += ring_buffer.loops(_alone(computed), _alone(write), work, producer.name)


class _RingBuffer:
    """The names of a store in blocks, and its statements around those of one block."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.row = Polynomial.name(f"{tag}_row")  # elements of a row
        self.block = Polynomial.name(f"{tag}_block")  # rows of a block
        self.row_blocks = Polynomial.name(f"{tag}_bands")
        self.slots = Polynomial.name(f"{tag}_slots")  # of a row block
        self.start = Polynomial.name(f"{tag}_start")  # first row of the block at hand
        self.wide = Polynomial.name(f"{tag}_wide")  # its rows
        self.base = Polynomial.name(f"{tag}_base")  # where its slot begins
        self.rows = Polynomial.name(f"{tag}_rows")  # of the store
        self.units = Polynomial.name(f"{tag}_units")  # blocks of the store
        self.ahead = Polynomial.name(f"{tag}_ahead")  # rows that the reads reach to
        self.behind = Polynomial.name(f"{tag}_behind")
        self.back = Polynomial.name(f"{tag}_back")  # 1 if blocks are taken from the end
        self.lag = Polynomial.name(f"{tag}_lag")  # blocks that the reads reach back to
        self.edge = Polynomial.name(f"{tag}_edge")  # blocks that wait at an end of a row block
        self.per = Polynomial.name(f"{tag}_per")  # blocks of a row block
        self.row_block = Polynomial.name(f"{tag}_band")  # which row block is at hand
        self.turn = Polynomial.name(f"{tag}_pass")  # 1 for what waits at the ends
        self.step = Polynomial.name(f"{tag}_step")
        self.done = Polynomial.name(f"{tag}_done")  # the block that is written back
        self.first = Polynomial.name(
            f"{tag}_first"
        )  # block of the row block, and after its last one
        self.last = Polynomial.name(f"{tag}_last")
        self.slot = Polynomial.name(f"{tag}_slot")

    def sizes(
        self, rows: Polynomial, row: Polynomial, points: Polynomial, overlap: Overlap
    ) -> list[Let]:
        """How large blocks are, how many wait, and how many row blocks there are."""
        block, units = self.block, self.units
        distances = [Polynomial.from_affine(d) for d in overlap.distances]
        ahead = _most([-d for d in distances])
        behind = _most(distances)
        most = minimum(
            minimum(
                floordiv(units, self.edge * ROW_BLOCK_EDGES + 1), floordiv(points, ROW_BLOCK_POINTS)
            ),
            MAX_ROW_BLOCKS,
        )
        enough: Expr = int_of(compute(">=", points, SERIAL_POINTS))
        if overlap.constants is None:
            enough = operand(0)  # how far neighbours reach into a row block is not bounded
        nearest = _rounded_up(minimum(self.ahead, self.behind), block)
        farthest = _rounded_up(maximum(self.ahead, self.behind), block)
        in_row_blocks = int_of(compute(">", self.row_blocks, 1))
        return [
            let(str(self.rows), rows),
            let(str(self.row), row),
            let(str(block), maximum(floordiv(BLOCK_POINTS, maximum(self.row, 1)), 1)),
            let(str(units), maximum(ceildiv(self.rows, block), 0)),
            let(str(self.ahead), ahead),
            let(str(self.behind), behind),
            let(str(self.back), int_of(less(self.behind, self.ahead))),
            let(str(self.lag), minimum(nearest, units)),
            let(str(self.edge), farthest),
            let(str(self.row_blocks), maximum(mul(most, enough), 1)),
            let(str(self.edge), mul(self.edge, in_row_blocks), rebind=True),
            let(str(self.slots), self.lag + 1 + self.edge * 2),
            let(str(self.per), ceildiv(units, self.row_blocks)),
        ]

    def loops(
        self, computed: Sequence[Stmt], write: Sequence[Stmt], work: Apply, comment: str
    ) -> list[Stmt]:
        """All blocks of all bands, then what waits at the ends of row blocks."""
        done, step, first, last = self.done, self.step, self.first, self.last
        is_end = either(less(done, first + self.edge), compute(">=", done, last - self.edge))
        is_due = both(compute(">=", done, first), equal(int_of(is_end), self.turn))
        is_new = both(less(step, last), equal(self.turn, 0))
        steps: list[Stmt] = [
            If(is_new, [*self._block(step), *computed]),
            let(str(done), step - self.lag),
            If(is_due, [*self._block(done), *write]),
        ]
        row_block: list[Stmt] = [
            let(str(first), self.row_block * self.per),
            let(str(last), minimum(first + self.per, self.units)),
            For(str(step), Integer(first), Integer(last + self.lag), steps),
        ]
        chunks = [For(str(self.row_block), Var("lo"), Var("hi"), row_block)]
        launch = ParallelFor(Integer(self.row_blocks), work, chunks, f"in place: {comment}")
        passes = add(1, int_of(compute(">", self.edge, 0)))
        return [over(str(self.turn), passes, [launch])]

    def _block(self, step: Polynomial) -> list[Stmt]:
        """Rows and slot of a block: a slot of the ring buffer, or one of those that wait."""
        into, left = step - self.first, self.last - 1 - step
        slot, slots = str(self.slot), self.lag + 1
        waits_before = let(slot, slots + into, rebind=True)
        waits_after = let(slot, slots + self.edge + left, rebind=True)
        number = step + self.back * (self.units - 1 - 2 * step)
        place = (self.row_block * self.slots + self.slot) * self.block * self.row
        return [
            let(str(self.start), number * self.block),
            let(str(self.wide), minimum(self.rows - self.start, self.block)),
            let(slot, mod(into, slots)),
            If(
                less(into, self.edge),
                [waits_before],
                [If(less(left, self.edge), [waits_after])],
            ),
            let(str(self.base), place),
        ]


def _rounded_up(number: Apply, divisor: Polynomial) -> Apply:
    """``number / divisor``, rounded up."""
    return floordiv(add(number, divisor - 1), divisor)


def _most(numbers: Sequence[Polynomial]) -> Expr:
    """The largest of the numbers and 0."""
    known = [n.as_constant() for n in numbers]
    constants = [n for n in known if n is not None]
    if len(constants) == len(numbers):
        return operand(max((0, *constants)))
    return maximum(0, *numbers)


def _is_apart(distance: Polynomial, rows: Polynomial, is_line: bool) -> Apply:
    """Whether ``distance`` rows are as many as there are, or there are none; or, of a line, 0."""
    found = [compute(">=", each, rows) for each in (distance, -distance, 0)]
    if is_line:
        found.append(equal(distance, 0))
    return functools.reduce(lambda a, b: compute("|", a, b), found)


def _alone(statements: Sequence[Stmt]) -> list[Stmt]:
    """Nests of one block are never launched on threads of their own."""
    return [
        replace(s, work_ns=operand(0), streamed=None)
        if isinstance(s, ParallelFor)
        else with_bodies(s, _alone)
        for s in statements
    ]


def in_one_piece(statements: Sequence[Stmt]) -> list[Stmt]:
    """Loops that run from their start to their end, without chunks."""
    found: list[Stmt] = []
    for statement in statements:
        if isinstance(statement, ParallelFor):
            found += [let("lo", 0), Let("hi", statement.extent), *statement.body]
        else:
            found.append(with_bodies(statement, in_one_piece))
    return found
