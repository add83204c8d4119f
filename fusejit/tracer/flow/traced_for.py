"""``for`` loops: run by Python, unrolled, or traced as one `Loop` of the graph.

The rewritten loop asks this object for its items (see `fusejit.tracer.rewriting.rewrite_control`)::

    _c = _st.for_(range(n), 7, 4, ('u', 's'), ('u',), (), (), ('i',), ('i',))
    for i in _c:
        if _c.enters: u, s = _c.enter(locals())
        ...
        if _c.leaves: _c.leave(locals())
    if _c.is_traced: u, s, i = _c.result()

Python's own containers are iterated natively, and so are short ranges. Numbers of a container whose
iterations are long are put into memory of the kernel. Otherwise the generator
yields one item with a symbolic number. Before it, it may yield real items of the first iterations:
*peeled* where types settle only then (``s = 0`` that becomes a float), or so many that the number
of the others is even, where two arrays are swapped in each iteration (``u, v = v, u``), whose body
is then traced twice.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr, Sym
from fusejit.ir.ops import Assert, Bind, Block, Loop
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.support.budget import check_budget
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.loop_region import LoopRegion
from fusejit.tracer.carried.regions import RegionNames
from fusejit.tracer.flow import loop_body
from fusejit.tracer.flow.loop_fixpoint import settle
from fusejit.tracer.flow.taken_apart import Parts, taken_apart
from fusejit.tracer.indexing.iteration import Items, items_of
from fusejit.tracer.indexing.kernel_indices import require_at_least, symbol_of
from fusejit.tracer.lists.tables import has_one_form, table_of
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import arithmetic, as_kernel_number, truth_of
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.program.unrolling import UnrollBudget, native_iter
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number

UNROLLED_TRIPS = 4  # a range of so many items is unrolled
MAX_UNROLLED = 256  # longer ones are not unrolled


class TracedFor(LoopRegion):
    """One ``for`` statement at one place of the trace."""

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        iterable: Any,
        about: RegionNames,
        parts: Parts = None,
    ) -> None:
        super().__init__(trace, key, about)
        self.iterable, self.parts = iterable, parts
        self.bound = about.bound
        self.is_traced = self.enters = self.leaves = False
        self.may_have_ended = False  # a flag that only the kernel knows was raised
        self.items: Items | None = None
        self.peeled = 0
        self._listed: list[Any] | None = None  # Python's items that a table was made of
        self._changes: list[tuple[int, ...]] = []  # of the containers that it runs over, so far
        self._first_sizes: list[Any] = []  # how many items those have that must keep their size
        self._counter: Value | None = None

    def own_names(self) -> frozenset[str]:
        """The names that the head and the body may give another object."""
        return frozenset((*self.names, *self.bound))

    def __iter__(self) -> Iterator[Any]:
        items = items_of(self.iterable)
        budget = UnrollBudget(self.trace)
        may_be_table = not self.decided("unroll") and has_one_form(self.iterable)
        if items is None and self.decided("table") and may_be_table:
            self._listed = [*self.iterable]
            table = table_of(self._listed, takes_arrays=True)
            items = Items(AffineExpr.const(len(self._listed)), table.items().item)
        if items is None:
            for item in native_iter(self.iterable):
                if may_be_table and budget.is_spent():
                    self.decide(True, "table")
                budget.spend()
                self._require_decided_end()
                yield taken_apart(item, self.parts)
            return
        if self.parts is not None:
            whole = items.item
            items = replace(items, item=lambda place: taken_apart(whole(place), self.parts))
        self.items = items
        items.begin()
        decisions = self.trace.decisions
        trips = decisions.canonical(items.length)
        known = trips.as_constant()
        is_short = known is not None and known <= UNROLLED_TRIPS
        is_short &= not self.decided("stage") and not self.decided("table")
        if self.decided("unroll") or is_short:
            count = known if known is not None else decisions.exactly(trips, "a loop is unrolled")
            for k in range(count):
                budget.spend()
                self._require_decided_end()
                yield items.item(k)
            return
        self.can_unroll = (decisions.hint(trips) if known is None else known) <= MAX_UNROLLED
        self.can_unroll &= not decisions.is_local(trips)
        yield from self._traced_items(trips, items)

    def _traced_items(self, trips: AffineExpr, items: Items) -> Iterator[Any]:
        decisions = self.trace.decisions
        self.runs = self._at_least(trips, 1)
        if self.runs is False:
            return
        if self.runs is None and self.decided("runs"):
            require_at_least(self.trace, trips, 1, loop_body.RUNS)
            self.runs = True
        self.period = self.decided("period") or 1
        wanted = self.decided("peel") or 0
        rest = trips
        if self.period > 1 or wanted:
            over = 0
            if self.period > 1:
                over = decisions.exactly(trips.mod(self.period), "an even number of iterations")
            wanted = over + self.period * max(0, math.ceil((wanted - over) / self.period))
            rest = trips - wanted
            if not decisions.nonnegative(rest, "as many iterations as are traced one by one"):
                wanted = decisions.exactly(trips, "few iterations are traced one by one")
                rest = AffineExpr.const(0)
        self.peeled = wanted
        for k in range(wanted):
            self._require_decided_end()
            yield items.item(k)
            self._require_listed()
        self.trips = decisions.canonical(rest.floordiv(self.period))
        if wanted and self._at_least(self.trips, 1) is False:
            return
        self.is_traced = True
        frame = sys._getframe(1)
        if frame.f_code is TracedFor.__iter__.__code__ and frame.f_back is not None:
            frame = frame.f_back
        self._begin_body(dict(frame.f_locals))
        number = AffineExpr.symbol(self.symbol) * self.period + wanted
        for q in range(self.period):
            self.enters, self.leaves = q == 0, q == self.period - 1
            yield items.item(SymbolicNumber.of_affine(self.trace, number + q))
        self.enters = self.leaves = False

    def _require_listed(self) -> None:
        """Run over Python's items themselves if an iteration has changed them."""
        if self._listed is None:
            return
        is_same = len(self.iterable) == len(self._listed)
        if not is_same or not all(map(operator.is_, self.iterable, self._listed)):
            self.decide(True, "unroll")

    def _at_least(self, trips: AffineExpr, count: int) -> bool | None:
        """Whether there are so many iterations; None if that differs within a call."""
        decisions = self.trace.decisions
        if not decisions.is_local(trips):
            return decisions.at_most(count, trips, "a loop runs")
        return decisions.proves_nonnegative(trips - count) or None

    def can_peel(self) -> bool:
        """Whether first iterations may be traced one by one."""
        return self.runs is True and not self.trace.decisions.is_local(self.trips)

    def counts(self) -> bool:
        """Whether it has iterations, whose numbers are the loop's symbol."""
        return self.can_peel() and self.period == 1

    def cuts(self) -> bool:
        """Whether arrays may lose rows in an iteration."""
        return self.period == 1

    # -- the body ---------------------------------------------------------------------------------
    def _begin_body(self, names: Mapping[str, Any]) -> None:
        """Open the body's block, in which the item is computed."""
        loop_body.begin(self, names)
        assert self.items is not None
        self._changes = [one.changes() for one in self.items.containers]
        self._first_sizes = [one.size() for one in self.items.containers if one.keeps_size]
        if self.flags or self.decided("live"):
            self._counter = self.carry_counter((Kind.PYTHON, I64), as_kernel_number(0))
        self.open(Block(arguments=self.arguments()))
        last = None if self.decided("live") else self.trips - 1
        self.symbol = self.trace.locals.add(0, AffineExpr.const(0), last)
        if self._counter is not None:
            self.trace.emit(Bind(symbol=self.symbol, value=self._counter))
        loop_body.show(self)

    def enter(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """What the names hold at the start of the body."""
        return self.entries()

    def stops(self, flag: Any) -> bool:
        """At the end of the body: whether ``break`` or ``return`` was met."""
        self.may_have_ended |= not self.is_traced and isinstance(flag, TracedArray)
        return False if self.is_traced or isinstance(flag, TracedArray) else bool(flag)

    def _require_decided_end(self) -> None:
        """Before another iteration that is traced by itself: stage the loop if it may not run.

        Otherwise the body stands under a condition on the flags; only the names that the head binds
        would go on to other items.
        """
        check_budget()
        if not self.may_have_ended:
            return
        if self.items is not None and not self.decided("unroll") and not self.decided("stage"):
            self.decide(True, "stage")
        read = sorted(self.live.intersection(self.bound))
        if read:
            what = f"{read[0]!r} is read after an unrolled loop that an element may end early"
            raise needs_python(what, f"keep it under another name in the loop: last = {read[0]}")

    def leave(self, names: Mapping[str, Any]) -> None:
        """End the body: what the names hold now is carried on, and the op is made."""
        self._require_items()
        names = self.with_attributes(names)
        settle(self, names)
        counter = None
        if self._counter is not None:
            counter = arithmetic(np.add, TracedArray.of_value(self.trace, self._counter), 1).value()
        yields = loop_body.hand_on(self, names, counter)
        self.restore_attributes()
        body = self.close()
        body.yields = yields
        self.trace.decisions.forget_local(self.symbol)
        if self._counter is None:
            op = Loop(
                carried=self.starts(),
                body=body,
                induction=self.symbol,
                lower=AffineExpr.const(0),
                upper=self.trips,
            )
        else:
            op = Loop(carried=self.starts(), body=body, condition=self._condition(body))
        loop_body.finish(self, op)

    def _require_items(self) -> None:
        """Ask again in each iteration for the size of a container that the body has changed."""
        assert self.items is not None
        changes = [one.changes() for one in self.items.containers]
        if changes == self._changes or self.decided("live"):
            return
        if all(one.keeps_size for one in self.items.containers):
            for now, before in zip(changes, self._changes, strict=True):
                if all(map(operator.ne, now, before)):
                    what = "adds items and takes some away in a loop over a container"
                    raise needs_python(what, "run over a copy of it: for k in list(d)")
            self._require_sizes()
        else:
            if not self.items.follows:
                what = "changes the length of a list that a loop runs over"
                raise needs_python(what, "run over a copy of it")
            self.decide(True, "live")

    def _require_sizes(self) -> None:
        """Leave to Python what it raises for a dictionary that changes under a loop over it."""
        assert self.items is not None
        for one, before in zip(self.items.containers, self._first_sizes, strict=True):
            same = as_kernel_number(truth_of(one.size() == before)).value()
            reason = "a dictionary keeps its size while a loop runs over it"
            self.trace.emit(Assert(condition=same, reason=reason, error=LEFT_TO_PYTHON))

    def _condition(self, body: Block) -> Block:
        """The loop goes on while items are left and nothing has stopped it."""
        assert self._counter is not None
        block = Block(arguments=body.arguments)
        self.open(block)
        counter = TracedArray.of_value(self.trace, self._counter)
        assert self.items is not None
        size: Any = affine_number(self.trace, self.trips)
        if self.decided("live"):
            (container,) = self.items.containers
            size = container.size()
        go_on = arithmetic(np.less, counter, size)
        block.yields = (loop_body.unless_stopped(self, go_on).value(),)
        return self.close()

    # -- after the loop --------------------------------------------------------------------------
    def last_of(self, number: SymbolicNumber) -> Any:
        """What an integer of the body was in the last iteration."""
        assert number.affine is not None
        if self._counter is None:
            return affine_number(
                self.trace, number.affine.substitute(symbols={self.symbol: self.trips - 1})
            )
        factor = number.affine.coefficient(Sym(self.symbol))
        rest = number.affine - AffineExpr.symbol(self.symbol) * factor
        if self.symbol in rest.symbols():  # inside a quotient
            return number
        last = arithmetic(np.subtract, self.counted, 1)
        return arithmetic(
            np.add, arithmetic(np.multiply, last, factor), affine_number(self.trace, rest)
        )

    def find_last(self) -> AffineExpr | None:
        """The number of the last iteration."""
        if self._counter is None:
            return self.trips - 1
        return symbol_of(self.trace, arithmetic(np.subtract, self.counted, 1))
