"""Checks come first: NumPy must find the caller's arrays untouched when it runs a fallback call.

Each `Assert` moves to the start of the graph with the ops that it needs, which have no effect and
read memory as it is when the call begins. One that needs memory as it is later (integers that were
stored before, or that a loop carries) stays where it is; if something of the caller's may have been
modified by then, the kernel raises the error itself.

Which of many integers its text names is found in the branch that raises: what computes them is
repeated there, so that the way on stays as it would be::

    assert %ok "..." index %i axis 0 size (s0)      ->      if %ok {} else {
                                                             %j = ...        # as %i
                                                             assert %ok "..." deferred index %j ..
                                                           }
"""

from __future__ import annotations

from collections.abc import Mapping

from fusejit.dataclass import replace
from fusejit.ir.graph import Graph
from fusejit.ir.host_calls import can_undo, deferred_ops, sizes_defined
from fusejit.ir.memory_versions import walk_versions
from fusejit.ir.ops import (
    OUT_OF_BOUNDS_IF_RUN,
    Assert,
    Block,
    Cond,
    GenericOp,
    Load,
    Op,
    ReshapeOp,
    ViewOp,
    walk,
)
from fusejit.ir.values import Value
from fusejit.ir.verifier.scope_rules import symbols_of
from fusejit.tracer.ops.origins import IS_AN_OBJECT
from fusejit.tracer.program.fallback import Fallback

EXTENTS_DIFFER = "ValueError"
"""The kind of a check that, where it fails, has stores undone: then NumPy runs the call."""


RAISE = "raise "
"""The beginning of the error of a check for a ``raise``; the name of the class follows."""

COMPUTED = "computed"
"""The error of a check that the kernel cannot raise itself: its text is computed, say."""

LEFT_TO_PYTHON = "left to Python"
"""The error of a check that fails where only Python can tell what happens: it runs the call."""

BEYOND_RANGE = (
    *("64 bits", "53 bits", "complex power", "capacity", "capacity of arrays", LEFT_TO_PYTHON),
)
"""The kinds of checks for what Python has and kernels have not: stores are undone."""


def checks_first(graph: Graph, undoes: bool = False) -> None:
    """Move every check before all stores to the caller's memory; fall back if one cannot.

    With ``undoes`` NumPy takes over where a check fails that stays after one.
    """
    if not any(isinstance(op, Assert) for op in walk(graph.block)):
        return
    defined = {value: op for op in walk(graph.block) for value in op.results}
    movable = _Movable(graph, defined)
    moved: dict[Op, None] = {}
    for op in walk(graph.block):
        if isinstance(op, Assert):
            needed = movable.needed(op)
            if needed is not None:
                if op.error == "IndexError" and op not in graph.block.ops:
                    op.error = OUT_OF_BOUNDS_IF_RUN
                moved.update(dict.fromkeys([*needed, op]))
    _take_out(graph.block, moved)
    graph.block.ops[:0] = moved
    deferred = deferred_ops(graph)
    for op in walk(graph.block):
        if isinstance(op, Assert):
            op.is_deferred = op in deferred
            if not op.is_deferred:  # NumPy words its errors itself
                op.shown = op.integer = None
    _leave_to_numpy(graph, undoes)
    _search_apart(graph, defined)


def _leave_to_numpy(graph: Graph, undoes: bool) -> None:
    """A check of what was assumed needs NumPy to take over where it fails.

    After a store, the launcher first rolls back what the kernels have written, as it does for
    extents that differ. It does so anyway for what is beyond the range of kernels.
    """
    undo = can_undo(graph)
    sizes = frozenset(sizes_defined(graph))
    defined = {value: op for op in walk(graph.block) for value in op.results}
    for op in walk(graph.block):
        if isinstance(op, Assert) and op.is_deferred and op.error not in BEYOND_RANGE:
            made = defined.get(op.condition)
            is_size = made is not None and bool(symbols_of(made) & sizes)
            if undo and (undoes or op.error == IS_AN_OBJECT):
                op.error = EXTENTS_DIFFER
            elif op.error == IS_AN_OBJECT:
                raise Fallback(f"after an effect it must be known whether {op.reason}")
            elif is_size and not (undo and op.error == EXTENTS_DIFFER):
                raise Fallback("a size that NumPy returns is checked after a store")


