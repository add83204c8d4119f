"""The end of a loop's body: what its names hold there, compared with what they held.

Where that differs in type, in shape or in whose memory it is, the loop is traced again with what
was found out, its first iterations are traced one by one, or the program is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.flow.loop_entry import LoopEntry
from fusejit.tracer.flow.regions import describe, is_array, is_tuple_like, same_object, tuple_of
from fusejit.tracer.flow.shrinking import as_long_as, cut_together, has_room
from fusejit.tracer.indexing.view_functions import same_view
from fusejit.tracer.ops.changing_extents import at, changing_extents
from fusejit.tracer.ops.number_values import type_text, zero
from fusejit.tracer.ops.union_types import has_type, type_of, union
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.undefined import ABSENT, Undefined
from fusejit.tracer.values.union_scalar import NumberType, OptionalTuple, UnionType


class LoopFixpoint(LoopEntry):
    """The carried names of a loop, with types that no iteration changes."""

    def end(self, names: Mapping[str, Any]) -> None:
        """Compare what the names hold with what they held; start again where that was wrong."""
        for name, (kind, items, flag) in self._tuples.items():
            held: Any = self.look_up(names, name)
            if not is_tuple_like(held, kind, len(items), flag is not None):
                if held is None or isinstance(held, OptionalTuple):
                    self.decide(self._form(name), "tuple", name)
                self._peel_or_refuse(name, tuple_of(kind, items), held)
        now = self._now = {name: self._now_held(names, name) for name in self._held}
        self._find_swaps(now)
        self._find_cuts(now)
        fresh = [n for n in self._held if is_array(now[n]) and self._is_mine(now[n].storage)]
        for name in sorted(
            self._held, key=lambda n: n not in fresh
        ):  # what makes loop buffers first
            self._widen(name, self._entry[name], now[name])
        self._refuse_shared_memory(now)

    def _now_held(self, names: Mapping[str, Any], name: str) -> Any:
        """What a name holds; where it is None instead of a tuple, items are what they were."""
        obj = self.look_up(names, name)
        return self._entry[name] if obj is ABSENT else obj

    def _form(self, name: str) -> tuple[Any, ...]:
        """What a tuple looks like whose items are numbers: its class, and zeros of their types."""
        kind, items, _ = self._tuples[name]
        return kind, *(zero(type_of(self._entry[item])) for item in items)

    def _find_swaps(self, now: dict[str, Any]) -> None:
        """Names that exchange their arrays in each iteration: trace several iterations at once."""
        arrays = {
            n: o for n, o in self._entry.items() if is_array(o) and n not in self._loop_buffers
        }
        source: dict[str, str] = {}
        for name in arrays:
            if not is_array(now[name]):
                continue
            objects = [other for other, array in arrays.items() if now[name] is array]
            views = [o for o, array in arrays.items() if same_view(now[name], array)]
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
        found = cut_together(self._held, entry, now)
        for name, group in self._cut.items():
            loop_buffer, first = (
                self._loop_buffers[name],
                now[next(n for n, g in self._cut.items() if g == group)],
            )
            if not has_room(loop_buffer, now[name]) or not as_long_as(now[name], first):
                self.decide(False, "cut", name)
        wanted = {n: g for n, g in found.items() if self.decided("cut", n) is None}
        if wanted and self.cuts():
            for name, group in list(wanted.items())[1:]:
                self.trace.table[(self.key, "cut", name)] = group
            self.decide(*next((g, "cut", n) for n, g in wanted.items()))

    def _widen(self, name: str, before: Any, now: Any) -> None:
        if isinstance(before, Undefined):
            return
        if same_object(self.trace, before, now):
            if now is not before and is_array(now) and name not in self._loop_buffers:
                self._renewed[name] = now if self.runs else now.one_of_two(before)
            return
        if has_type(before) and has_type(now):
            self._widen_type(name, type_of(before), type_of(now))
        elif is_array(before) and is_array(now):
            if before.is_ndarray and now.numpy_class is not np.ndarray:
                self.decide(True, "not plain", name)
            self._widen_loop_buffer(name, before, now)
        elif before is None and isinstance(now, OptionalTuple) and all(map(has_type, now.items)):
            zeros = (zero(type_of(item)) for item in now.items)
            self.decide((type(now.items), *zeros), "tuple", name)
        else:
            self._peel_or_refuse(name, before, now)

    def _widen_type(
        self, name: str, before: NumberType | UnionType, now: NumberType | UnionType
    ) -> None:
        joined = union(before, now)
        if before == joined:
            return
        if not isinstance(now, UnionType):
            self.peel_first()  # it may have the type of the first iteration from then on
        if joined is None:
            kinds = f"{type_text(before)}, then {type_text(now)}"
            what = f"{name!r} changes its type in the loop ({kinds})"
            remedy = f"convert it before the loop: {name} = {_conversion(now)}({name})"
            raise unsupported(what, remedy)
        self.decide(joined, "type", name, *self._visit)

    def _widen_loop_buffer(self, name: str, before: TracedArray, now: TracedArray) -> None:
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
            if extents is not None and (
                trace.decisions.is_local(now.extents[0]) or self.decided("peel")
            ):
                self.decide(extents, "extents", name)
        if name in self._changing or name in self._cut:
            pass
        elif before.dtype != now.dtype or shapes[0] != shapes[1]:
            self.peel_first()
            texts = [
                f"{' x '.join(map(str, s))} {a.dtype}"
                for s, a in zip(shapes, (before, now), strict=True)
            ]
            what = f"{name!r} changes its shape or dtype in the loop ({texts[0]}, then {texts[1]})"
            raise unsupported(what, "keep it the same, or write into a larger array")
        is_from_outside = not self._is_mine(now.storage) and not self._is_loop_buffer(now.storage)
        if self.runs and is_from_outside:
            self.decide(True, "late", name)
        if name not in self._loop_buffers:
            self.decide(True, "loop_buffer", name)
        if before.storage.num_stores:  # in place first, then bound again
            arrays = {n: o for n, o in self._now.items() if is_array(o)}
            needed = 1 + self._num_moved_on(name, arrays)  # until it is an array of the loop's own
            if self.can_peel() and (self.decided("peel") or 0) < needed:
                self.decide(needed, "peel")
            if not self.decided("peel"):
                what = f"{name!r} is changed in place and bound again in one loop"
                raise unsupported(what, f"write {name} = {name}.copy() before the loop")

    def _next_extents(self, name: str) -> Extents:
        return at(self._changing[name], AffineExpr.symbol(self.symbol) + 1)

    def _peel_or_refuse(self, name: str, before: Any, now: Any) -> None:
        self.peel_first()
        what = f"{name!r} is {describe(before)} before an iteration and {describe(now)} after it"
        raise unsupported(
            what, f"use another name for one of them, or give {name!r} such a value before the loop"
        )

    def _refuse_shared_memory(self, now: dict[str, Any]) -> None:
        """Two loop buffers cannot stand for one array that is changed in place later."""
        seen: dict[int, str] = {}
        for name in self._loop_buffers:
            storage = now[name].storage.root
            if storage is self._loop_buffers[name].storage:
                continue
            other = seen.setdefault(id(storage), name)
            if other != name or (storage.num_stores and not self._is_mine(storage)):
                what = f"{name!r} and another name are one array after an iteration"
                raise unsupported(what, f"write {name} = ....copy()")

    def _is_loop_buffer(self, storage: Storage) -> bool:
        return any(storage is loop_buffer.storage for loop_buffer in self._loop_buffers.values())

    def _is_mine(self, storage: Storage) -> bool:
        """Whether the body has made the array."""
        return storage.home is self.trace.block

    def cuts(self) -> bool:
        """Whether arrays may lose rows in an iteration."""
        return False

    def _num_moved_on(self, name: str, names: Mapping[str, Any]) -> int:
        """After how many iterations a name holds no array any more that was there before them."""
        owners = {loop_buffer.storage: other for other, loop_buffer in self._loop_buffers.items()}
        for count in range(len(owners)):
            held = names.get(name)
            source = owners.get(held.storage) if isinstance(held, TracedArray) else None
            if source is None or source == name:
                return count
            name = source
        return 0


def _conversion(type_: NumberType | UnionType) -> str:
    if isinstance(type_, UnionType):
        return "float"
    kind, dtype = type_
    if kind is Kind.PYTHON:
        return {"b": "bool", "f": "float"}.get(dtype.kind, "int")
    return f"np.{dtype}"
