"""Sums of floats in NumPy's tree: a block of the numbers at a time goes through a tile.

    blocks = tree_blocks(n)
    for k in range(blocks):
        base, m = ..                          # block k, which is as deep in the tree as the others
        for j in range(m):
            numbers[j] = payload(base + j)
        push(tile_add(numbers, 0, m))           # totals of neighbours merge on a stack

Where the payload only reads an operand whose numbers are neighbours, they are added where they are.
Extrema of the same nest go through tiles of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.loop_nests.accumulators import Accumulator, reduction_point, write_totals
from fusejit.codegen.loop_nests.chunks import chunked, work_ns
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, Reference, over, wrap
from fusejit.ir.interpreter.summation import ACCUMULATORS, BLOCK, BUFFER
from fusejit.ir.loops.index_math import (
    address,
    both,
    ceildiv,
    compute,
    equal,
    floordiv,
    less,
    let,
    maximum,
    minimum,
    mod,
    moved,
    name,
    operand,
    sub,
)
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    Expr,
    For,
    Free,
    If,
    Integer,
    Let,
    ParallelFor,
    Pointer,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial, product
from fusejit.ir.loops.scalar_math import select
from fusejit.ir.scalar_ops.combiners import COMBINERS

STACK = 64
"""Totals of blocks that wait for their neighbours: more than numbers of 64 bits have digits."""

FEW_BLOCKS = 32
"""Totals of so many blocks need no memory of the heap."""


def rows_in_trees(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    parallel: Sequence[LoopDim],
    reductions: Sequence[LoopDim],
) -> list[Stmt]:
    """One total per point of the parallel loops, summed along the innermost loops."""
    tiles = _Tiles(nest, accs, reductions)
    row = [*tiles.all_pieces(), *write_totals(nest, accs, [_total(acc) for acc in accs])]
    statements = [*tiles.scratch(BLOCK), *_stacks(accs), *wrap(parallel, row)]
    if not parallel:
        return statements
    return [chunked(parallel[0], statements, work_ns(nest), nest.op.name)]


def everything_in_a_tree(
    nest: LoopNest, accs: Sequence[Accumulator], reductions: Sequence[LoopDim], *, often: bool
) -> list[Stmt]:
    """A full sum: totals of blocks, or of pieces, in parallel, then their merging.

    ``often`` says that it is inside a loop, where few numbers deserve code of their own.
    """
    tiles = _Tiles(nest, accs, reductions)
    end = write_totals(nest, accs, [_total(acc) for acc in accs])
    n, limit = tiles.numbers.as_constant(), tiles.accumulators
    is_flat = len(reductions) == 1
    in_turn = _in_turn(nest, accs, reductions[0], limit - 1) if is_flat else []
    if is_flat and n is not None and 0 < n < limit:
        return [*in_turn, *end]
    some: list[Stmt] = [
        *tiles.scratch(BLOCK),
        *tiles.of_one_block(),
        *(let(f"total{acc.suffix}", f"block{acc.suffix}") for acc in accs),
    ]
    if n is not None and n <= BLOCK:
        return [*some, *end]
    statements = _in_parallel(nest, accs, tiles)
    if often:
        is_one_block = equal(Call("tree_blocks", (Integer(tiles.numbers),)), 1)
        statements = [If(is_one_block, some, statements)]
        if is_flat:
            is_sequential = both(compute("<=", 1, tiles.numbers), less(tiles.numbers, limit))
            statements = [If(is_sequential, in_turn, statements)]
    return [*statements, *end]


def _in_turn(nest: LoopNest, accs: Sequence[Accumulator], loop: LoopDim, count: int) -> list[Stmt]:
    """Totals of 1 to ``count`` numbers, in registers: LLVM unrolls the loop.

    Places after the last number read it again, and add the identity.
    """
    lets, results = reduction_point(nest, {loop.var: name("at")})
    starts: list[Stmt] = []
    body: list[Stmt] = [let("at", minimum("j", loop.extent - 1)), *lets]
    is_within = less("j", loop.extent)
    for acc, result in zip(accs, results, strict=True):
        total = f"total{acc.suffix}"
        starts.append(Let(total, acc.identity))
        taken = select(is_within, result, acc.identity, acc.dtype)
        body.append(Let(total, acc.combine(Var(total), taken), rebind=True))
    return [*starts, over("j", count, body)]


def _in_parallel(nest: LoopNest, accs: Sequence[Accumulator], tiles: _Tiles) -> list[Stmt]:
    """Compute totals of blocks of the tree, or of pieces, in parallel, and merge them."""
    n = Integer(tiles.numbers)
    nodes = Var("nodes")
    if tiles.in_pieces:
        count: Expr = ceildiv(tiles.numbers, name("piece"))
        inner = tiles.piece(name("b") * name("piece"))
        totals: list[Expr] = [_merged(acc) for acc in accs]
    else:
        count = Call("tree_blocks", (n,))
        ends = [tiles.block_start(n, nodes, name("b") + k) for k in (0, 1)]
        inner = [
            let("base", ends[0]),
            let("m", sub(ends[1], "base")),
            *tiles.totals(name("base"), Var("m")),
        ]
        totals = [Var(f"block{acc.suffix}") for acc in accs]
    are_many = compute(">", nodes, FEW_BLOCKS)
    statements: list[Stmt] = [*tiles.sizes(), let("nodes", count)]
    for acc in accs:
        part = f"part{acc.suffix}"
        few = Scratch(part, operand(FEW_BLOCKS), acc.dtype, True)
        statements += [few, If(are_many, [Scratch(part, nodes, acc.dtype, False)])]
    for acc, total in zip(accs, totals, strict=True):
        inner.append(StoreElement(f"part{acc.suffix}", name("b"), total))
    body: list[Stmt] = [*tiles.scratch(BLOCK)]
    body += _stacks(accs) if tiles.in_pieces else []
    body.append(For("b", Var("lo"), Var("hi"), inner))
    statements.append(ParallelFor(nodes, work_ns(nest), body, nest.op.name))
    statements += [] if tiles.in_pieces else _stacks(accs)
    for acc in accs:
        part, total_name = f"part{acc.suffix}", f"total{acc.suffix}"
        part_of_k = Element(part, name("k"))
        if tiles.in_pieces:
            step = Let(total_name, acc.combine(Var(total_name), part_of_k), rebind=True)
            statements += [Let(total_name, acc.identity), over("k", nodes, [step])]
        else:
            statements += [let(f"top{acc.suffix}", 0), over("k", nodes, _push(acc, part_of_k))]
            statements.append(Let(total_name, _merged(acc)))
        statements.append(If(are_many, [Free(part)]))
    return statements


# -------------------------------------------------------------------------------------- one block
class _Tiles:
    """The memory through which the numbers of a block go."""

    def __init__(
        self, nest: LoopNest, accs: Sequence[Accumulator], loops: Sequence[LoopDim]
    ) -> None:
        self.nest = nest
        self.accs = accs
        self.loops = loops
        self.numbers = product(loop.extent for loop in loops)
        self.accumulators = max(acc.accumulators for acc in accs)
        self.in_pieces = any(COMBINERS[acc.combiner].in_pieces for acc in accs)
        self.direct = [self._read_directly(at) for at in range(len(accs))]

    def _read_directly(self, at: int) -> Reference | None:
        """The operand that is summed as it is, if its numbers are neighbours."""
        ref = self.nest.op.payload.results[at]
        if len(self.loops) > 1 or ref >= len(self.nest.inputs):
            return None
        reference, (loop,) = self.nest.inputs[ref], self.loops
        if reference.pointer is None or reference.guarded:
            return None
        if not reference.offset.is_linear_in(loop.var):
            return None
        is_dense = self.nest.stride(reference, loop.var).as_constant() == 1
        return reference if is_dense else None

    def scratch(self, numbers: int) -> list[Stmt]:
        """The tiles."""
        return [
            Scratch(f"numbers{acc.suffix}", operand(numbers), acc.dtype, True)
            for acc, direct in zip(self.accs, self.direct, strict=True)
            if direct is None
        ]

    def block_start(self, n: Expr, blocks: Expr, block: Polynomial) -> Expr:
        """Where a block of the tree begins."""
        return Call("tree_block_start", (n, blocks, Integer(block), operand(self.accumulators)))

    def sizes(self) -> list[Stmt]:
        """Statements before all pieces: they give the length of a piece."""
        if not self.in_pieces:
            return []
        if not any(acc.in_rows for acc in self.accs):
            return [let("piece", BUFFER)]
        row = self.loops[-1].extent
        whole = floordiv(BUFFER, maximum(row, 1))
        return [let("whole", whole), let("piece", maximum(maximum(row, name("whole") * row), 1))]

    def all_pieces(self) -> list[Stmt]:
        """Statements that leave the totals of all numbers in ``total..``."""
        one = self.piece(Polynomial.const(0))
        totals = [_merged(acc) for acc in self.accs]
        names = [f"total{acc.suffix}" for acc in self.accs]
        if not self.in_pieces:
            return [*one, *map(Let, names, totals)]
        steps: list[Stmt] = []
        for acc, total, so_far in zip(self.accs, totals, names, strict=True):
            steps.append(Let(so_far, acc.combine(Var(so_far), total), rebind=True))
        begin = [Let(so_far, a.identity) for so_far, a in zip(names, self.accs, strict=True)]
        piece = [*self.piece(name("p") * name("piece")), *steps]
        count = ceildiv(self.numbers, name("piece"))
        return [*self.sizes(), *begin, over("p", count, piece)]

    def piece(self, start: Polynomial) -> list[Stmt]:
        """Statements that leave the totals of the piece from ``start`` on on the stacks."""
        left = Integer(self.numbers - start)
        n = minimum(left, "piece") if self.in_pieces else left
        block: list[Stmt] = [
            let("base", "next"),
            let("next", self.block_start(Var("n"), Var("blocks"), name("k") + 1), rebind=True),
            let("m", sub("next", "base")),
            *self.totals(start + name("base"), Var("m")),
        ]
        for acc in self.accs:
            block += _push(acc, Var(f"block{acc.suffix}"))
        tops: list[Stmt] = [let(f"top{acc.suffix}", 0) for acc in self.accs]
        return [
            let("n", n),
            let("blocks", Call("tree_blocks", (Var("n"),))),
            let("next", 0),
            *tops,
            over("k", "blocks", block),
        ]

    def of_one_block(self) -> list[Stmt]:
        """Statements that leave the totals of all numbers, which fit a block, in ``block..``."""
        place = Polynomial.const(0)
        for loop in self.loops:
            place = place * loop.extent + name(loop.var)
        fill = [] if all(self.direct) else wrap(self.loops, self._point({}, place))
        return [*fill, *self._folds(Polynomial.const(0), Integer(self.numbers))]

    def totals(self, base: Polynomial, m: Expr) -> list[Stmt]:
        """Statements that leave the totals of ``m`` numbers from ``base`` on in ``block..``."""
        return [*self._fill(base, m), *self._folds(base, m)]

    def _folds(self, base: Polynomial, m: Expr) -> list[Stmt]:
        """Statements that sum what the tiles hold."""
        totals: list[Stmt] = []
        for acc, direct in zip(self.accs, self.direct, strict=True):
            pointer: Pointer = f"numbers{acc.suffix}"
            start = Polynomial.const(0)
            if direct is not None:
                there = direct.substitute(self.loops[0].var, base)
                assert there.pointer is not None
                pointer, start = there.pointer, there.offset
            fold = "add" if acc.accumulators == ACCUMULATORS else acc.combiner
            operands = (address(pointer), Integer(start), m)
            call = Call(f"tile_{fold}", operands, reads_memory=True)
            totals.append(Let(f"block{acc.suffix}", call))
        return totals

    def _fill(self, base: Polynomial, m: Expr) -> list[Stmt]:
        """Compute the numbers of a block into the tiles."""
        if all(self.direct):
            return []
        if len(self.loops) == 1:
            (loop,) = self.loops
            return [over("j", m, self._point({loop.var: base + name("j")}, name("j")))]
        *outer, last = self.loops
        places = {loop.var: f"at_{loop.var}" for loop in self.loops}
        begin: list[Stmt] = [let("rest", base)]
        for loop in reversed(self.loops[1:]):
            begin.append(let(places[loop.var], mod("rest", loop.extent)))
            begin.append(let("rest", floordiv("rest", loop.extent), rebind=True))
        first = self.loops[0].var
        begin += [let(places[first], "rest"), let("filled", 0)]
        here = {var: name(place) for var, place in places.items()}
        here[last.var] = here[last.var] + name("j")
        left = minimum(last.extent - name(places[last.var]), sub(m, "filled"))
        carry: list[Stmt] = []
        for loop in outer:  # the first one is the last to be carried into
            place = places[loop.var]
            step: list[Stmt] = [moved(place, 1)]
            if loop is not self.loops[0]:
                over_end = equal(name(place), loop.extent)
                step.append(If(over_end, [let(place, 0, rebind=True), *carry]))
            carry = step
        segment: list[Stmt] = [
            let("count", left),
            over("j", "count", self._point(here, name("filled") + name("j"))),
            moved("filled", name("count")),
            let(places[last.var], 0, rebind=True),
            *carry,
        ]
        return [If(compute(">", m, 0), [*begin, While([], less("filled", m), segment)])]

    def _point(self, here: dict[str, Polynomial], place: Polynomial) -> list[Stmt]:
        lets, results = reduction_point(self.nest, here)
        stores = [
            StoreElement(f"numbers{acc.suffix}", place, result)
            for acc, result, direct in zip(self.accs, results, self.direct, strict=True)
            if direct is None
        ]
        return [*lets, *stores]


# ------------------------------------------------------------------------------- merging blocks
def _push(acc: Accumulator, value: Expr) -> list[Stmt]:
    """Put the total of block ``k`` on the stack, merging neighbours of equal size.

    There is a power of two of blocks, so one total is left at the end.
    """
    s = acc.suffix
    left = Element(f"stack{s}", name(f"top{s}"))
    level: list[Stmt] = [
        moved(f"top{s}", -1),
        Let(f"right{s}", acc.combine(left, Var(f"right{s}")), rebind=True),
        let(f"count{s}", compute(">>", f"count{s}", 1), rebind=True),
    ]
    return [
        Let(f"right{s}", value),
        let(f"count{s}", "k"),
        While([], equal(compute("&", f"count{s}", 1), 1), level),
        StoreElement(f"stack{s}", name(f"top{s}"), Var(f"right{s}")),
        moved(f"top{s}", 1),
    ]


def _merged(acc: Accumulator) -> Expr:
    """The one total on the stack."""
    return Element(f"stack{acc.suffix}", Polynomial.const(0))


def _total(acc: Accumulator) -> Expr:
    return Var(f"total{acc.suffix}")


def _stacks(accs: Sequence[Accumulator]) -> list[Stmt]:
    return [Scratch(f"stack{acc.suffix}", operand(STACK), acc.dtype, True) for acc in accs]
