"""Jitted meaning of ``tile_add`` and of the blocks of its tree, `fusejit.ir.interpreter.summation`.

One function of each module adds the numbers of a node. The eight accumulators of a leaf are one
vector, which each addition waits for: so four leaves that have a grandparent in common are added
side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusejit.codegen.intrinsics_jit.lanes import is_of_floats
from fusejit.codegen.intrinsics_jit.module_symbols import INT64, Value, int64, new_function
from fusejit.codegen.intrinsics_jit.vector_loops import joined, load_vector, vector_loop
from fusejit.codegen.machine.numba_api import are_int64, emitted, ir, types
from fusejit.ir.interpreter.summation import BLOCK, ROUNDS, SLACK
from fusejit.ir.scalar_ops.combiners import COMBINERS


def _tile_sum(accumulators: int) -> Any:
    @emitted(lambda p, *n: is_of_floats(p) and are_int64(*n), lambda p, *n: p.dtype)
    def tile_sum(builder: Any, pointer: Value, start: Value, numbers: Value) -> Value:
        """The sum of so many numbers from an offset on."""
        element = pointer.type.pointee
        name = f"fusejit_tree_{accumulators}_of_{element}"
        function = builder.module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(element, [pointer.type, INT64])
            function = new_function(builder.module, name, kind)
            _Tree(function, accumulators).write()
        begin = builder.gep(pointer, [start], inbounds=True)
        total = builder.call(function, [begin, numbers])
        return builder.fadd(ir.Constant(element, 0.0), total)

    return tile_sum


tile_add, tile_add_parts = (
    _tile_sum(COMBINERS[name].accumulators) for name in ("add", "add_parts")
)


class _Tree:
    """The function ``tree(first, n)``."""

    def __init__(self, function: Value, accumulators: int) -> None:
        self.function = function
        self.accumulators = accumulators
        self.leaf = ROUNDS * accumulators
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.element = function.function_type.return_type

    def write(self) -> None:
        """Sequential sums, leaves, four leaves side by side, and nodes with two branches."""
        builder = self.builder
        first, n = self.function.args
        with builder.if_then(self.less(n, self.accumulators)):
            builder.ret(self.in_turn(ir.Constant(self.element, -0.0), first, int64(0), n))
        with builder.if_then(self.less(n, self.leaf + 1), likely=True):
            builder.ret(*self.leaves([first], [n]))
        left = self.first_part(n)
        right = builder.sub(n, left)
        middle = self.at(first, left)
        quarters = [self.first_part(left), self.first_part(right)]
        counts = [
            part
            for whole, quarter in zip((left, right), quarters, strict=True)
            for part in (quarter, builder.sub(whole, quarter))
        ]
        are_four = self.all_of(
            *(builder.icmp_signed(">", half, int64(self.leaf)) for half in (left, right)),
            *(self.less(count, self.leaf + 1) for count in counts),
        )
        with builder.if_then(are_four, likely=True):
            starts = [first, self.at(first, quarters[0]), middle, self.at(middle, quarters[1])]
            a, b, c, d = self.leaves(starts, counts)
            builder.ret(builder.fadd(builder.fadd(a, b), builder.fadd(c, d)))
        nodes = [builder.call(self.function, [p, m]) for p, m in ((first, left), (middle, right))]
        builder.ret(builder.fadd(*nodes))

    def less(self, n: Value, limit: int) -> Value:
        return self.builder.icmp_signed("<", n, int64(limit))

    def at(self, pointer: Value, offset: Value) -> Value:
        return self.builder.gep(pointer, [offset], inbounds=True)

    def all_of(self, first: Value, *others: Value) -> Value:
        for other in others:
            first = self.builder.and_(first, other)
        return first

    def first_part(self, n: Value) -> Value:
        """How many numbers the left branch adds."""
        return _first_part(self.builder, n, int64(self.accumulators))

    def in_turn(self, total: Value, first: Value, start: Value, stop: Value) -> Value:
        def add(builder: Any, at: Value, so_far: list[Value]) -> list[Value]:
            number = builder.load(builder.gep(first, [at], inbounds=True))
            return [builder.fadd(so_far[0], number)]

        return vector_loop(self.builder, start, stop, 1, [total], add)[0]

    def leaves(self, starts: Sequence[Value], counts: Sequence[Value]) -> list[Value]:
        """The sums of leaves; as long as all go on, side by side."""
        builder = self.builder

        def add(inside: Any, at: Value, so_far: list[Value], places: Sequence[Value]) -> Any:
            numbers = (
                load_vector(inside, inside.gep(p, [at], inbounds=True), self.accumulators)
                for p in places
            )
            return [inside.fadd(v, new) for v, new in zip(so_far, numbers, strict=True)]

        width = int64(self.accumulators)
        wholes = [builder.and_(n, int64(-self.accumulators)) for n in counts]
        common = wholes[0]
        for other in wholes[1:]:
            is_less = builder.icmp_signed("<", other, common)
            common = builder.select(is_less, other, common)
        vectors = [load_vector(builder, p, self.accumulators) for p in starts]
        vectors = vector_loop(
            builder,
            width,
            common,
            self.accumulators,
            vectors,
            lambda b, at, v: add(b, at, v, starts),
        )
        sums = []
        for vector, place, whole, n in zip(vectors, starts, wholes, counts, strict=True):
            if len(starts) > 1:
                (vector,) = vector_loop(
                    builder,
                    common,
                    whole,
                    self.accumulators,
                    [vector],
                    lambda b, at, v, p=place: add(b, at, v, [p]),  # type: ignore[misc]
                )
            total = joined(builder, vector, builder.fadd, neighbours=True)
            sums.append(self.in_turn(total, place, whole, n))
        return sums


def _first_part(builder: Any, n: Value, accumulators: Value) -> Value:
    """`fusejit.ir.interpreter.summation.first_part`; there is a power of two of accumulators."""
    return builder.and_(builder.lshr(n, int64(1)), builder.neg(accumulators))


@emitted(are_int64, types.int64)
def tree_blocks(builder: Any, n: Value) -> Value:
    """`fusejit.ir.interpreter.summation.blocks_of`: a power of two."""
    room = int64(BLOCK - SLACK)
    parts = builder.sdiv(builder.add(n, int64(BLOCK - SLACK - 1)), room)
    zeros = builder.ctlz(builder.sub(parts, int64(1)), ir.Constant(ir.IntType(1), 0))
    power = builder.shl(int64(1), builder.sub(int64(64), zeros))
    return builder.select(builder.icmp_signed("<", parts, int64(2)), int64(1), power)


@emitted(are_int64, types.int64)
def tree_block_start(
    builder: Any, n: Value, blocks: Value, block: Value, accumulators: Value
) -> Value:
    """`fusejit.ir.interpreter.summation.block_start`."""
    halvings = builder.cttz(blocks, ir.Constant(ir.IntType(1), 0))

    def step(inside: Any, at: Value, so_far: list[Value]) -> list[Value]:
        start, length = so_far
        level = inside.sub(inside.sub(halvings, at), int64(1))
        is_right = inside.trunc(inside.lshr(block, level), ir.IntType(1))
        half = _first_part(inside, length, accumulators)
        return [
            inside.select(is_right, inside.add(start, half), start),
            inside.select(is_right, inside.sub(length, half), half),
        ]

    start, _ = vector_loop(builder, int64(0), halvings, 1, [int64(0), n], step)
    return builder.select(builder.icmp_signed(">=", block, blocks), n, start)
