"""The parts of tuples, and of objects that are carried as tuples are."""

from __future__ import annotations

from typing import Any

from fusejit.tracer.carried.records import Record, list_record, pooled_record, record_of, take_apart
from fusejit.tracer.ops.number_values import zero
from fusejit.tracer.ops.union_types import has_type, type_of
from fusejit.tracer.values.containers import is_tuple, tuple_of
from fusejit.tracer.values.undefined import ABSENT, UNDEFINED, Undefined
from fusejit.tracer.values.union_scalar import OptionalTuple


def is_tuple_like(obj: Any, kind: Any, count: int, may_be_none: bool) -> bool:
    """Whether an object is a tuple of the class ``kind`` with so many items, or perhaps None."""
    if obj is None or isinstance(obj, OptionalTuple):
        obj = items_of(obj) if may_be_none else None
        if obj is None:
            return may_be_none
    elif issubclass(kind, Record):
        obj = items_of(obj) or record_of(obj)
    return type(obj) is kind and bool(len(obj) == count)


def items_of(obj: Any) -> Any:
    """The tuple that an object is, or may be, or is carried as; None if there is none."""
    if isinstance(obj, OptionalTuple):
        obj = obj.items
    if is_tuple(obj) or isinstance(obj, Record):
        return obj
    return pooled_record(obj) or list_record(obj)


def is_of_numbers(obj: Any) -> bool:
    """Whether an object is a number or a string, or a tuple of such."""
    parts = items_of(obj)
    return has_type(obj) if parts is None else all(map(is_of_numbers, parts))


def zeros_like(obj: Any) -> Any:
    """The form of a tuple: its class, then numbers that nothing reads, or the forms of tuples."""
    parts = items_of(obj)
    return zero(type_of(obj)) if parts is None else (type(parts), *map(zeros_like, parts))


def of_zeros(form: Any) -> Any:
    """The tuple of such a form."""
    return tuple_of(form[0], [*map(of_zeros, form[1:])]) if type(form) is tuple else form


def flag_of(name: str) -> str:
    """The name of the bool that says whether ``name`` holds a tuple, not None."""
    return f"{name}[?]"


def item_at(obj: Any, place: str) -> Any:
    """What the name of a part of a tuple holds: an item, or the flag."""
    if place == "?":
        return obj.tag if isinstance(obj, OptionalTuple) else obj is not None
    held, at = items_of(obj), int(place)
    held = take_apart(obj, ()) if held is None else held
    if held is None:
        return ABSENT if obj is None else UNDEFINED
    return held[at] if at < len(held) else UNDEFINED


def is_tuple_as(obj: Any, shown: Any) -> bool:
    """Whether an object is a tuple of the same length, or whatever a name holds without one."""
    if isinstance(obj, Undefined) or obj is None:
        return True
    parts = items_of(obj)
    return type(parts) is type(shown) and len(parts) == len(shown)


def part_of(obj: Any, place: int) -> Any:
    """An item of what is a tuple, or None, or not bound."""
    if isinstance(obj, Undefined):
        return obj
    return ABSENT if obj is None else items_of(obj)[place]
