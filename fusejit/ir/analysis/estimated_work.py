"""Estimated work of ops: how many picoseconds they take, as a polynomial of sizes.

    for i0 = 0 to s0 step 1 {               300 * s0 * s1 + ..
      for i1 = 0 to s1 step 1 {
        store @y v1 [() -> (i0, i1)] () = ..

Bounds of loops inside enter as they are; where they depend on a loop's variable, that one has its
mean. What only the ops themselves know (lengths read from memory, conditions) counts as a few
iterations: work that is taken for less than it is stays serial at sizes where threads gain little.
"""

from __future__ import annotations

from fusejit.ir.affine import AffineExpr
from fusejit.ir.loops.polynomial import Polynomial, product
from fusejit.ir.ops import Bind, Block, Cond, GenericOp, Loop, Op, Scatter, Store
from fusejit.ir.payload import Payload
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import IteratorType

POINT_PS = 200  # loads, stores and counting of one point
NEST_PS = 5_000  # what a reduction does around its points
ASSUMED = 8  # iterations of a loop, or length of an array, that only the body knows
UNTIL = 16  # iterations of a loop that ends on a condition


def loop_ps(loop: Loop) -> Polynomial:
    """Picoseconds of all iterations of a counted loop, by symbols that are known around it."""
    return _Estimate().loop(loop)


class _Estimate:
    """Picoseconds of ops, as a polynomial of symbols that are known around them."""

    def __init__(self) -> None:
        self.unknown: set[str] = set()  # symbols that the ops themselves define
        self.known: set[str] = set()  # those of them that are lengths of tiles

    def block(self, block: Block) -> Polynomial:
        total = Polynomial.const(0)
        for op in block.ops:
            total = total + self.op(op)
        return total

    def op(self, op: Op) -> Polynomial:
        if isinstance(op, Bind):
            self.unknown |= {op.symbol} - self.known
        elif isinstance(op, GenericOp):
            own = NEST_PS if IteratorType.REDUCTION in op.iterators else 0
            return self.points(op.domain) * (POINT_PS + payload_ps(op.payload)) + own
        elif isinstance(op, Scatter):
            return self.points(op.value.type.extents) * POINT_PS
        elif isinstance(op, Store):
            return self.points(op.view.extents) * POINT_PS
        elif isinstance(op, Loop):
            if op.condition is not None:
                return (self.block(op.condition) + self.block(op.body)) * UNTIL
            return self.loop(op)
        elif isinstance(op, Cond):
            both = self.block(op.then_block) + self.block(op.else_block)
            return _halved(both)
        return Polynomial.const(0)

    def points(self, domain: tuple[AffineExpr, ...]) -> Polynomial:
        total = product(Polynomial.from_affine(extent) for extent in domain)
        for name in total.names() & self.unknown:
            total = total.substitute(name, Polynomial.const(ASSUMED))
        return total

    def loop(self, op: Loop) -> Polynomial:
        """``trips`` times what the body takes at the mean of its variable."""
        induction, *ends = op.counted
        lower, upper = map(Polynomial.from_affine, ends)
        if (lower.names() | upper.names()) & self.unknown:
            self.unknown.add(induction)
            return self.block(op.body) * ASSUMED
        trips = upper - lower
        if op.step != 1:
            trips = Polynomial.quotient(trips, op.step)
        if op.tiles:
            return self.tiles(op, trips)
        return _at_mean(self.block(op.body), induction, lower + upper - 1) * trips

    def tiles(self, op: Loop, trips: Polynomial) -> Polynomial:
        """What grows with a tile is done once for the whole extent, all else for each tile."""
        lengths = {tile.length: Polynomial.from_affine(tile.extent) for tile in op.tiles}
        self.known |= {*lengths}
        total = Polynomial.const(0)
        for term in self.block(op.body).terms:
            part = Polynomial((term,))
            if not part.names() & {*lengths}:
                part = part * trips
            for name, extent in lengths.items():
                part = part.substitute(name, extent)
            total = total + part
        return total


def _at_mean(value: Polynomial, name: str, ends: Polynomial) -> Polynomial:
    """A linear polynomial where a variable is half the sum of its ends."""
    varying = Polynomial(tuple(t for t in value.terms if Polynomial((t,)).mentions(name)))
    return value - varying + _halved(varying.substitute(name, ends))


def _halved(value: Polynomial) -> Polynomial:
    return Polynomial(tuple((names, c // 2) for names, c in value.terms if c // 2))


def payload_ps(payload: Payload) -> int:
    """Picoseconds of the instructions of one point."""
    total = 0.0
    for instr in payload.instrs:
        row = SCALAR_OPS.get(instr.op)
        if row is not None:
            total += 500.0 * row.cost_ns
        elif instr.op == "extract":
            total += 1000.0
    return int(total)
