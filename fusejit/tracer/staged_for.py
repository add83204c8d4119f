"""``for`` loops: run by Python, unrolled, or staged as one `Loop` of the graph.

The rewritten loop asks this object for its items (see `fusejit.tracer.rewrite_control`)::

    _c = _st.for_(range(n), ('u', 's'), ('i',), ('u',), ())
    for i in _c:
        if _c.enters: u, s = _c.enter(locals())
        ...
        if _c.leaves: _c.leave(locals())
    if _c.staged: u, s, i = _c.result()

Python's own containers are iterated natively, and so are short ranges. Otherwise the generator
yields one item with a symbolic number. Before it, it may yield real items of the first iterations:
*peeled* where types settle only then (``s = 0`` that becomes a float), or so many that the number
of the others is even, where two arrays are swapped in each iteration (``u, v = v, u``), whose body
is then traced twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Bind, Block, Loop, Value
from fusejit.ir.types import Kind
from fusejit.tracer.array import TracedArray
from fusejit.tracer.carried import Carried
from fusejit.tracer.iteration import Items, items_of
from fusejit.tracer.kernel_numbers import I64, as_kernel_number
from fusejit.tracer.number import TracedNumber
from fusejit.tracer.regions import Undefined
from fusejit.tracer.trace import Trace

UNROLLED_TRIPS = 4  # a range of so many items is unrolled
MAX_UNROLLED = 256  # what cannot be staged is unrolled up to here


class StagedFor(Carried):
    """One ``for`` statement at one place of the trace."""

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        iterable: Any,
        names: tuple[str, ...],
        targets: tuple[str, ...],
        live: frozenset[str],
        flags: tuple[str, ...],
    ) -> None:
        super().__init__(trace, key, names, live)
        self.iterable = iterable
        self.targets = targets
        self.flags = flags
        self.staged = self.enters = self.leaves = False
        self.items: Items | None = None
        self.trips = AffineExpr.const(0)
        self.peeled = 0
        self.period = 1
        self._counter: Value | None = None

    def __iter__(self) -> Iterator[Any]:
        items = items_of(self.iterable)
        if items is None:
            yield from self.iterable
            return
        self.items = items
        decisions = self.trace.decisions
        trips = decisions.canonical(items.length)
        known = trips.as_constant()
        if self.decided("unroll") or (known is not None and known <= UNROLLED_TRIPS):
            count = known if known is not None else decisions.exactly(trips, "a loop is unrolled")
            for k in range(count):
                yield items.item(k)
            return
        self.can_unroll = (decisions.hint(trips) if known is None else known) <= MAX_UNROLLED
        self.can_unroll &= not decisions.is_local(trips)
        yield from self._staged_items(trips, items)

    def _staged_items(self, trips: AffineExpr, items: Items) -> Iterator[Any]:
        decisions = self.trace.decisions
        self.runs = self._at_least(trips, 1)
        if self.runs is False:
            return
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
            yield items.item(k)
        self.trips = decisions.canonical(rest.floordiv(self.period))
        if wanted and self._at_least(self.trips, 1) is False:
            return
        self.staged = True
        symbol = self.trace.local_symbol(0, AffineExpr.const(0), self.trips - 1)
        self.symbol = symbol
        number = AffineExpr.symbol(symbol) * self.period + wanted
        for q in range(self.period):
            self.enters, self.leaves = q == 0, q == self.period - 1
            yield items.item(TracedNumber.of_affine(self.trace, number + q))
        self.enters = self.leaves = False

    def _at_least(self, trips: AffineExpr, count: int) -> bool | None:
        """Whether there are so many iterations; None if that differs within a call."""
        decisions = self.trace.decisions
        if not decisions.is_local(trips):
            return decisions.at_most(count, trips, "a loop runs")
        return decisions.proves_nonnegative(trips - count) or None

    def can_peel(self) -> bool:
        """Whether first iterations may be traced one by one."""
        return self.runs is True and not self.trace.decisions.is_local(self.trips)

    # -- the body ---------------------------------------------------------------------------------
    def enter(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """Begin the body; what the names hold in it."""
        values = self.begin(names)
        if self.flags:
            kind_of = (Kind.PYTHON, I64)
            self._counter = self.carry_extra("k", kind_of, as_kernel_number(0))
        self.open(Block(arguments=self.arguments()))
        if self._counter is not None:
            self.trace.emit(Bind(symbol=self.symbol, value=self._counter))
        return values

    def stops(self, flag: Any) -> bool:
        """At the end of the body: whether ``break`` or ``return`` was met."""
        return False if self.staged or isinstance(flag, TracedArray) else bool(flag)

    def leave(self, names: Mapping[str, Any]) -> None:
        """End the body: what the names hold now is carried on, and the op is made."""
        extra = ()
        if self._counter is not None:
            after = TracedArray.of_value(self.trace, self._counter) + 1
            extra = (after.value(),)
        self.end(names)
        yields = self.yields(names) + extra
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
        self.finish(op)

    def _condition(self, body: Block) -> Block:
        """The loop goes on while items are left and nothing has stopped it."""
        assert self._counter is not None
        block = Block(arguments=body.arguments)
        self.open(block)
        counter = TracedArray.of_value(self.trace, self._counter)
        go_on = counter < self.trace.number(self.trips)
        for flag in self.flags:
            value = self.argument_of(flag)
            if value is not None:
                go_on = go_on & (TracedArray.of_value(self.trace, value) == False)  # noqa: E712
        block.yields = (go_on.value(),)
        return self.close()

    # -- behind the loop --------------------------------------------------------------------------
    def result(self) -> tuple[Any, ...]:
        """What the names hold behind the loop, and the last items."""
        values = [self.after[name] for name in self.names]
        if not self.targets:
            return tuple(values)
        assert self.items is not None
        last: Any = Undefined(self.targets[0], "has no value if the loop does not run")
        if self.runs:
            if self._counter is None:
                whole = self.trips * self.period + self.peeled
                last = self.items.item(self.trace.number(whole - 1))
            elif self.live.intersection(self.targets):
                ran = self.extra_result() + (self.peeled - 1)
                last = self.items.item(ran)
            else:
                last = Undefined(self.targets[0], "is read behind a loop with break")
        return (*values, last)
