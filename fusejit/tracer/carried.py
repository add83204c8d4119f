"""What a loop carries from one iteration to the next.

A number that the body assigns is carried as a value. An array that the body binds anew
(``x = x + step``) is carried as memory, a *cell*: it is filled in front of the loop, the body sees
it under the name, and what the name holds at the end of the body is stored into it. Arrays that
are only changed in place are not carried at all, because their memory is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Alloc, Bind, Buffer, Loop, Value, View
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.types import Kind, TensorType
from fusejit.tracer.array import TracedArray
from fusejit.tracer.arrays_behind import ArraysBehind
from fusejit.tracer.changing_extents import at, changing_extents, largest, left_behind, rows
from fusejit.tracer.declined import Declined
from fusejit.tracer.kernel_numbers import arithmetic, is_number, number_type
from fusejit.tracer.locations import unsupported
from fusejit.tracer.number import TracedNumber
from fusejit.tracer.operands import I64
from fusejit.tracer.regions import (
    UNDEFINED,
    NumberType,
    Region,
    Undefined,
    describe,
    extents_are_outside,
    is_array,
    joined_type,
    number_value,
    same_object,
    same_view,
    type_text,
)
from fusejit.tracer.shapes import Extents
from fusejit.tracer.shrinking import (
    as_long_as,
    cut_together,
    is_left_of,
    length_name,
    number_of_rows,
)
from fusejit.tracer.storage import Storage
from fusejit.tracer.trace import Trace

_ONLY_INSIDE = "is defined only inside a loop"


class Carried(Region):
    """The carried names of a loop.

    Attributes
    ----------
    dead : tuple of str
        Names that each iteration binds before it reads them, and nothing else reads.
    runs : bool or None
        Whether there is an iteration; None if that is not known.
    after : dict
        What each name holds behind the loop.
    """

    repeats = True

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        names: tuple[str, ...],
        live: frozenset[str],
        dead: tuple[str, ...],
    ) -> None:
        super().__init__(trace, key, names, live)
        self.dead = dead
        self.runs: bool | None = None
        self.after: dict[str, Any] = {}
        self._entry: dict[str, Any] = {}  # what each name holds at the start of the body
        self._carried: list[tuple[str, NumberType, Value, Value]] = []  # argument, start
        self._cells: dict[str, TracedArray] = {}
        self._changing: dict[str, Extents] = {}  # of cells whose length each iteration changes
        self._cut: dict[str, str] = {}  # of cells that lose rows, with whom they share the number
        self._rows: list[tuple[AffineExpr, Value, AffineExpr]] = []  # symbol, number, the most
        self._late: list[tuple[str, NumberType, Value]] = []  # defined in the loop only
        self._results: dict[str, Value] = {}
        self._now: dict[str, Any] = {}  # what the names hold at the end of the body
        self._renewed: dict[str, TracedArray] = {}  # other objects that show what was shown before
        self._views: dict[str, Any] = {}  # what is defined late and has its memory outside
        self.targets: tuple[str, ...] = ()
        self.symbol = ""
        self.flags: tuple[str, ...] = ()
        self._visit = trace.visit((key, self.location))
        self.trips = AffineExpr.const(0)

    def can_peel(self) -> bool:
        """Whether first iterations may be traced one by one."""
        return False

    def counts(self) -> bool:
        """Whether it has iterations, whose numbers are the loop's symbol."""
        return False

    # -- the start of the body --------------------------------------------------------------------
    def begin(self, names: Mapping[str, Any]) -> None:
        """Find what the names hold in the body; called in front of the body's block."""
        self._before = {name: self.look_up(names, name) for name in self.names}
        for name, obj in self._before.items():
            self._entry[name] = self._at_entry(name, obj)

    def entries(self) -> tuple[Any, ...]:
        """What the names hold at the start of the body, where all flags are down."""
        return tuple(False if n in self.flags else o for n, o in self._entry.items())

    def _at_entry(self, name: str, obj: Any) -> Any:
        if name in self.dead:
            self._before[name] = UNDEFINED
            return Undefined(name, "is bound anew in each iteration", is_unbound=True)
        if is_number(obj):
            return self._carry(name, self._type_at_entry(name, number_type(obj)), obj)
        if self.decided("late", name):
            self._before[name] = UNDEFINED
            return Undefined(name, "is bound to a view in each iteration")
        if is_array(obj) and (extents := self.decided("extents", name)):
            buffer = self._buffer(obj, largest(extents, self.trips))
            cell = TracedArray.whole(Storage.of_buffer(self.trace, buffer))
            self.trace.store(rows(cell, obj.extents).memory(), obj.value())
            self._changing[name] = extents
            self._cells[name] = cell
            return cell
        if is_array(obj) and (group := self.decided("cut", name)):
            number = length_name(group)
            if not any(n == number for n, _, _, _ in self._carried):
                length = self.trace.number(self.trace.decisions.canonical(obj.extents[0]))
                self._carry(number, (Kind.PYTHON, I64), length)
            self._cut[name] = group
            self._cells[name] = self._cell(obj)
            return self._cells[name]
        if is_array(obj) and self.decided("cell", name):
            self._require_own_strides(obj)
            self._cells[name] = self._cell(obj)
            return self._cells[name]
        return obj

    def _type_at_entry(self, name: str, own: NumberType) -> NumberType:
        """The type decided by an earlier attempt, unless a loop around has changed it since."""
        decided: NumberType | None = self.decided("type", name, *self._visit)
        return own if decided is None else joined_type(decided, own) or own

    def _carry(self, name: str, type_: NumberType, start: Any) -> TracedArray:
        value = number_value(start, type_)
        argument = self.argument(name, type_)
        self._carried.append((name, type_, argument, value))
        return TracedArray.of_value(self.trace, argument)

    def carry_extra(self, name: str, type_: NumberType, start: Any) -> Value:
        """A number of the tracer's own, carried beside those of the program."""
        self._carry(f"{name} ", type_, start)
        return self._carried[-1][2]

    def arguments(self) -> tuple[Value, ...]:
        """What the body's block takes."""
        return tuple(argument for _, _, argument, _ in self._carried)

    def argument_of(self, name: str) -> Value | None:
        """The value of a carried number at the start of the body."""
        return next((a for n, _, a, _ in self._carried if n == name), None)

    def starts(self) -> tuple[Value, ...]:
        """What they take in the first iteration."""
        late = tuple(start for _, _, start in self._late)
        return tuple(start for _, _, _, start in self._carried) + late

    def _cell(self, initial: TracedArray) -> TracedArray:
        buffer = self._buffer(initial)
        storage = Storage.of_buffer(self.trace, buffer)
        value = initial.value()
        self.trace.store(View.whole(buffer), value)
        return TracedArray.whole(storage)

    def show_changing_cells(self) -> None:
        """Now that the iteration has a symbol: what it sees of cells that change their length."""
        for name, extents in self._changing.items():
            shown = rows(self._cells[name], at(extents, AffineExpr.symbol(self.symbol)))
            self._cells[name] = self._entry[name] = shown
        lengths: dict[str, AffineExpr] = {}
        for name, group in self._cut.items():
            cell = self._cells[name]
            if group not in lengths:
                number = self.argument_of(length_name(group))
                assert number is not None
                lengths[group] = number_of_rows(self.trace, number, cell.extents[0])
                self._rows.append((lengths[group], number, cell.extents[0]))
            shown = rows(cell, (lengths[group], *cell.extents[1:]))
            cell.storage.front = shown.extents
            self._cells[name] = self._entry[name] = shown

    def bind_rows_again(self) -> None:
        """In the body of a loop whose condition has seen how many rows are left."""
        for length, number, most in self._rows:
            (name,) = length.symbols()
            self.trace.move_symbol(name, AffineExpr.const(0), most)
            self.trace.emit(Bind(symbol=name, value=number))

    def _buffer(self, like: TracedArray, extents: Extents | None = None) -> Buffer:
        trace = self.trace
        extents = tuple(map(trace.decisions.canonical, extents or like.extents))
        order = like.storage.order if like.is_whole else like.sorted_order()
        buffer = Buffer(
            trace.unique_name("c0"), TensorType(like.dtype, extents), trace.new_alias_class()
        )
        buffer.order = order
        trace.graph.buffers.append(buffer)
        alloc = Alloc(buffer=buffer)
        alloc.location = self.location
        trace.append(alloc, trace.blocks[self._outer_index()])
        return buffer

    def _outer_index(self) -> int:
        return -2 if self in self.trace.regions else -1

    # -- the end of the body ----------------------------------------------------------------------
    def end(self, names: Mapping[str, Any]) -> None:
        """Compare what the names hold with what they held; start again where that was wrong."""
        now = self._now = {name: self.look_up(names, name) for name in self.names}
        self._find_swaps(now)
        self._find_cuts(now)
        fresh = [n for n in self.names if is_array(now[n]) and self._is_mine(now[n].storage)]
        for name in sorted(self.names, key=lambda n: n not in fresh):  # what makes cells first
            self._settle(name, self._entry[name], now[name])
        self._refuse_shared_memory(now)

    def _find_swaps(self, now: dict[str, Any]) -> None:
        """Names that exchange their arrays in each iteration: trace several iterations at once."""
        trace = self.trace
        arrays = {n: o for n, o in self._entry.items() if is_array(o) and n not in self._cells}
        source: dict[str, str] = {}
        for name in arrays:
            if not is_array(now[name]):
                continue
            objects = [other for other, array in arrays.items() if now[name] is array]
            views = [o for o, array in arrays.items() if same_view(trace, now[name], array)]
            if objects or views:
                source[name] = (objects or views)[0]
        moved = {n: s for n, s in source.items() if n != s}
        if not moved or set(moved) != set(moved.values()):
            return
        order, place = 1, dict(moved)
        while any(n != s for n, s in place.items()):
            place = {n: moved[s] for n, s in place.items()}
            order += 1
        if not self.can_peel():
            what = "swaps arrays in a loop whose number of iterations is not known before"
            raise unsupported(what, "copy the elements: x[...] = y")
        self.decide(order * getattr(self, "period", 1), "period")

    def _find_cuts(self, now: dict[str, Any]) -> None:
        """Names whose arrays lose rows: all of them are decided at once."""
        entry = {n: o for n, o in self._entry.items() if n not in self._changing}
        found = cut_together(self.names, entry, now)
        for name, group in self._cut.items():
            cell, first = (
                self._cells[name],
                now[next(n for n, g in self._cut.items() if g == group)],
            )
            if not is_left_of(cell, now[name]) or not as_long_as(now[name], first):
                self.decide(False, "cut", name)
        wanted = {n: g for n, g in found.items() if self.decided("cut", n) is None}
        if wanted and self.cuts():
            for name, group in list(wanted.items())[1:]:
                self.trace.table[(self.key, "cut", name)] = group
            self.decide(*next((g, "cut", n) for n, g in wanted.items()))

    def _settle(self, name: str, before: Any, now: Any) -> None:
        if isinstance(before, Undefined):
            return
        if same_object(self.trace, before, now):
            if now is not before and is_array(now) and name not in self._cells:
                self._renewed[name] = now if self.runs else now.one_of_two()
            return
        if is_number(before) and is_number(now):
            self._settle_type(name, number_type(before), number_type(now))
        elif is_array(before) and is_array(now):
            self._settle_cell(name, before, now)
        else:
            self._peel_or_refuse(name, before, now)

    def _settle_type(self, name: str, before: NumberType, now: NumberType) -> None:
        if before == now:
            return
        if self.can_peel() and not self.decided("peel"):
            self.decide(1, "peel")
        joined = joined_type(before, now)
        if joined is None or joined == before:
            kinds = f"{type_text(before)}, then {type_text(now)}"
            what = f"{name!r} changes its type in the loop ({kinds})"
            remedy = f"convert it before the loop: {name} = {_conversion(now)}({name})"
            raise unsupported(what, remedy)
        self.decide(joined, "type", name, *self._visit)

    def _settle_cell(self, name: str, before: TracedArray, now: TracedArray) -> None:
        trace = self.trace
        canonical = trace.decisions.canonical
        shapes = [list(map(canonical, a.extents)) for a in (before, now)]
        if name in self._changing:
            if shapes[1] != list(map(canonical, self._next_extents(name))):
                self.decide(False, "extents", name)
        elif name in self._cut:
            pass
        elif shapes[0] != shapes[1] and self.counts() and self.decided("extents", name) is None:
            extents = changing_extents(self.symbol, before, now)
            may_settle = not trace.decisions.is_local(now.extents[0]) and not self.decided("peel")
            if extents is not None and not may_settle:
                self.decide(extents, "extents", name)
        if name in self._changing or name in self._cut:
            pass
        elif before.dtype != now.dtype or shapes[0] != shapes[1]:
            if self.can_peel() and not self.decided("peel"):
                self.decide(1, "peel")
            texts = [
                f"{' x '.join(map(str, s))} {a.dtype}"
                for s, a in zip(shapes, (before, now), strict=True)
            ]
            what = f"{name!r} changes its shape or dtype in the loop ({texts[0]}, then {texts[1]})"
            raise unsupported(what, "keep it the same, or write into a larger array")
        if not self._is_mine(now.storage) and not self._is_cell(now.storage):
            self.decide(True, "late", name)
        if name not in self._cells:
            self.decide(True, "cell", name)
        if before.storage.num_stores:  # in place first, then bound anew
            arrays = {n: o for n, o in self._now.items() if is_array(o)}
            needed = 1 + self._num_moved_on(name, arrays)  # until it is an array of the loop's own
            if self.can_peel() and (self.decided("peel") or 0) < needed:
                self.decide(needed, "peel")
            if not self.decided("peel"):
                what = f"{name!r} is changed in place and bound anew in one loop"
                raise unsupported(what, f"write {name} = {name}.copy() before the loop")

    def _next_extents(self, name: str) -> Extents:
        return at(self._changing[name], AffineExpr.symbol(self.symbol) + 1)

    def _peel_or_refuse(self, name: str, before: Any, now: Any) -> None:
        if self.can_peel() and not self.decided("peel"):
            self.decide(1, "peel")
        what = f"{name!r} is {describe(before)} before an iteration and {describe(now)} behind it"
        raise unsupported(
            what, f"use another name for one of them, or give {name!r} such a value before the loop"
        )

    def _refuse_shared_memory(self, now: dict[str, Any]) -> None:
        """Two cells cannot stand for one array that is changed in place later."""
        seen: dict[int, str] = {}
        for name in self._cells:
            storage = now[name].storage.root
            if storage is self._cells[name].storage:
                continue
            other = seen.setdefault(id(storage), name)
            if other != name or (storage.num_stores and not self._is_mine(storage)):
                what = f"{name!r} and another name are one array behind an iteration"
                raise unsupported(what, f"write {name} = ....copy()")

    def _is_cell(self, storage: Storage) -> bool:
        return any(storage is cell.storage for cell in self._cells.values())

    def _is_mine(self, storage: Storage) -> bool:
        """Whether the body has made the array."""
        return storage.home is self.trace.block

    def yields(self, names: Mapping[str, Any], extra: Value | None = None) -> tuple[Value, ...]:
        """What the body's block gives to the next iteration; fills the cells."""
        trace = self.trace
        names = {**names, **{name: self.look_up(names, name) for name in self._cells}}
        numbers = []
        for name, type_, argument, _ in self._carried:
            if cut := [n for n, g in self._cut.items() if length_name(g) == name]:
                length = trace.decisions.canonical(names[cut[0]].extents[0])
                numbers.append(number_value(trace.number(length), type_))
            elif not name.endswith(" "):
                now = names[name]
                same = now is self._entry[name]
                numbers.append(argument if same else number_value(now, type_))
            elif extra is not None:
                numbers.append(extra)
        behind = ArraysBehind(trace, self._buffer)
        for name, cell in self._cells.items():
            now = names[name]
            if name in self._changing:
                behind.carry_rows(cell, rows(cell, self._next_extents(name)), now)
                continue
            is_same = same_object(trace, cell, now)
            if not is_same:
                if not name.startswith("_st"):  # the result of a `return` ends the loop
                    self._refuse_copy(now.storage.root, cell.storage.root)
                self._require_order(cell, now)
            if name in self._cut and not is_same:
                behind.carry_rows(cell, rows(cell, now.extents), now)
            else:
                behind.carry(cell, now)
        self._require_trips(1 + max((self._num_moved_on(n, names) for n in self._cells), default=0))
        late = self._define_late(names, behind)
        behind.note_copied()
        for cell, value in behind.moves:
            trace.store(cell.memory(), value)
        return (*numbers, *late)

    def _num_moved_on(self, name: str, names: Mapping[str, Any]) -> int:
        """After how many iterations a name holds no array any more that was there before them."""
        owners = {cell.storage: other for other, cell in self._cells.items()}
        for count in range(len(owners)):
            held = names.get(name)
            source = owners.get(held.storage) if isinstance(held, TracedArray) else None
            if source is None or source == name:
                return count
            name = source
        return 0

    def _require_trips(self, count: int) -> None:
        """See to it that there are so many iterations: fewer leave an array from in front of them.

        In NumPy it is the very object; a cell is a copy.
        """
        if not self.can_peel() or (self.decided("peel") or 0) >= count - 1:
            return
        if not self.trace.decisions.at_most(count, self.trips, "a loop runs several times"):
            self.decide(count - 1, "peel")

    def _object_behind(
        self, array: TracedArray, storage: Storage, names: Mapping[str, Any]
    ) -> TracedArray:
        """The object that is ``array`` behind the loop, where ``storage`` has its elements."""
        if array.storage is storage:
            return array
        for name, cell in self._cells.items():
            if names[name] is array and cell.storage is storage:
                return cell
        made: TracedArray
        for name, made in self._views.items():
            if names[name] is array:
                return made
        result = TracedArray(storage, array.map, array.extents)
        result.writeable = array.writeable
        return result

    def _define_late(self, names: Mapping[str, Any], behind: ArraysBehind) -> tuple[Value, ...]:
        """Names that only the body defines and that are read behind the loop."""
        values: list[Value] = []
        for name in (*self.names, *self.targets):
            if name not in self.live or not isinstance(
                self._before.get(name, UNDEFINED), Undefined
            ):
                continue
            now = self.look_up(names, name)
            before = self._before.get(name, UNDEFINED)
            if not self.runs and not self.is_sure(name, before):
                self.after[name] = Undefined(name, _ONLY_INSIDE)
            elif isinstance(now, TracedNumber) and now.affine is not None:
                self._views[name] = now
            elif is_number(now):
                values.append(number_value(now, number_type(now)))
                self._late.append((name, number_type(now), values[-1]))
            elif is_array(now) and (storage := behind.find(now.storage)) is not None:
                self._views[name] = self._object_behind(now, storage, names)
            elif is_array(now) and extents_are_outside(self.trace, now.storage.extents):
                if self._is_cell(now.storage.root):  # it is what a cell held before this iteration
                    self._require_trips(2)
                self._views[name] = self._object_behind(now, behind.copy(now.storage), names)
            else:
                self.after[name] = now if _is_plain(now) else Undefined(name, _ONLY_INSIDE)
        return tuple(values)

    def _require_order(self, cell: TracedArray, array: TracedArray) -> None:
        """See to it that an array lies in memory as the one before it did: its strides show."""
        self._require_own_strides(array)
        order = array.storage.order if array.is_whole else array.sorted_order()
        if array.ndim > 1 and order != cell.storage.order:
            if self.can_peel() and not self.decided("peel"):
                self.decide(1, "peel")
            raise Declined("the order of axes in memory changes in a loop")
        if not array.is_whole and not self._is_cell(array.storage.root):
            cell.storage.note_copied(array.storage.root, False, "a view that a loop carries")

    def _require_own_strides(self, array: TracedArray) -> None:
        """An array of which axes are broadcast has no say in strides, and a cell does: peel."""
        constant = self.trace.decisions.constant
        axes = [a for a, extent in enumerate(array.extents) if constant(extent) != 1]
        if array.ndim > 1 and any(array.compare_strides(a, a) is None for a in axes):
            if self.can_peel() and not self.decided("peel"):
                self.decide(1, "peel")
            raise Declined("a loop carries a broadcast array")

    def _refuse_copy(self, storage: Storage, cell: Storage | None = None) -> None:
        """Decline if a cell would take the elements of a copy that NumPy has as a view."""
        are_own = all(base is cell or self._is_mine(base) for base in storage.copied_from)
        if storage.copied_from and not (storage.may_leave and are_own):
            raise Declined(f"a loop carries {storage.copied_why}")

    def last_number(self) -> AffineExpr | None:
        """The number of the last iteration, where there is one."""
        return None

    def last_of(self, number: TracedNumber) -> Any:
        """What an integer of the body was in the last iteration."""
        return number

    def _show_last_views(self) -> None:
        """What was a view, or an integer, in the last iteration is that view behind the loop."""
        if not self._views:
            return
        numbers = {n: o for n, o in self._views.items() if isinstance(o, TracedNumber)}
        last = None if len(numbers) == len(self._views) else self.last_number()
        symbols = {} if last is None else {self.symbol: last}
        shown: dict[int, TracedArray] = {}  # two names may have one object
        for name, now in self._views.items():
            if isinstance(now, TracedNumber):
                made: Any = self.last_of(now)
                left = [made.affine] if isinstance(made, TracedNumber) and made.affine else []
            else:
                results = tuple(e.substitute(symbols=symbols) for e in now.map.results)
                extents = tuple(e.substitute(symbols=symbols) for e in now.extents)
                left = [*results, *extents]
                made = now  # the very object, unless it is another part in each iteration
                if (results, extents) != (now.map.results, now.extents):
                    made = TracedArray(now.storage, IndexingMap(now.map.num_dims, results), extents)
                    made.writeable = now.writeable
                    made = shown.setdefault(id(now), made)
            inside = not all(map(self.trace.is_visible, left))
            self.after[name] = Undefined(name, _ONLY_INSIDE) if inside else made

    # -- behind the loop --------------------------------------------------------------------------
    def finish(self, op: Loop) -> None:
        """Emit the loop; what the names hold behind it."""
        late = [name for name, _, _ in self._late]
        arguments = list(op.body.arguments)
        starts = list(op.carried[: len(self._carried)])
        for k, (name, type_, _) in enumerate(self._late):
            self._late[k] = (name, type_, number_value(_zero(type_), type_))
            starts.append(self._late[k][2])
            arguments.append(self.argument(name, type_))
        op.carried = tuple(starts)
        blocks = [op.body] if op.condition is None else [op.body, op.condition]
        for block in blocks:
            block.arguments = tuple(arguments)
        op.results = tuple(map(self.result_of, arguments))
        self.emit(op)
        carried = [name for name, _, _, _ in self._carried]
        self._results = dict(zip([*carried, *late], op.results, strict=True))
        for name, value in self._results.items():
            self.after[name] = TracedArray.of_value(self.trace, value)
        self._show_last_views()
        for name, extents in self._changing.items():
            last = self.last_number()
            assert last is not None
            self.after[name] = left_behind(self._cells[name], at(extents, last + 1))
        self._show_what_is_left()
        for name in (*self.names, *self.targets):
            if name not in self.after:
                before = self._before.get(name, UNDEFINED)
                undefined = isinstance(before, Undefined)
                kept = self._renewed.get(name, self._cells.get(name, before))
                self.after[name] = Undefined(name, _ONLY_INSIDE) if undefined else kept

    def _show_what_is_left(self) -> None:
        """What arrays that lost rows are behind the loop."""
        lengths: dict[str, AffineExpr] = {}
        for name, group in self._cut.items():
            storage = self._cells[name].storage
            if group not in lengths:
                number = self._results[length_name(group)]
                lengths[group] = number_of_rows(self.trace, number, storage.extents[0])
            extents = (lengths[group], *storage.extents[1:])
            cell = self._cells[name]
            self.after[name] = (left_behind if name in self.live else rows)(cell, extents)

    def cuts(self) -> bool:
        """Whether arrays may lose rows in an iteration."""
        return False

    def unless_stopped(self, go_on: TracedArray, flags: tuple[str, ...]) -> TracedArray:
        """``go_on`` and none of the flags at the start of an iteration."""
        for flag in flags:
            value = self.argument_of(flag)
            if value is not None:
                down = arithmetic(np.logical_not, TracedArray.of_value(self.trace, value))
                go_on = arithmetic(np.logical_and, go_on, down)
        return go_on

    def extra_result(self) -> TracedArray:
        """The last value of the tracer's own number."""
        name = next(n for n in self._results if n.endswith(" "))
        return TracedArray.of_value(self.trace, self._results[name])


def _is_plain(obj: Any) -> bool:
    """Whether an object is the same in each iteration: nothing of the trace."""
    return isinstance(obj, bool | int | float | str | type(None))


def _conversion(type_: NumberType) -> str:
    kind, dtype = type_
    if kind is Kind.PYTHON:
        return {"b": "bool", "f": "float"}.get(dtype.kind, "int")
    return f"np.{dtype}"


def _zero(type_: NumberType) -> Any:
    return {"b": False, "i": 0, "u": 0, "f": 0.0}[type_[1].kind]
