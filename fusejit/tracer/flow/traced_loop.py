"""What a loop carries from one iteration to the next, and what it leaves.

`fusejit.tracer.flow.loop_entry` has the start of the body,
`fusejit.tracer.flow.loop_fixpoint` its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Loop
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.flow.loop_entry import TAG, parts_of
from fusejit.tracer.flow.loop_fixpoint import LoopFixpoint
from fusejit.tracer.flow.regions import (
    extents_are_captured,
    is_array,
    is_untraced_value,
    same_object,
)
from fusejit.tracer.flow.shrinking import length_name, number_of_rows
from fusejit.tracer.indexing.reshape_functions import is_contiguous, without_ones
from fusejit.tracer.ops.changing_extents import at, rows, values_after
from fusejit.tracer.ops.kernel_numbers import arithmetic, is_number
from fusejit.tracer.ops.number_values import (
    number_value,
    number_values,
    of_values,
    types_of_values,
    zero,
)
from fusejit.tracer.ops.origins import OBJECT_OF
from fusejit.tracer.ops.union_types import tag, type_of, wide
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import current_span, is_of_program, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.live_out_arrays import LiveOutArrays
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number
from fusejit.tracer.values.undefined import UNDEFINED, Undefined
from fusejit.tracer.values.union_scalar import NumberType, is_union_scalar

_ONLY_INSIDE = "is defined only inside a loop"


class TracedLoop(LoopFixpoint):
    """The carried names of a loop, and what they hold after it."""

    def yields(self, names: Mapping[str, Any], extra: Value | None = None) -> tuple[Value, ...]:
        """What the body's block gives to the next iteration; fills the loop buffers."""
        trace = self.trace
        parts = [name for name in self._held if name not in self.names]
        names = {**names, **{n: self._now_held(names, n) for n in (*self._loop_buffers, *parts)}}
        numbers = []
        for name, type_, argument, _ in self._carried:
            if cut := [n for n, g in self._cut.items() if length_name(g) == name]:
                length = trace.decisions.canonical(names[cut[0]].extents[0])
                numbers.append(number_value(affine_number(trace, length), type_))
            elif name.startswith(OBJECT_OF):
                now = names[name.removeprefix(OBJECT_OF)]
                numbers.append(number_value(self._origins.number(now), type_))
            elif name.endswith(TAG):
                now = names[name.removesuffix(TAG)]
                same = now is self._entry[name.removesuffix(TAG)]
                either = self._types[name.removesuffix(TAG)]
                numbers.append(argument if same else tag(now, either).value())
            elif not name.endswith(" "):
                now = names[name]
                same = now is self._entry[name]
                numbers.append(argument if same else self._number(name, now, type_))
            elif extra is not None:
                numbers.append(extra)
        behind = LiveOutArrays(trace, self._buffer)
        for name, loop_buffer in self._loop_buffers.items():
            now = names[name]
            if name in self._changing:
                behind.carry_rows(loop_buffer, rows(loop_buffer, self._next_extents(name)), now)
                continue
            is_same = same_object(trace, loop_buffer, now)
            if not is_same:
                if is_of_program(name):  # the result of a `return` ends the loop
                    self._refuse_copy(now.storage.root, loop_buffer.storage.root)
                self._require_order(loop_buffer, now)
                loop_buffer.is_view = now.is_view
            if name in self._cut and not is_same:
                behind.carry_rows(loop_buffer, rows(loop_buffer, now.extents), now)
            else:
                behind.carry(loop_buffer, now)
        self._require_trips(
            1 + max((self._num_moved_on(n, names) for n in self._loop_buffers), default=0)
        )
        self._origins.leave(names, self.runs is True and self.can_peel())
        self._require_unchanged_objects(names)
        late = self._define_late(names, behind)
        behind.note_copied()
        for loop_buffer, value in behind.moves:
            trace.store(loop_buffer.memory(), value)
        return (*numbers, *late)

    def _number(self, name: str, number: Any, type_: NumberType) -> Value:
        is_one = name not in self._types
        return number_value(number, type_) if is_one else wide(number, type_[1]).value()

    def _require_trips(self, count: int) -> None:
        """Require that many iterations: fewer would leave an array from before the loop.

        In NumPy it is the very object; a loop buffer is a copy.
        """
        if not self.can_peel() or (self.decided("peel") or 0) >= count - 1:
            return
        if not self.trace.decisions.at_most(count, self.trips, "a loop runs several times"):
            self.decide(count - 1, "peel")

    def _require_unchanged_objects(self, names: Mapping[str, Any]) -> None:
        """Refuse to change what a loop buffer is a copy of before the name is bound again."""
        name = self._origins.stored_to()
        if name is None:
            return
        needed = 1 + self._num_moved_on(name, names)
        if self.can_peel() and (self.decided("peel") or 0) < needed:
            self.decide(needed, "peel")
        if not self.decided("peel"):
            what = f"{name!r} is bound again in a loop that also changes in place what it held"
            raise unsupported(what, f"write {name} = {name}.copy() before the loop")

    def _object_after(
        self, array: TracedArray, storage: Storage, names: Mapping[str, Any]
    ) -> TracedArray:
        """The object that is ``array`` after the loop, where ``storage`` has its elements."""
        if array.storage is storage:
            return array
        for name, loop_buffer in self._loop_buffers.items():
            if names[name] is array and loop_buffer.storage is storage:
                return loop_buffer
        made: TracedArray
        for name, made in self._views.items():
            if names[name] is array:
                return made
        result = TracedArray(storage, array.map, array.extents)
        result.access = array.access
        result.is_view = array.is_view
        result.is_ndarray = array.is_ndarray
        return result

    def _define_late(self, names: Mapping[str, Any], behind: LiveOutArrays) -> tuple[Value, ...]:
        """Names that only the body defines and that are read after the loop."""
        values: list[Value] = []
        for name in self._held:
            if isinstance(self._before[name], Undefined):
                parts = self.taken_apart(name, self.look_up(names, name))
                names = {**names, **parts}
        for name in self._all_names():
            if name not in self.live or not isinstance(
                self._before.get(name, UNDEFINED), Undefined
            ):
                continue
            now = self.look_up(names, name)
            before = self._before.get(name, UNDEFINED)
            if not self.runs and not self.is_sure(name, before):
                self.after[name] = _only_inside(name)
            elif isinstance(now, SymbolicNumber) and now.affine is not None:
                self._views[name] = now
            elif is_number(now) or is_union_scalar(now):
                types = types_of_values(type_of(now))
                made = number_values(now, type_of(now))
                values += made
                self._late += zip(parts_of(name, types), types, made, strict=True)
                if is_union_scalar(now):
                    self._types[name] = now.type
            elif is_array(now) and (storage := behind.find(now.storage)) is not None:
                self._views[name] = self._object_after(now, storage, names)
            elif is_array(now) and extents_are_captured(self.trace, now.storage.extents):
                if self._is_loop_buffer(
                    now.storage.root
                ):  # it is what a loop buffer held before this iteration
                    self._require_trips(2)
                self._views[name] = self._object_after(now, behind.copy(now.storage), names)
                if self._origins.may_be_another(now):
                    self._copied_late.add(name)
                    if self._origins.is_tracked():
                        values.append(number_value(self._origins.number(now), (Kind.PYTHON, I64)))
                        self._late.append((OBJECT_OF + name, (Kind.PYTHON, I64), values[-1]))
            elif not is_of_program(name) and Undefined.is_unbound(now):
                self.after[name] = now  # no `return` has given it a value
            else:
                self.after[name] = now if is_untraced_value(now) else _only_inside(name)
        return tuple(values)

    def _require_order(self, loop_buffer: TracedArray, array: TracedArray) -> None:
        """Require the memory layout of the previous array, because strides are observable."""
        self._require_own_strides(array)
        order = array.storage.order if array.is_whole else array.sorted_order()
        if array.ndim > 1 and order != loop_buffer.storage.order:
            self.peel_first()
            raise Fallback("the order of axes in memory changes in a loop")
        if array.storage.has_gaps:
            loop_buffer.storage.note_copied(array.storage.root, False, "a part that a loop carries")
        elif not array.is_whole and not self._is_loop_buffer(array.storage.root):
            root = array.storage.root  # no one else sees an array that the body has made
            is_alone = self._is_mine(root) and is_contiguous(without_ones(array))
            loop_buffer.storage.note_copied(root, is_alone, "a view that a loop carries")

    def _refuse_copy(self, storage: Storage, loop_buffer: Storage | None = None) -> None:
        """Fall back if a loop buffer would take the elements of a copy that NumPy has as a view."""
        origin = storage.origin
        if (
            origin is not None
            and origin.require_own is not None
            and storage.copied_from.keys() <= origin.roots()
        ):
            return  # a loop inside: it is known which object the array is
        are_own = all(base is loop_buffer or self._is_mine(base) for base in storage.copied_from)
        if storage.copied_from and not (storage.may_leave and are_own):
            raise Fallback(f"a loop carries {storage.copied_why}")

    def last_number(self) -> AffineExpr | None:
        """The number of the last iteration, where there is one."""
        return None

    def last_of(self, number: SymbolicNumber) -> Any:
        """What an integer of the body was in the last iteration."""
        return number

    def _show_last_views(self) -> None:
        """What was a view, or an integer, in the last iteration is that view after the loop."""
        if not self._views:
            return
        numbers = {n: o for n, o in self._views.items() if isinstance(o, SymbolicNumber)}
        last = None if len(numbers) == len(self._views) else self.last_number()
        symbols = {} if last is None else {self.symbol: last}
        shown: dict[int, TracedArray] = {}  # two names may have one object
        for name, now in self._views.items():
            if isinstance(now, SymbolicNumber):
                made: Any = self.last_of(now)
                left = [made.affine] if isinstance(made, SymbolicNumber) and made.affine else []
            else:
                results = tuple(e.substitute(symbols=symbols) for e in now.map.results)
                extents = tuple(e.substitute(symbols=symbols) for e in now.extents)
                left = [*results, *extents]
                made = now  # the very object, unless it is another part in each iteration
                if (results, extents) != (now.map.results, now.extents):
                    made = TracedArray(now.storage, IndexingMap(now.map.num_dims, results), extents)
                    made.access = now.access
                    made.is_view = now.is_view
                    made.is_ndarray = now.is_ndarray
                    made = shown.setdefault(id(now), made)
            inside = not all(map(self.trace.locals.is_visible, left))
            self.after[name] = Undefined(name, _ONLY_INSIDE) if inside else made

    # -- after the loop --------------------------------------------------------------------------
    def result(self) -> tuple[Any, ...]:
        """What the names hold after the loop, and the last items of a ``for``."""
        return tuple(self.after[name] for name in (*self.names, *self.targets))

    def finish(self, op: Loop) -> None:
        """Emit the loop; what the names hold after it."""
        late = [name for name, _, _ in self._late]
        arguments = list(op.body.arguments)
        starts = list(op.carried[: len(self._carried)])
        for k, (name, type_, _) in enumerate(self._late):
            self._late[k] = (name, type_, number_value(zero(type_), type_))
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
            if name in self._types:
                parts = (value, self._results[name + TAG])
                self.after[name] = of_values(self.trace, self._types[name], parts)
            elif not name.endswith(TAG):
                self.after[name] = TracedArray.of_value(self.trace, value)
        self._show_last_views()
        for name, extents in self._changing.items():
            last = self.last_number()
            assert last is not None
            self.after[name] = values_after(self._loop_buffers[name], at(extents, last + 1))
        self._show_what_is_left()
        for name in self._all_names():
            if name not in self.after:
                before = self._before.get(name, UNDEFINED)
                undefined = isinstance(before, Undefined)
                kept = self._renewed.get(name, self._loop_buffers.get(name, before))
                self.after[name] = _only_inside(name) if undefined else kept
        self._origins.finish(self.after, frozenset(self._copied_late))
        for name in self._tuples:
            if name in self.names:
                self.after[name] = self.put_together(name, self.after)

    def _all_names(self) -> list[str]:
        """The names of the region and of its items; those of tuples stand for their items."""
        parts = self._tuples.values()
        items = [n for _, inner, flag in parts for n in (*inner, flag) if n is not None]
        found = dict.fromkeys((*self._held, *items, *self.targets))
        return [name for name in found if name not in self._tuples]

    def _show_what_is_left(self) -> None:
        """Bind, after the loop, the names of arrays that were shortened in it."""
        lengths: dict[str, AffineExpr] = {}
        for name, group in self._cut.items():
            storage = self._loop_buffers[name].storage
            if group not in lengths:
                number = self._results[length_name(group)]
                lengths[group] = number_of_rows(self.trace, number, storage.extents[0])
            extents = (lengths[group], *storage.extents[1:])
            loop_buffer = self._loop_buffers[name]
            self.after[name] = (values_after if name in self.live else rows)(loop_buffer, extents)

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


def _only_inside(name: str) -> Undefined:
    """What a name is after a loop that may not bind it: Python may run the loop."""
    return Undefined(name, _ONLY_INSIDE, span=current_span(), is_loop=True)
