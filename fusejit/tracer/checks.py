"""Checks come first: NumPy must find the caller's arrays untouched when it runs a declined call.

Each `Check` moves to the start of the graph with the ops that it needs, which have no effect and
read memory as it is when the call begins. One that needs memory as it is later (integers that were
stored before, or that a loop carries) stays where it is; if something of the caller's may have been
modified by then, the kernel raises the error itself.
"""

from __future__ import annotations

from fusejit.ir.graph import (
    Block,
    Check,
    GenericOp,
    Graph,
    Load,
    Op,
    ReshapeOp,
    Value,
    ViewOp,
    walk,
)
from fusejit.ir.host_calls import late_ops, sizes_defined
from fusejit.ir.verifier_scope import symbols_of
from fusejit.tracer.declined import Declined


def checks_first(graph: Graph) -> None:
    """Move every check in front of all stores to the caller's memory; decline if one cannot."""
    if not any(isinstance(op, Check) for op in walk(graph.block)):
        return
    defined = {value: op for op in walk(graph.block) for value in op.results}
    outside = {s.value for s in graph.scalars}
    symbols = frozenset(s.name for s in graph.symbols)
    moved: dict[Op, None] = {}
    for op in walk(graph.block):
        if isinstance(op, Check):
            needed = _needed(op, defined, outside, symbols)
            if needed is not None:
                moved.update(dict.fromkeys([*needed, op]))
    _take_out(graph.block, moved)
    graph.block.ops[:0] = moved
    late = late_ops(graph)
    for op in walk(graph.block):
        if isinstance(op, Check):
            op.is_late = op in late
    _decline_late_sizes(graph)


def _decline_late_sizes(graph: Graph) -> None:
    """A check of sizes that a host call returns needs NumPy to take over where it fails."""
    sizes = frozenset(sizes_defined(graph))
    defined = {value: op for op in walk(graph.block) for value in op.results}
    for op in walk(graph.block):
        if isinstance(op, Check) and op.is_late:
            made = defined.get(op.condition)
            if made is not None and symbols_of(made) & sizes:
                raise Declined("a size that a host call returns is checked after a store")


def _needed(
    check: Check, defined: dict[Value, Op], outside: set[Value], symbols: frozenset[str]
) -> list[Op] | None:
    """The ops that a check needs, in order; None if they cannot run at the start."""
    found: dict[Op, None] = {}

    def visit(value: Value) -> bool:
        if value in outside:
            return True
        op = defined.get(value)
        if op is None:  # the argument of a block
            return False
        if op in found:
            return True
        is_fresh = isinstance(op, Load) and op.version == 0 and op.view.buffer.origin is not None
        if not is_fresh and not isinstance(op, GenericOp | ViewOp | ReshapeOp):
            return False
        if not symbols_of(op) <= symbols or not all(map(visit, op.operand_values)):
            return False
        found[op] = None
        return True

    return list(found) if visit(check.condition) else None


def _take_out(block: Block, moved: dict[Op, None]) -> None:
    for op in block.ops:
        for inner in op.blocks:
            _take_out(inner, moved)
    block.ops[:] = [op for op in block.ops if op not in moved]
