"""Estimated work of a loop of the program: how many nanoseconds its ops take.

    for i0 = 0 to s0 step 1 {               s0 * ((s0 - 1) // 2) * 0.6 ns
      for i1 = 0 to i0 step 1 {
        store @y v1 [() -> (i0, i1)] () = ..

Bounds of loops inside enter as they are; where they depend on a loop's variable, that one has its
mean. What only the body knows (lengths read from memory, conditions) counts as a few iterations: a
loop that is taken for shorter than it is stays serial at sizes where threads gain little.
"""

from __future__ import annotations

from fusejit.codegen.operands import extent_polynomials
from fusejit.codegen.parallel import SERIAL_BELOW_NS
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Bind, Block, Cond, GenericOp, Loop, Op, Store, walk
from fusejit.ir.loops import Apply, Expr, Integer
from fusejit.ir.payload import Payload
from fusejit.ir.polynomial import Polynomial, product
from fusejit.ir.scalar_ops import SCALAR_OPS
from fusejit.ir.types import IteratorType

POINT_PS = 200  # loads, stores and counting of one point
NEST_PS = 5_000  # what a reduction does around its points
UNKNOWN = 8  # iterations of a loop, or length of an array, that only the body knows
UNTIL = 16  # iterations of a loop that ends on a condition


FEW = 16  # iterations that may not suffice for all threads


def loop_work(loop: Loop, trips: Polynomial) -> Expr:
    """Nanoseconds of all ``trips`` iterations, 0 where the nests of one should have the threads.

    A few iterations, each of nests large enough for a launch of their own, are no good chunks.
    """
    work = _Estimate().loop(loop)
    ops = list(walk(loop.body))
    if any(isinstance(op, Loop) for op in ops) or not any(map(_is_nest, ops)):
        return Apply("({0} // 1000)", (Integer(work),))
    spare = Integer(trips * (SERIAL_BELOW_NS * 1000) - work)
    template = "({0} // 1000) * i64(max({1}, {2}) > 0)"
    return Apply(template, (Integer(work), Integer(trips - FEW), spare))


def is_uneven(loop: Loop) -> bool:
    """Whether iterations may differ much: triangles, conditions, lengths read from memory."""
    unknown = {loop.induction} | {op.symbol for op in walk(loop.body) if isinstance(op, Bind)}
    for op in walk(loop.body):
        if isinstance(op, Cond) or (isinstance(op, Loop) and op.condition is not None):
            return True
        extents: tuple[AffineExpr | None, ...] = ()
        if isinstance(op, Loop):
            extents = op.lower, op.upper
        elif isinstance(op, GenericOp):
            extents = op.domain
        if any(e is not None and e.symbols() & unknown for e in extents):
            return True
    return False


def _is_nest(op: Op) -> bool:
    return isinstance(op, GenericOp) and bool(op.domain)


class _Estimate:
    """Picoseconds of ops, as a polynomial of symbols that are known around them."""

    def __init__(self) -> None:
        self.unknown: set[str] = set()  # symbols that the ops themselves define

    def block(self, block: Block) -> Polynomial:
        total = Polynomial.const(0)
        for op in block.ops:
            total = total + self.op(op)
        return total

    def op(self, op: Op) -> Polynomial:
        if isinstance(op, Bind):
            self.unknown.add(op.symbol)
        elif isinstance(op, GenericOp):
            own = NEST_PS if IteratorType.REDUCTION in op.iterators else 0
            return self.points(op.domain) * (POINT_PS + payload_ps(op.payload)) + own
        elif isinstance(op, Store):
            return self.points(op.view.extents) * POINT_PS
        elif isinstance(op, Loop):
            if op.condition is not None:
                return (self.block(op.condition) + self.block(op.body)) * UNTIL
            return self.loop(op)
        elif isinstance(op, Cond):
            both = self.block(op.then_block) + self.block(op.else_block)
            return Polynomial(tuple((names, c // 2) for names, c in both.terms if c > 1))
        return Polynomial.const(0)

    def points(self, domain: tuple[AffineExpr, ...]) -> Polynomial:
        total = product(extent_polynomials(domain))
        for name in total.names() & self.unknown:
            total = total.substitute(name, Polynomial.const(UNKNOWN))
        return total

    def loop(self, op: Loop) -> Polynomial:
        """``trips`` times what the body takes at the mean of its variable."""
        assert op.induction is not None
        assert op.lower is not None
        assert op.upper is not None
        lower, upper = Polynomial.from_affine(op.lower), Polynomial.from_affine(op.upper)
        if (lower.names() | upper.names()) & self.unknown:
            self.unknown.add(op.induction)
            return self.block(op.body) * UNKNOWN
        trips = upper - lower
        if op.step != 1:
            trips = Polynomial.name(f"(({trips}) // {op.step})")
        return self.block(op.body).substitute(op.induction, _middle(lower + upper - 1)) * trips


def _middle(total: Polynomial) -> Polynomial:
    known = total.as_constant()
    return Polynomial.name(f"(({total}) // 2)") if known is None else Polynomial.const(known // 2)


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
