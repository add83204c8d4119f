"""What is the same in each iteration of a loop is computed once, before it.

Before and after::

    for i = 0 to s1 step 1 {                %w = load @w v0
      %w = load @w v0                       %e = generic ins(%w) { exp in0 }
      %e = generic ins(%w) { exp in0 }      for i = 0 to s1 step 1 {
      %x = load @x v1                         %x = load @x v1
      %r = generic ins(%x, %e) { .. }         %r = generic ins(%x, %e) { .. }
      store @x v2 = %r                        store @x v2 = %r
    }                                       }

An op leaves a loop if all it reads is defined before it, or is memory that the loop does not
write. It must pay: reductions, products and expensive functions do, what a consumer computes for
next to nothing in its own loop is left for folding. And it must be safe where the loop has no
iterations: elements at computed places stay after the checks of their indices, and so does all that
stands after a check.
"""

from __future__ import annotations

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.fuse.folding.cost import payload_cost_ns
from fusejit.fuse.rewrite_blocks import expand_ops
from fusejit.ir.execution_plan import Folded, FusionReport
from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Assert,
    ConstantOp,
    GenericOp,
    Load,
    Loop,
    Op,
    ReshapeOp,
    ViewOp,
    walk,
    written_classes,
)
from fusejit.ir.target_facts import GENERIC, Target
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value
from fusejit.ir.verifier.scope_rules import symbols_of

EXPENSIVE_NS = 0.6  # of an element: as much as to load it again in each iteration


def hoist_invariants(
    graph: Graph, target: Target = GENERIC, report: FusionReport | None = None
) -> Graph:
    """Move ops that are expensive and the same in each iteration before their loops.

    Parameters
    ----------
    graph : Graph
        A canonical graph.
    target : Target
        The machine, for the cost of functions.
    report : FusionReport, optional
        Gets a row for each expensive op that leaves a loop.

    Returns
    -------
    Graph
        The same object if nothing moved.
    """
    hoisting = _Hoisting(
        target,
        FusionReport() if report is None else report,
        frozenset(symbol.name for symbol in graph.symbols),
    )

    def parts(op: Op) -> list[Op]:
        return hoisting.split(op) if isinstance(op, Loop) else [op]

    rewritten = expand_ops(graph, parts)
    return graph if rewritten is graph else with_versions(rewritten)


@dataclass(frozen=True, slots=True)
class _Hoisting:
    target: Target
    report: FusionReport
    symbols: frozenset[str]  # that the call knows

    def split(self, loop: Loop) -> list[Op]:
        """The ops that leave the loop, then the loop without them."""
        invariant = self._invariant(loop)
        generic = (op for op in invariant if isinstance(op, GenericOp))
        expensive = [*filter(self._is_expensive, generic)]
        if not expensive:
            return [loop]
        for op in expensive:
            why = "it is the same in each iteration"
            names = (op.name, "the loop", op.location)
            self.report.folded.append(Folded(*names, "hoist", "same in each iteration", why))
        needed: set[Op] = {*expensive}
        wanted = {v for op in expensive for v in op.operand_values}
        for other in reversed(invariant):
            if any(r in wanted for r in other.results):
                needed.add(other)
                wanted.update(other.operand_values)
        leaving = [op for op in invariant if op in needed]
        kept = [op for op in loop.body.ops if op not in needed]
        return [*leaving, replace(loop, body=replace(loop.body, ops=kept))]

    def _invariant(self, loop: Loop) -> list[Op]:
        """The ops of the body that could stand before the loop, in program order."""
        written = written_classes(*loop.blocks)
        varying: set[Value] = {v for block in loop.blocks for v in block.arguments}
        made = {op.buffer for op in walk(loop.body) if isinstance(op, Alloc | Alias)}
        found: list[Op] = []
        for op in loop.body.ops:
            if _has_check(op):
                break
            is_local = isinstance(op, Load) and op.view.buffer in made
            reads_varying = is_local or any(v in varying for v in op.operand_values)
            if self._may_leave(op, written) and not reads_varying:
                found.append(op)
            else:
                varying.update(op.results)
        return found

    def _may_leave(self, op: Op, written: frozenset[int]) -> bool:
        """Whether the op is pure, reads no memory the loop writes, and depends on no iteration."""
        if not symbols_of(op) <= self.symbols:  # only the kernel knows sizes or subscripts of it
            return False
        if isinstance(op, Load):
            return op.view.buffer.alias_class not in written
        if isinstance(op, GenericOp):
            return not op.payload.has_extract()
        return isinstance(op, ConstantOp | ViewOp | ReshapeOp)

    def _is_expensive(self, op: GenericOp) -> bool:
        if op.library_call is not None:
            return True
        if any(i is not IteratorType.PARALLEL for i in op.iterators):
            return True
        return payload_cost_ns(op.payload, self.target) >= EXPENSIVE_NS


def _has_check(op: Op) -> bool:
    return isinstance(op, Assert) or any(_has_check(o) for block in op.blocks for o in block.ops)
