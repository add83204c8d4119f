"""Objects that a name is bound to anew: carried as the numbers that their attributes hold.

``place = place + speed * dt`` binds the name to another object in each iteration. A region that has
found this takes the object apart, as it does tuples, and makes another one of what it carries. So
the program must not tell the two apart: neither is changed from there on, nor asked for its
identity (see `Objects`).
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind
from fusejit.tracer.builder.trace import running_trace
from fusejit.tracer.carried.attributes import Objects
from fusejit.tracer.lists.aliases import ContainersByKey
from fusejit.tracer.lists.lists_in_tuples import ListInTuple
from fusejit.tracer.ops.number_values import number_value
from fusejit.tracer.ops.union_types import is_value
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.pooled_objects import PooledObjects, pooled, slots_of
from fusejit.tracer.values.undefined import Undefined

_HEAP_TYPE = 1 << 9
_REMEDY = "give the new object a name of its own"


class Record(tuple[Any, ...]):
    """What the attributes of an object of one class hold; each class has a subclass of this."""

    __slots__ = ()
    made_of: ClassVar[type]
    names: ClassVar[tuple[str, ...]]

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        """An object of the class whose attributes hold the items."""
        made: Any = object.__new__(cls.made_of)
        for name, item in zip(cls.names, items, strict=True):
            object.__setattr__(made, name, item)
        trace = running_trace()
        assert trace is not None
        trace.owned(Objects).note_copy(trace, made)
        return made


@functools.lru_cache(maxsize=1024)
def _record_type(made_of: Hashable, names: tuple[str, ...]) -> type[Record]:
    members = {"__slots__": (), "made_of": made_of, "names": names, "__module__": __name__}
    return type("Record", (Record,), members)


class PooledRecord(Record):
    """The number of an object whose attributes are in memory; each class has a subclass."""

    __slots__ = ()

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        """An object that stands for the one with a number."""
        trace = running_trace()
        assert trace is not None
        (number,) = items
        return trace.owned(PooledObjects).at(cls.made_of, number)


@functools.lru_cache(maxsize=1024)
def _pooled_record_type(made_of: Hashable) -> type[PooledRecord]:
    return type("PooledRecord", (PooledRecord,), {"__slots__": (), "made_of": made_of})


def pooled_record(obj: Any) -> PooledRecord | None:
    """The record of an object that has a number."""
    kind: Any = type(obj)
    found = pooled(obj)
    return None if found is None else tuple.__new__(_pooled_record_type(kind), (found.number,))


class ListRecord(Record):
    """Where a list in a tuple of a list is; each list of tuples has a subclass."""

    __slots__ = ()
    key: ClassVar[tuple[Any, ...]]
    kind: ClassVar[type]
    first: ClassVar[int]

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        """The list, if that of the tuple is still there."""
        items = [*items]
        missing = next((item for item in items if isinstance(item, Undefined)), None)
        if missing is not None:
            return missing
        trace = running_trace()
        assert trace is not None
        owner = trace.owned(ContainersByKey).get(cls.key)
        if owner is None or not trace.is_open(owner.home):
            what = "keeps a list in a tuple for longer than the list that has the tuple"
            raise needs_python(what, "keep a copy: best = path[:]")
        values = [number_value(item, (Kind.PYTHON, I64)) for item in items]
        return ListInTuple(owner, AffineExpr.const(0), cls.kind, cls.first, values)


@functools.lru_cache(maxsize=1024)
def _list_record_type(key: tuple[Any, ...], kind: Hashable, first: int) -> type[ListRecord]:
    members = {"__slots__": (), "key": key, "kind": kind, "first": first}
    return type("ListRecord", (ListRecord,), members)


def list_record(obj: Any) -> ListRecord | None:
    """The record of a list in a tuple."""
    if not isinstance(obj, ListInTuple):
        return None
    numbers = obj.hold()
    return tuple.__new__(_list_record_type(obj.key, obj.python_type, obj.first), numbers)


def record_of(obj: Any) -> Record | None:
    """The record of an object that the trace has made, if numbers are all that it holds."""
    trace = running_trace()
    if trace is None or not trace.owned(Objects).is_whole(obj) or pooled(obj) is not None:
        return None
    kind: Any = type(obj)
    if not all(base.__flags__ & _HEAP_TYPE for base in kind.__mro__[:-1]):
        return None
    slots = [s for base in kind.__mro__[:-1] for s in slots_of(base)]
    names = [*getattr(obj, "__dict__", ()), *(s for s in slots if hasattr(obj, s))]
    values = [object.__getattribute__(obj, name) for name in names]
    if not names or not all(map(_may_be_carried, values)):
        return None
    order = sorted(range(len(names)), key=names.__getitem__)
    made = _record_type(kind, tuple(names[k] for k in order))
    return tuple.__new__(made, [values[k] for k in order])


def _may_be_carried(value: Any) -> bool:
    return is_value(value) or type(value) in (bool, int, float)


def are_records(left: Any, right: Any) -> bool:
    """Whether two objects can be carried as one record."""
    first, second = record_of(left), record_of(right)
    return first is not None and type(first) is type(second)


def take_apart(obj: Any, attributes: Iterable[Any]) -> Record | None:
    """The record of an object that nothing changes any more; ``attributes`` are those carried."""
    found = record_of(obj)
    trace = running_trace()
    if found is None or trace is None:
        return None
    if any(attribute.obj is obj for attribute in attributes):
        kind = type(obj).__name__
        trace.owned(PooledObjects).request(trace, obj)
        raise needs_python(f"changes a {kind} in a loop that binds its name again", _REMEDY)
    trace.owned(Objects).freeze(obj)
    return found
