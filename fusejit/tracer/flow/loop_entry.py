"""The start of a loop's body: what its names hold there.

A number that the body assigns is carried as a value. An array that the body binds again
(``x = x + step``) is carried as memory, a *loop buffer*: it is filled before the loop, the
body sees it under the name, and what the name holds at the end of the body is stored into it.
Arrays that are only changed in place are not carried at all, because their memory is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Bind
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Buffer, Value, View
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.flow.carried_values import CarriedNumber, LateNumber, Role, ValueOf, values_of
from fusejit.tracer.flow.loop_origins import LoopOrigins
from fusejit.tracer.flow.regions import Region, RegionNames, flag_of, is_array, tuple_of
from fusejit.tracer.flow.shrinking import number_of_rows
from fusejit.tracer.ops.changing_extents import at, largest, rows
from fusejit.tracer.ops.kernel_numbers import is_number
from fusejit.tracer.ops.number_values import number_value, number_values, of_values, types_of_values
from fusejit.tracer.ops.union_types import type_of, union
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import affine_number
from fusejit.tracer.values.undefined import UNDEFINED, Undefined
from fusejit.tracer.values.union_scalar import NumberType, UnionType, is_union_scalar


class LoopEntry(Region):
    """The carried names of a loop, as its body finds them.

    Attributes
    ----------
    dead : tuple of str
        Names that each iteration binds before it reads them, and nothing else reads.
    runs : bool or None
        Whether there is an iteration; None if that is not known.
    after : dict
        What each name holds after the loop.
    """

    repeats = True

    def __init__(self, trace: Trace, key: tuple[Any, ...], about: RegionNames) -> None:
        super().__init__(trace, key, about)
        self.dead, self.targets, self.flags = about.dead, about.targets, about.flags
        self.runs: bool | None = None
        self.after: dict[str, Any] = {}
        self._entry: dict[str, Any] = {}  # what each name holds at the start of the body
        self._carried: list[CarriedNumber] = []
        self._loop_buffers: dict[str, TracedArray] = {}
        self._changing: dict[
            str, Extents
        ] = {}  # of loop buffers whose length each iteration changes
        self._cut: dict[
            str, str
        ] = {}  # of loop buffers that lose rows, with whom they share the number
        self._rows: list[tuple[AffineExpr, Value, AffineExpr]] = []  # symbol, number, the most
        self._late: list[LateNumber] = []
        self._types: dict[str, UnionType] = {}  # of numbers of one of several types
        self._held: tuple[str, ...] = ()  # the names, and those of the items of tuples
        self._results: dict[ValueOf, Value] = {}
        self._now: dict[str, Any] = {}  # what the names hold at the end of the body
        self._renewed: dict[str, TracedArray] = {}  # other objects that show what was shown before
        self._views: dict[str, Any] = {}  # what is defined late and has its memory outside
        self.symbol = ""
        self._visit = trace.visit((key, self.location))
        self.trips = AffineExpr.const(0)
        self._origins = LoopOrigins(self, self._object_at_entry)
        self._copied_late: set[str] = set()  # of `_views`, what may be an object made in front

    def can_peel(self) -> bool:
        """Whether first iterations may be traced one by one."""
        return False

    def peel_first(self) -> None:
        """Trace again with the first iteration by itself, if it is not and may be."""
        if self.can_peel() and not self.decided("peel"):
            self.decide(1, "peel")

    def counts(self) -> bool:
        """Whether it has iterations, whose numbers are the loop's symbol."""
        return False

    # -- the start of the body --------------------------------------------------------------------
    def begin(self, names: Mapping[str, Any]) -> None:
        """Find what the names hold in the body; called before the body's block."""
        for name in self.names:
            held = self.look_up(names, name)
            form = self.decided("tuple", name)
            if name in self.dead:
                self._before[name] = held
            elif form is not None and held is None:
                parts = self.taken_apart(name, tuple_of(form[0], form[1:]), may_be_none=True)
                self._before |= parts | {flag_of(name): False}
            else:
                self._before |= self.taken_apart(name, held, may_be_none=form is not None)
        self._held = tuple(self._before)
        for name, obj in self._before.items():
            self._entry[name] = self._at_entry(name, obj)
            if name in self._loop_buffers:
                is_ndarray = obj.is_ndarray and self.decided("not plain", name) is None
                self._loop_buffers[name].is_ndarray = is_ndarray
                number = self._origins.enter(name, obj, self._loop_buffers[name], names)
                if number is not None:
                    self._carry(ValueOf(name, Role.OBJECT), (Kind.PYTHON, I64), number)

    def entries(self) -> tuple[Any, ...]:
        """What the names hold at the start of the body, where all flags are down."""
        return tuple(
            False if n in self.flags else self.put_together(n, self._entry) for n in self.names
        )

    def _at_entry(self, name: str, obj: Any) -> Any:
        if name in self.dead:
            self._before[name] = UNDEFINED
            return Undefined(name, "is bound again in each iteration", is_unbound=True)
        if is_number(obj) or is_union_scalar(obj) or (obj is None and self._decided_type(name)):
            return self._carry_number(name, self._type_at_entry(name, type_of(obj)), obj)
        if self.decided("late", name):
            self._before[name] = UNDEFINED
            return Undefined(name, "is bound to a view in each iteration")
        if is_array(obj) and (extents := self.decided("extents", name)):
            buffer = self._buffer(obj, largest(extents, self.trips))
            loop_buffer = TracedArray.whole(Storage.of_buffer(self.trace, buffer))
            self.trace.store(rows(loop_buffer, obj.extents).memory(), obj.value())
            self._changing[name] = extents
            self._loop_buffers[name] = loop_buffer
            return loop_buffer
        if is_array(obj) and (group := self.decided("cut", name)):
            number = ValueOf(group, Role.ROWS)
            if self.argument_of(number) is None:
                length = affine_number(self.trace, self.trace.decisions.canonical(obj.extents[0]))
                self._carry(number, (Kind.PYTHON, I64), length)
            self._cut[name] = group
            self._loop_buffers[name] = self._loop_buffer(obj)
            return self._loop_buffers[name]
        if is_array(obj) and self.decided("loop_buffer", name):
            self._require_own_strides(obj)
            self._loop_buffers[name] = self._loop_buffer(obj)
            return self._loop_buffers[name]
        return obj

    def _object_at_entry(self, name: str) -> TracedArray | None:
        argument = self.argument_of(ValueOf(name, Role.OBJECT))
        return None if argument is None else TracedArray.of_value(self.trace, argument)

    def _decided_type(self, name: str) -> Any:
        return self.decided("type", name, *self._visit)

    def _type_at_entry(self, name: str, own: NumberType | UnionType) -> NumberType | UnionType:
        """The type decided by an earlier attempt, unless a loop around has changed it since."""
        decided = self._decided_type(name)
        return own if decided is None else union(decided, own) or own

    def _carry_number(self, name: str, type_: NumberType | UnionType, start: Any) -> Any:
        """Carry what a name holds; a number of one of several types has its tag beside it."""
        types = types_of_values(type_)
        values = zip(values_of(name, types), types, number_values(start, type_), strict=True)
        if isinstance(type_, UnionType):
            self._types[name] = type_
        return of_values(self.trace, type_, [self._carry_value(*value) for value in values])

    def _carry(self, of: ValueOf, type_: NumberType, start: Any) -> Value:
        """Carry a number that the tracer needs beside those of the program."""
        return self._carry_value(of, type_, number_value(start, type_))

    def _carry_value(self, of: ValueOf, type_: NumberType, start: Value) -> Value:
        argument = self.argument(of.label, type_)
        self._carried.append(CarriedNumber(of, type_, argument, start))
        return argument

    def carry_counter(self, name: str, type_: NumberType, start: Any) -> Value:
        """Carry a number of the tracer's own."""
        return self._carry(ValueOf(name, Role.COUNTER), type_, start)

    def arguments(self) -> tuple[Value, ...]:
        """What the body's block takes."""
        return tuple(number.argument for number in self._carried)

    def argument_of(self, of: ValueOf) -> Value | None:
        """A carried number at the start of the body."""
        return next((number.argument for number in self._carried if number.of == of), None)

    def starts(self) -> tuple[Value, ...]:
        """What they take in the first iteration."""
        return tuple(number.start for number in self._carried)

    def _loop_buffer(self, initial: TracedArray) -> TracedArray:
        buffer = self._buffer(initial)
        storage = Storage.of_buffer(self.trace, buffer)
        value = initial.value()
        self.trace.store(View.whole(buffer), value)
        return TracedArray.whole(storage)

    def show_changing_buffers(self) -> None:
        """Define, once an iteration has a symbol, its view of loop buffers that change length."""
        for name, extents in self._changing.items():
            shown = rows(self._loop_buffers[name], at(extents, AffineExpr.symbol(self.symbol)))
            self._loop_buffers[name] = self._entry[name] = shown
            self._origins.show(name, shown)
        lengths: dict[str, AffineExpr] = {}
        for name, group in self._cut.items():
            loop_buffer = self._loop_buffers[name]
            if group not in lengths:
                number = self.argument_of(ValueOf(group, Role.ROWS))
                assert number is not None
                lengths[group] = number_of_rows(self.trace, number, loop_buffer.extents[0])
                self._rows.append((lengths[group], number, loop_buffer.extents[0]))
            shown = rows(loop_buffer, (lengths[group], *loop_buffer.extents[1:]))
            loop_buffer.storage.prefix = shown.extents
            self._loop_buffers[name] = self._entry[name] = shown
            self._origins.show(name, shown)

    def bind_rows_again(self) -> None:
        """In the body of a loop whose condition has seen how many rows are left."""
        for length, number, most in self._rows:
            (name,) = length.symbols()
            self.trace.locals.move(name, AffineExpr.const(0), most)
            self.trace.emit(Bind(symbol=name, value=number))

    def _buffer(self, like: TracedArray, extents: Extents | None = None) -> Buffer:
        trace = self.trace
        order = like.storage.order if like.is_whole else like.sorted_order()
        outer = trace.blocks[-2 if self in trace.regions else -1]
        type_ = TensorType(like.dtype, extents or like.extents)
        return trace.allocate("c0", type_, order, outer, self.location)

    def _require_own_strides(self, array: TracedArray) -> None:
        """Peel for an array with broadcast axes: a loop buffer has a say in strides."""
        constant = self.trace.decisions.constant
        axes = [a for a, extent in enumerate(array.extents) if constant(extent) != 1]
        if array.ndim > 1 and any(array.compare_strides(a, a) is None for a in axes):
            self.peel_first()
            raise Fallback("later iterations of a loop read a broadcast array; copy it")
