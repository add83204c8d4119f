"""`Number`: a number that iterations assign, or a string, which has a number in the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.regions import same_object
from fusejit.tracer.ops.number_values import (
    number_values,
    of_values,
    type_text,
    types_of_values,
    zero,
)
from fusejit.tracer.ops.traced_text import is_kernel_string
from fusejit.tracer.ops.union_types import has_type, is_value, type_of, union
from fusejit.tracer.program.locations import needs_python, unsupported
from fusejit.tracer.values.undefined import Undefined
from fusejit.tracer.values.union_scalar import NumberType, UnionType


class Number(Carried):
    """A number that is carried as a value; one of several types has its tag beside it."""

    def __init__(self, loop: LoopRegion, name: str, obj: Any, type_: NumberType | UnionType):
        types, starts = types_of_values(type_), number_values(obj, type_)
        labels = (name, f"{name}_as")
        iter_args = [loop.iter_arg(*each) for each in zip(labels, types, starts, strict=False)]
        seen = of_values(loop.trace, type_, [arg.argument for arg in iter_args])
        super().__init__(loop, name, obj, seen)
        self.iter_args = iter_args
        self.type = type_

    @classmethod
    def of(cls, loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried | None:
        """Carry a name that holds a number, or None or a string before others; None for others."""
        decided = loop.decided("type", name, *loop.visit)
        if loop.is_recursion and decided is not None and Undefined.is_unbound(obj):
            obj = zero(decided)  # which nothing reads
        if not is_value(obj) and not (decided and has_type(obj)):
            return None
        own = type_of(obj)  # a loop around may have changed it since the decision
        return cls(loop, name, obj, own if decided is None else union(decided, own) or own)

    def widen(self, now: Any) -> None:
        """The type that has both numbers."""
        if same_object(self.loop.trace, self.seen, now):
            return
        if not has_type(now):
            self.loop.peel_or_refuse(self.name, self.seen, now)
        widen_type(self.loop, self.name, type_of(self.seen), type_of(now))

    def hand_on(self, now: Any) -> list[Value]:
        """The number, and its tag."""
        if now is self.seen:
            return [arg.argument for arg in self.iter_args]
        if is_kernel_string(now) and getattr(now, "added_to", None) is self.seen:
            raise needs_python("adds to a copy of a string in a loop", "write text += part")
        return [*number_values(now, self.type)]

    def left(self, results: Sequence[Value]) -> Any:
        """The number after the last iteration."""
        return of_values(self.loop.trace, self.type, results)


def widen_type(
    loop: LoopRegion, name: str, before: NumberType | UnionType, now: NumberType | UnionType
) -> None:
    """Note the type that has the numbers of both types, if that is another one."""
    joined = union(before, now)
    if before == joined:
        return
    if not isinstance(now, UnionType):
        loop.peel_first()  # it may have the type of the first iteration from then on
    if joined is None:
        kinds = f"{type_text(before)}, then {type_text(now)}"
        what = f"{name!r} changes its type in the loop ({kinds})"
        remedy = f"convert it before the loop: {name} = {_conversion(now)}({name})"
        raise unsupported(what, remedy)
    loop.wider[name] = joined


def _conversion(type_: NumberType | UnionType) -> str:
    if isinstance(type_, UnionType):
        return "float"
    kind, dtype = type_
    if kind is Kind.PYTHON:
        return {"b": "bool", "f": "float"}.get(dtype.kind, "int")
    return f"np.{dtype}"