class _Movable:
    """What checks need, and whether that can run at the start: each op is looked at once."""

    def __init__(self, graph: Graph, defined: dict[Value, Op]) -> None:
        self._defined = defined
        self._captures = {s.value for s in graph.scalars}
        self._symbols = frozenset(s.name for s in graph.symbols)
        self._movable: dict[Value, bool] = dict.fromkeys(self._captures, True)
        self._given: set[Op] = set()

    def needed(self, check: Assert) -> list[Op] | None:
        """The ops that no earlier check needs, in order; None if they cannot run at the start."""
        if not self._can_move(check.condition):
            return None
        found: list[Op] = []
        waiting = [check.condition]
        while waiting:  # as deep as a program is long: no recursion
            op = None if waiting[-1] in self._captures else self._defined[waiting[-1]]
            needed = () if op is None or op in self._given else self._not_given(op)
            waiting.extend(reversed(needed))
            if not needed:
                waiting.pop()
                if op is not None and op not in self._given:
                    self._given.add(op)
                    found.append(op)
        return found

    def _not_given(self, op: Op) -> list[Value]:
        inside = (v for v in op.operand_values if v not in self._captures)
        return [v for v in inside if self._defined[v] not in self._given]

    def _can_move(self, condition: Value) -> bool:
        waiting = [condition]
        while waiting:
            op = self._defined.get(waiting[-1])  # None: the argument of a block
            unknown: list[Value] = []
            if waiting[-1] not in self._movable and op is not None and self._may_be_first(op):
                unknown = [v for v in op.operand_values if v not in self._movable]
            if unknown:
                waiting.extend(unknown)
                continue
            value = waiting.pop()
            if value not in self._movable:
                self._movable[value] = (
                    op is not None
                    and self._may_be_first(op)
                    and all(self._movable[v] for v in op.operand_values)
                )
        return self._movable[condition]

    def _may_be_first(self, op: Op) -> bool:
        is_fresh = isinstance(op, Load) and op.version == 0 and op.view.buffer.origin is not None
        if not is_fresh and not isinstance(op, GenericOp | ViewOp | ReshapeOp):
            return False
        return symbols_of(op) <= self._symbols


def _take_out(block: Block, moved: dict[Op, None]) -> None:
    for op in block.ops:
        for inner in op.blocks:
            _take_out(inner, moved)
    block.ops[:] = [op for op in block.ops if op not in moved]


def _search_apart(graph: Graph, defined: dict[Value, Op]) -> None:
    """Each check whose text names one of many integers stands in a branch of its own."""
    branches: dict[Op, Op] = {}
    for op, counters in walk_versions(graph.block):
        if isinstance(op, Assert) and op.shown is not None and isinstance(op.shown.index, Value):
            ops: list[Op] = []
            index = op.shown.index
            if _can_repeat(index, defined, counters):
                index = _repeated(index, defined, ops)
            check = replace(op, shown=replace(op.shown, index=index))
            branches[op] = Cond(
                predicate=op.condition,
                then_block=Block(),
                else_block=Block(ops=[*ops, check]),
                location=op.location,
            )
    if branches:
        blocks = [graph.block, *(b for op in walk(graph.block) for b in op.blocks)]
        for block in blocks:
            block.ops[:] = [branches.get(op, op) for op in block.ops]


def _can_repeat(value: Value, defined: dict[Value, Op], counters: Mapping[int, int]) -> bool:
    """Whether a value can be computed again: elementwise, from memory as it was then."""
    op = defined.get(value)
    if isinstance(op, Load):
        return counters.get(op.view.buffer.alias_class, 0) == op.version
    if isinstance(op, ViewOp) or (isinstance(op, GenericOp) and op.is_elementwise):
        return all(_can_repeat(v, defined, counters) for v in op.operand_values)
    return True


def _repeated(value: Value, defined: dict[Value, Op], ops: list[Op]) -> Value:
    """The value computed again by ``ops``; what is in memory is read where it is."""
    op = defined.get(value)
    if isinstance(op, ViewOp):
        op = replace(op, source=_repeated(op.source, defined, ops))
    elif isinstance(op, GenericOp) and op.is_elementwise:
        inputs = tuple(replace(o, value=_repeated(o.value, defined, ops)) for o in op.inputs)
        op = replace(op, inputs=inputs)
    else:
        return value
    (result,) = op.results
    op.results = (replace(result, name=f"{result.name}_again"),)
    ops.append(op)
    return op.results[0]
