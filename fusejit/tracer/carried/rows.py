"""Loop buffers whose number of rows changes: with the iteration's number, or as elements decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Bind
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.carried.buffers import LoopBuffer, filled_buffer
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.regions import is_array, same_object
from fusejit.tracer.carried.shrinking import as_long_as, has_room, number_of_rows
from fusejit.tracer.ops.changing_extents import at, largest, rows, values_after
from fusejit.tracer.ops.number_values import number_value
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.live_out_arrays import LiveOutArrays
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import affine_number


class GrowingBuffer(LoopBuffer):
    """Memory of the largest length, of which each iteration has as many rows as its number says."""

    extents: Extents

    @classmethod
    def of(cls, loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried | None:
        """Carry a name that an attempt has seen grow or shrink evenly; None for others."""
        extents = loop.decided("extents", name) if is_array(obj) else None
        if not extents:
            return None
        buffer = loop.new_buffer(obj, largest(extents, loop.trips))
        made = cls(loop, name, obj, TracedArray.whole(Storage.of_buffer(loop.trace, buffer)))
        loop.trace.store(rows(made.seen, obj.extents).memory(), obj.value())
        made.extents = extents
        return made.with_object(names)

    def show(self) -> None:
        """The rows of this iteration."""
        self.seen = rows(self.seen, at(self.extents, AffineExpr.symbol(self.loop.symbol)))
        self.loop.origins.show(self.name, self.seen)

    def require_form(self, now: TracedArray) -> None:
        """Require the number of rows that was foreseen."""
        canonical = self.loop.trace.decisions.canonical
        if list(map(canonical, now.extents)) != list(map(canonical, self._next_extents())):
            self.loop.decide(False, "extents", self.name)

    def store(self, now: Any, behind: LiveOutArrays) -> None:
        """Store the rows of the next iteration."""
        behind.carry_rows(self.seen, rows(self.seen, self._next_extents()), now)

    def _next_extents(self) -> Extents:
        return at(self.extents, AffineExpr.symbol(self.loop.symbol) + 1)

    def left(self, results: Sequence[Value]) -> Any:
        """The rows of the last iteration, as an array of their own."""
        last = self.loop.last
        assert last is not None
        return values_after(super().left(results), at(self.extents, last + 1))


@dataclass(eq=False, slots=True)
class RowCount:
    """How many rows are left of arrays that are cut together.

    Attributes
    ----------
    argument : Value
        The number at the start of an iteration.
    length : AffineExpr or None
        The symbol of that number in the body; None before the body begins.
    most : AffineExpr
        The number before the loop.
    after : AffineExpr or None
        The symbol of the number that is left after the loop.
    """

    argument: Value
    most: AffineExpr
    length: AffineExpr | None = None
    after: AffineExpr | None = None


class ShrinkingBuffer(LoopBuffer):
    """Memory for the rows from before the loop; each iteration may remove some."""

    group: str  # the first name of those that are cut together
    count: RowCount
    has_count = False  # whether it carries the count of its group

    @classmethod
    def of(cls, loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried | None:
        """Carry a name that an attempt to trace has seen cut; None for others."""
        group = loop.decided("cut", name) if is_array(obj) else None
        if not group:
            return None
        others = (one for one in loop.carried.values() if isinstance(one, ShrinkingBuffer))
        other = next((one for one in others if one.group == group), None)
        arg = None
        if other is None:
            length = affine_number(loop.trace, loop.trace.decisions.canonical(obj.extents[0]))
            start = number_value(length, (Kind.PYTHON, I64))
            arg = loop.iter_arg(f"rows_of_{group}", (Kind.PYTHON, I64), start)
        made = cls(loop, name, obj, filled_buffer(loop, obj))
        made.group = group
        if other is not None:
            made.count = other.count
        if arg is not None:
            made.count = RowCount(arg.argument, made.seen.extents[0])
            made.has_count = True
            made.iter_args.append(arg)
        return made.with_object(names)

    def show(self) -> None:
        """The rows that are left."""
        loop, count = self.loop, self.count
        if count.length is None:
            count.length = number_of_rows(loop.trace, count.argument, count.most)
        shown = rows(self.seen, (count.length, *self.seen.extents[1:]))
        self.seen.storage.prefix = shown.extents
        self.seen = shown
        loop.origins.show(self.name, shown)

    def bind_again(self) -> None:
        """Give the count its symbol in another block of the loop."""
        assert self.count.length is not None
        trace, (name,) = self.loop.trace, self.count.length.symbols()
        trace.locals.move(name, AffineExpr.const(0), self.count.most)
        trace.emit(Bind(symbol=name, value=self.count.argument))

    def require_room(self, now: Any, first: Any) -> None:
        """Require rows that fit, and as many as ``first`` has, the first of the group."""
        if not has_room(self.seen, now) or not as_long_as(now, first):
            self.loop.decide(False, "cut", self.name)

    def require_form(self, now: TracedArray) -> None:
        """Nothing more: `require_room` has compared the rows."""

    def hand_on(self, now: Any) -> list[Value]:
        """The number of rows, from the first array of a group."""
        if not self.has_count:
            return super().hand_on(now)
        trace = self.loop.trace
        length = affine_number(trace, trace.decisions.canonical(now.extents[0]))
        return [number_value(length, (Kind.PYTHON, I64)), *super().hand_on(now)]

    def store(self, now: Any, behind: LiveOutArrays) -> None:
        """Store the rows that are left, where some may be gone."""
        if same_object(self.loop.trace, self.seen, now):
            super().store(now, behind)
            return
        self.require_alike(now)
        behind.carry_rows(self.seen, rows(self.seen, now.extents), now)

    def left(self, results: Sequence[Value]) -> Any:
        """The rows that are left; an array of their own where somebody reads them."""
        seen, count = super().left(results), self.count
        if self.has_count:
            count.after = number_of_rows(self.loop.trace, results[0], seen.storage.extents[0])
        assert count.after is not None
        extents = (count.after, *seen.storage.extents[1:])
        return (values_after if self.name in self.loop.live else rows)(seen, extents)
