"""Estimated costs of a graph for sizes that are known: bytes moved, arithmetic, scratch memory.

Each op reads its operands and writes its results once per run, as if no cache kept them. Arrays
that one iteration of a loop makes for itself are scratch memory, and move nothing if they fit into
`CACHED_BYTES`. So fusion shows: a temporary array that becomes a tile is not moved any more.

The iterations of a loop cost what the one in the middle costs, but a last one with a shorter tile
costs less. Lengths that only the call itself knows count as `ASSUMED`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.analysis.estimated_work import ASSUMED, UNTIL
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.interpreter.interpret import host_environment
from fusejit.ir.interpreter.interpret_generic import run_generic
from fusejit.ir.ops import (
    Alloc,
    Bind,
    Block,
    Cond,
    GenericOp,
    Load,
    Loop,
    Op,
    Operand,
    Scatter,
    Store,
    ViewOp,
    walk,
)
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.values import Buffer, Value
from fusejit.stages import Traced
from fusejit.transform.core.equivalence import paths_of

CACHED_BYTES = 256 << 10
"""Arrays up to this size stay in the cache between two ops of an iteration."""

MAX_RAGGED = 6
"""Loops inside each other of which the last iteration is counted by itself; else by its length."""


@dataclass(frozen=True)
class Costs:
    """What a graph costs: bytes read and written, scalar operations, bytes of scratch memory."""

    moved: int
    flops: int
    scratch: int
    points: Mapping[Op, int]
    """How many points of its domain each op computes, in all iterations of the loops around it."""


class _Sizes(dict[str, int]):
    """The value of each symbol."""

    def __missing__(self, name: str) -> int:
        return ASSUMED


def sizes_of(stage: Traced, args: tuple[Any, ...]) -> dict[str, int]:
    """The value of each symbol of a traced function for a call with positional arguments."""
    names = host_environment(stage.graph, paths_of(stage, args))
    return {symbol.name: int(names[symbol.name]) for symbol in stage.graph.symbols}


def estimate(graph: Graph, sizes: Mapping[str, int]) -> Costs:
    """The costs of a graph, given the value of each of its symbols."""
    counting = _Counting(graph)
    total = counting.block(graph.block, _Sizes(sizes), False)
    points = {op: round(number) for (what, op), number in total.items() if what == "points"}
    moved = sum(number for (what, _), number in total.items() if what == "bytes")
    flops = sum(number * _flops(op) for op, number in points.items())
    return Costs(round(moved), flops, sum(counting.scratch.values()), points)


def _flops(op: Op) -> int:
    """Scalar operations of one point."""
    if not isinstance(op, GenericOp):
        return 0
    combined = sum(init.combiner is not None for init in op.inits)
    return sum(instr.op in SCALAR_OPS for instr in op.payload.instrs) + combined


class _Counting:
    """Counts per run of a block; `scratch` has the bytes of each array that is not a result."""

    def __init__(self, graph: Graph) -> None:
        self.scratch: dict[Value | Buffer, int] = {}
        self.num_ragged = 0  # loops around with a shorter last tile
        self.cached: set[Value | Buffer] = set()
        ops = [*walk(graph.block)]
        readers: Counter[Value] = Counter(v for op in ops for v in op.operand_values)
        self.stored = {op.value for op in ops if isinstance(op, Store) and readers[op.value] == 1}
        self.bound = {op.value: op for op in ops if isinstance(op, Bind)}
        loaded = {op.results[0]: op.view.buffer for op in ops if isinstance(op, Load)}
        self.leaving: set[Value | Buffer] = set()
        for result in graph.results:
            buffer = loaded.get(result) if isinstance(result, Value) else result.buffer
            self.leaving |= {result} if isinstance(result, Value) else set()
            self.leaving |= set() if buffer is None else {buffer.root}

    def block(self, block: Block, sizes: _Sizes, is_in_loop: bool) -> Counter[tuple[str, Op]]:
        """Points and bytes of the ops of a block, each with what it counts."""
        total: Counter[tuple[str, Op]] = Counter()
        for op in block.ops:
            total.update(self.op(op, sizes, is_in_loop))
        return total

    def op(self, op: Op, sizes: _Sizes, is_in_loop: bool) -> Counter[tuple[str, Op]]:
        if isinstance(op, GenericOp):
            self.make(op.results, sizes, is_in_loop)
            if self.is_bound(op, sizes):
                return Counter()
            points = _product(op.domain, sizes)
            return Counter({("points", op): points, ("bytes", op): self.generic(op, sizes)})
        if (isinstance(op, ViewOp) and op.source in self.cached) or (
            isinstance(op, Load) and op.view.buffer in self.cached
        ):
            self.cached.update(op.results)
        elif isinstance(op, Alloc):
            self.make([op.buffer], sizes, is_in_loop)
        elif isinstance(op, Store):
            return Counter({("bytes", op): self.store(op, sizes)})
        elif isinstance(op, Scatter):
            size = num_bytes(op.value, sizes)
            return Counter({("bytes", op): size * (2 if op.combine is None else 3)})
        elif isinstance(op, Loop):
            return self.loop(op, sizes)
        elif isinstance(op, Cond):
            both = self.block(op.then_block, sizes, is_in_loop)
            both.update(self.block(op.else_block, sizes, is_in_loop))
            return Counter({key: number // 2 for key, number in both.items()})
        return Counter()

    def loop(self, op: Loop, sizes: _Sizes) -> Counter[tuple[str, Op]]:
        if op.condition is not None:
            return _times(self.block(op.body, sizes, True), UNTIL)
        induction, *ends = op.counted
        lower, upper = (end.evaluate((), sizes) for end in ends)
        indices = range(lower, upper, op.step)
        if not indices:
            return Counter()
        middle = _Sizes({**sizes, induction: indices[(len(indices) - 1) // 2]})
        last = _Sizes({**sizes, induction: indices[-1]})
        full, short = self.lengths(op, middle), self.lengths(op, last)
        if full == short or self.num_ragged == MAX_RAGGED:
            last_one = math.prod(short) / (math.prod(full) or 1)
            return _times(self.block(op.body, middle, True), len(indices) - 1 + last_one)
        self.num_ragged += 1
        total = _times(self.block(op.body, middle, True), len(indices) - 1)
        total.update(self.block(op.body, last, True))
        self.num_ragged -= 1
        return total

    def lengths(self, loop: Loop, sizes: _Sizes) -> list[int]:
        """The lengths of tiles in an iteration of a loop."""
        inside = _Sizes(sizes)
        for op in loop.body.ops:
            if isinstance(op, GenericOp):
                self.is_bound(op, inside)
        return [inside[tile.length] for tile in loop.tiles]

    def is_bound(self, op: GenericOp, sizes: _Sizes) -> bool:
        """Whether an op computes sizes that are bound to symbols, which `sizes` gets."""
        if op.domain or op.inputs or op.results[0] not in self.bound:
            return False
        for value, number in zip(op.results, run_generic(op, {}, sizes), strict=True):
            sizes[self.bound[value].symbol] = int(number.item())
        return True

    def make(self, made: Iterable[Value | Buffer], sizes: _Sizes, is_in_loop: bool) -> None:
        """Note arrays that come into being."""
        for one in made:
            if one in self.leaving or one in self.stored or not one.type.rank:
                continue
            size = num_bytes(one, sizes)
            self.scratch[one] = max(size, self.scratch.get(one, 0))
            if is_in_loop and size <= CACHED_BYTES:
                self.cached.add(one)

    def generic(self, op: GenericOp, sizes: _Sizes) -> int:
        """Bytes that one run of an op reads and writes."""
        gathered = op.payload.gathered()
        reads = {o: at in gathered for at, o in enumerate(op.inputs)}
        reads |= {Operand(i.start, i.map): False for i in op.inits if i.start is not None}
        total = 0
        for operand, is_gathered in reads.items():
            if operand.value not in self.cached:
                num = _product(op.domain, sizes) if is_gathered else _reached(operand, op, sizes)
                total += num * operand.value.type.dtype.itemsize
        written = [r for r in op.results if r not in self.cached and r not in self.stored]
        return total + sum(num_bytes(r, sizes) for r in written)

    def store(self, op: Store, sizes: _Sizes) -> int:
        size = _product(op.view.extents, sizes) * op.view.buffer.type.dtype.itemsize
        is_moved = op.value not in self.stored and op.value not in self.cached
        return size * ((op.view.buffer not in self.cached) + is_moved)


def _product(extents: Iterable[AffineExpr], sizes: Mapping[str, int]) -> int:
    total = 1
    for extent in extents:
        total *= max(extent.evaluate((), sizes), 0)
    return total


def num_bytes(made: Value | Buffer, sizes: Mapping[str, int]) -> int:
    """The bytes of an array."""
    return _product(made.type.extents, sizes) * made.type.dtype.itemsize


def _times(counts: Counter[tuple[str, Op]], number: float) -> Counter[tuple[str, Op]]:
    return Counter({key: round(value * number) for key, value in counts.items()})


def _reached(operand: Operand, op: GenericOp, sizes: _Sizes) -> int:
    """How many elements of an operand an op reads."""
    if not operand.value.type.rank:
        return 0
    map_: IndexingMap = operand.map
    extents = operand.value.type.extents
    elements = 1
    for result, extent in zip(map_.results, extents, strict=True):
        reach = extent.evaluate((), sizes)
        if result.is_linear:
            steps = [(op.domain[d].evaluate((), sizes), d) for d in result.dims()]
            reach = min(reach, 1 + sum((n - 1) * abs(result.coefficient(Dim(d))) for n, d in steps))
        elements *= max(reach, 0)
    return min(elements, _product((op.domain[d] for d in map_.dims()), sizes))
