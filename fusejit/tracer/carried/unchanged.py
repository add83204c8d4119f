"""`Unchanged`: what iterations only read, or change in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.ir.values import Value
from fusejit.tracer.carried.buffers import require_class, require_form, require_own_memory
from fusejit.tracer.carried.containers import OWNED, require_container
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.numbers import widen_type
from fusejit.tracer.carried.regions import is_array, same_object
from fusejit.tracer.carried.tuple_parts import is_of_numbers, items_of, zeros_like
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.ops.traced_text import OF_TEXT, is_string
from fusejit.tracer.ops.union_types import has_type, type_of, union
from fusejit.tracer.values.pooled_objects import pooled
from fusejit.tracer.values.union_scalar import OptionalTuple


class Unchanged(Carried):
    """One object in all iterations: nothing is carried, as its memory is there.

    A name whose object changes has another kind in the next attempt to trace.
    """

    def __init__(self, loop: LoopRegion, name: str, before: Any, seen: Any) -> None:
        super().__init__(loop, name, before, seen)
        self._left = before

    @classmethod
    def of(cls, loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried:
        """Carry any name."""
        return cls(loop, name, obj, obj)

    def widen(self, now: Any) -> None:
        """Find the kind that carries both objects."""
        loop, name, seen = self.loop, self.name, self.seen
        if same_object(loop.trace, seen, now):
            if now is not seen and is_array(now):  # another object with the same elements
                self._left = now if loop.runs else now.one_of_two(seen)
        elif isinstance(seen, OWNED) and not (is_string(now) and not isinstance(now, OWNED)):
            require_container(loop, name, seen, now)
            loop.decide(True, "list buffer", name)
        elif is_string(seen) and is_string(now):
            loop.wider[name] = union(type_of(seen), type_of(now)) or OF_TEXT
        elif has_type(seen) and has_type(now):
            widen_type(loop, name, type_of(seen), type_of(now))
        elif is_array(seen) and is_array(now):
            require_class(loop, name, seen, now)
            require_form(loop, name, seen, now)
            require_own_memory(loop, name, now)
            loop.decide(True, "loop_buffer", name)
        elif seen is None and items_of(now) is not None and is_of_numbers(now):
            if not _may_be_none(now):
                loop.peel_first()
            loop.decide(zeros_like(items_of(now)), "tuple", name)
        else:
            loop.trace.owned(Displays).require_traced(loop.trace, seen)
            loop.peel_or_refuse(name, seen, now)

    def left(self, results: Sequence[Value]) -> Any:
        """The object."""
        return self._left


def _may_be_none(obj: Any) -> bool:
    """Whether an object may be None, or may be in other iterations, as one with a number may."""
    return isinstance(obj, OptionalTuple) or pooled(obj) is not None
