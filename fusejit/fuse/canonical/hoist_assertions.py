"""Checks are asked as early as they can be: before what is computed without them.

Before and after::

    %v = generic "copy" domain (at1) ins (%x) { in0 }     %c = generic domain () { at0 == 2 }
    %c = generic domain () { at0 == 2 }                   assert %c "operands have the same extent"
    assert %c "operands have the same extent"              %v = generic "copy" domain (at1) ..
    %m = reshape %v expand [[0, 1]] : 2 x s1              %m = reshape %v expand [[0, 1]] : 2 x s1

What a check says of sizes then holds for all that is computed after it, and ops between which it
stood may become one. A call that fails has computed nothing for NumPy to compute again. Checks keep
their order among themselves and among effects: which one fails first is seen.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.rewrite_blocks import rewrite_blocks
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Assert, Bind, Block, ConstantOp, GenericOp, Load, Op, ReshapeOp, ViewOp
from fusejit.ir.values import Value
from fusejit.ir.verifier.scope_rules import symbols_of


def hoist_assertions(graph: Graph) -> Graph:
    """Move each check, and the numbers that it asks for, before arrays that it does not need.

    The graph is the same object if no check moved.
    """
    return rewrite_blocks(graph, lambda block, _: _rewritten(block))


def _rewritten(block: Block) -> Block:
    if not any(isinstance(op, Assert) for op in block.ops):
        return block
    ops: list[Op] = []
    changed = False
    for op in block.ops:
        ops.append(op)
        if isinstance(op, Assert):
            changed |= _moved_up(ops)
    return replace(block, ops=ops) if changed else block


def _moved_up(ops: list[Op]) -> bool:
    """Move the last op, a check, up with the numbers that it needs; whether it moved."""
    check = ops[-1]
    needed: set[Value] = set(check.operand_values)
    symbols = set(symbols_of(check))
    moving: list[Op] = [check]
    passed: list[Op] = []
    at = len(ops) - 1
    while at and _may_pass(ops[at - 1], needed, symbols):
        at -= 1
        op = ops[at]
        if any(v in needed for v in op.results):
            moving.append(op)
            needed.update(op.operand_values)
            symbols |= symbols_of(op)
        else:
            passed.append(op)
    if not any(_computes_an_array(op) for op in passed):
        return False
    ops[at:] = [*reversed(moving), *reversed(passed)]
    return True


def _may_pass(op: Op, needed: set[Value], symbols: set[str]) -> bool:
    """Whether what is needed may move before the op, or move with it."""
    if isinstance(op, Bind):
        return op.symbol not in symbols
    if not isinstance(op, GenericOp | ReshapeOp | ViewOp | Load | ConstantOp):
        return False
    return _is_number(op) or not any(v in needed for v in op.results)


def _is_number(op: Op) -> bool:
    """Whether an op computes a number from numbers."""
    return isinstance(op, GenericOp) and not op.domain and not _computes_an_array(op)


def _computes_an_array(op: Op) -> bool:
    return isinstance(op, GenericOp) and any(v.type.rank for v in (*op.results, *op.operand_values))
