"""`Unbound`: a name that no iteration reads before it binds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fusejit.ir.values import Value
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.regions import describe, is_array
from fusejit.tracer.ops.union_types import has_type, type_of
from fusejit.tracer.program.locations import current_span, needs_python
from fusejit.tracer.values.undefined import UNDEFINED, Undefined


class Unbound(Carried):
    """A name that has no value at the start of an iteration, or none that is read."""

    @classmethod
    def of(cls, loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried | None:
        """Carry a name; None if iterations may read what it holds."""
        if name in loop.dead and not loop.is_recursion:
            why = "is bound again in each iteration"
            return cls(loop, name, UNDEFINED, Undefined(name, why, is_unbound=True))
        if is_array(obj) and loop.decided("late", name):
            why = "is bound to a view in each iteration"
            return cls(loop, name, UNDEFINED, Undefined(name, why))
        if loop.is_recursion and loop.decided("type", name, *loop.visit):
            return None
        return cls(loop, name, obj, obj) if isinstance(obj, Undefined) else None

    def widen(self, now: Any) -> None:
        """Nothing was read; in a recursion, later iterations may read what this one has bound."""
        loop = self.loop
        if not loop.is_recursion:
            return
        if has_type(now):
            loop.wider[self.name] = type_of(now)
        elif not isinstance(now, Undefined) and not loop.was_there(now):
            what = f"holds {describe(now)} in a function that calls itself"
            raise needs_python(what, "give it a list or an array to store into")

    def left(self, results: Sequence[Value]) -> Any:
        """Nothing that the trace knows of."""
        return only_inside(self.name)


def only_inside(name: str, used: Callable[[], None] | None = None) -> Undefined:
    """Describe a name after a loop that may not bind it: Python may run the loop."""
    return Undefined(name, ONLY_INSIDE, span=current_span(), is_loop=True, used=used)


ONLY_INSIDE = "is defined only inside a loop"
