"""``while`` loops: run by Python as long as the condition is known, else traced as one `Loop`.

::

    _c = _st.while_(('x', 'k'), (...))
    while _c.again():
        if _c.enters: x, k = _c.enter(locals())
        if not _c.test(x > tol, True):
            if _c.repeats_condition: continue
            break
        ...
        if _c.leaves: _c.leave(locals())
    if _c.is_traced: x, k = _c.result()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusejit.ir.ops import Bind, Block, Cond, Effect, Loop, walk
from fusejit.ir.types import Kind
from fusejit.support.budget import check_budget
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.loop_region import LoopRegion
from fusejit.tracer.carried.regions import RegionNames
from fusejit.tracer.flow import loop_body
from fusejit.tracer.flow.loop_fixpoint import settle
from fusejit.tracer.flow.traced_if import decide
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, truth_of
from fusejit.tracer.program.unrolling import UnrollBudget
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.union_scalar import OptionalTuple, TypeTest, TypeTests, is_union_scalar

_REPEATED = (Bind, Cond, Loop)
"""Ops that may stand twice, if those in them may."""


class TracedWhile(LoopRegion):
    """One ``while`` statement at one place of the trace."""

    def __init__(self, trace: Trace, key: tuple[Any, ...], about: RegionNames) -> None:
        super().__init__(trace, key, about)
        self.is_traced = self.enters = self.leaves = bool(self.decided("traced"))
        self._passes = 0
        self._condition: Block | None = None
        self._type_test: TypeTest | None = None
        self._budget = UnrollBudget(trace)
        self.repeats_condition = False
        self._may_repeat = False  # whether the condition may be computed twice
        self._start: tuple[Block, int, int] = (trace.block, 0, 0)  # of the first condition

    def begin_recursion(self) -> TracedWhile:
        """Stand for a function that calls itself."""
        self.is_recursion = self.is_traced = self.enters = self.leaves = True
        self.definitely_assigned = frozenset(self.names)
        return self

    def type_test(self) -> TypeTest | None:
        """What the condition says in the body of the type of a number."""
        return self._type_test

    def again(self) -> bool:
        """Whether Python runs the body once more: a traced body is run once."""
        self._passes += 1
        if not self.is_traced:
            trace = self.trace
            has_end = self._passes == 2 or trace.is_bounded  # else the graph may grow
            if has_end and self._budget.is_spent() and not self.decided("unroll"):
                self.decide(True, "traced")
            self._budget.spend()
            self._start = (trace.block, len(trace.block.ops), trace.num_changes)
        return not self.is_traced or self._passes == 1

    def enter(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """Begin the condition; what the names hold in it and in the body."""
        self.repeats_condition = False
        loop_body.begin(self, names)
        if self.decided("runs") and not self.is_recursion:
            self.runs = True
            self.carry_counter((Kind.PYTHON, BOOL), as_kernel_number(False))
        self.open(Block(arguments=self.arguments()))
        loop_body.show(self)
        self.is_asked = True
        return self.entries()

    def cuts(self) -> bool:
        """Whether arrays may lose rows in an iteration."""
        return self.is_traced

    def test(self, condition: Any, may_repeat: bool = False) -> bool:
        """The condition: Python's truth, or the end of the condition's block."""
        check_budget()
        if isinstance(condition, OptionalTuple):
            condition = decide(condition)
        if not self.is_traced:
            self._may_repeat = may_repeat
            return self._is_true(condition)
        go_on = as_kernel_number(truth_of(condition))
        self._type_test = self.trace.owned(TypeTests).get(go_on.value())
        asked = walk(self.trace.block)
        if loop_body.stoppers(self) and any(op.effect is not Effect.PURE for op in asked):
            go_on = self._asked_unless_stopped(go_on)
        else:
            go_on = loop_body.unless_stopped(self, go_on)
        yields = (go_on.value(),)
        self.restore_attributes()
        block = self.close()
        block.yields = yields
        self._condition = block
        self.is_asked = False
        self.open(Block(arguments=block.arguments))
        self.entries()
        loop_body.bind_rows_again(self)
        return True

    def _asked_unless_stopped(self, go_on: TracedArray) -> TracedArray:
        """The condition inside a conditional: after a ``break`` it draws nothing, and no index in
        it is out of bounds."""
        trace = self.trace
        condition = Block(yields=(go_on.value(),))
        condition.ops, trace.block.ops = trace.block.ops, []
        goes = loop_body.unless_stopped(self, as_kernel_number(True)).value()
        otherwise = Block()
        trace.blocks.append(otherwise)
        otherwise.yields = (as_kernel_number(False).value(),)
        trace.blocks.pop()
        result = trace.new_value(go_on.dtype, (), Kind.PYTHON)
        trace.emit(
            Cond(results=(result,), predicate=goes, then_block=condition, else_block=otherwise)
        )
        return TracedArray.of_value(trace, result)

    def _is_true(self, condition: Any) -> bool:
        if (
            isinstance(condition, TracedContainer)
            or is_union_scalar(condition)
            or (isinstance(condition, TracedArray) and not condition.ndim)
        ):
            return self._traced_from_here()
        if isinstance(condition, SymbolicNumber):
            if self._passes == 1 and not self.decided("unroll"):
                self.can_unroll = True
                return self._traced_from_here()
            try:
                return bool(condition)
            except Varies:
                return self._traced_from_here()
        return bool(condition)

    def _traced_from_here(self) -> bool:
        """Compute the first condition again, as that of a loop; start again if it did something."""
        block, first, num_changes = self._start
        is_first = self._passes == 1 and self._may_repeat and self.trace.block is block
        done = Block(ops=block.ops[first:])
        if not is_first or num_changes != self.trace.num_changes:
            self.decide(True, "traced")
        if any(op.effect is Effect.EFFECT and not isinstance(op, _REPEATED) for op in walk(done)):
            self.decide(True, "traced")
        self.trace.table[self.key, "traced"] = True
        self.is_traced = self.enters = self.leaves = self.repeats_condition = True
        self._passes = 0
        return False

    def stops(self, flag: Any) -> bool:
        """At the end of the body: whether ``break`` or ``return`` was met."""
        if isinstance(flag, TracedArray) and not self.is_traced:
            self.decide(True, "traced")
        return False if self.is_traced else bool(flag)

    def leave(self, names: Mapping[str, Any]) -> None:
        """End the body: what the names hold now is carried on, and the op is made."""
        names = self.with_attributes(names)
        settle(self, names)
        has_run = None if self.counter is None else as_kernel_number(True).value()
        yields = loop_body.hand_on(self, names, has_run)
        self.restore_attributes()
        body = self.close()
        body.yields = yields
        assert self._condition is not None
        loop_body.finish(self, Loop(carried=self.starts(), body=body, condition=self._condition))
        if self.counted is not None:
            loop_body.require_run(self, self.counted)
