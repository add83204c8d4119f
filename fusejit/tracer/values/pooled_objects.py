"""Objects of the user's classes that lists hold: each has a number, in all memory of the kernel.

An object that a loop finds in a list is another one in each iteration. What its attributes hold
stands in memory (`fusejit.tracer.lists.object_pool`), and the program's object is a real one of its
class without any attributes of its own: methods, properties and ``isinstance`` find what they look
for, and this registry has its number. Two such objects are one to the program if their numbers are
equal.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, NamedTuple, Protocol

from fusejit.tracer.builder.trace import Trace, running_trace
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python

POOLS = (("object pools",), "classes")
"""The key of decisions about classes: names of attributes, or why there is no pool."""
_HEAP_TYPE = 1 << 9
_KNOWN_GETTERS = (
    *(FunctionType, staticmethod, classmethod, property),
    *(BuiltinFunctionType, MemberDescriptorType, GetSetDescriptorType),
)
_HOOKS = ("__getattr__", "__getattribute__", "__delattr__", "__del__", "__getstate__")


class Pool(Protocol):
    """The attributes of all objects of a class: see `fusejit.tracer.lists.object_pool`."""

    given: Any  # the objects from outside, if there are some

    def new(self) -> Any:
        """The number of another object."""

    def has(self, name: str) -> bool:
        """Whether objects have an attribute of their own."""

    def require(self, name: str) -> None:
        """Start again where objects from outside have an attribute that the pool has not."""

    def load(self, name: str, number: Any) -> Any:
        """What an attribute holds."""

    def store(self, name: str, number: Any, value: Any) -> None:
        """Have it hold something else."""


class Pooled(NamedTuple):
    """An object with a number."""

    obj: Any
    pool: Pool
    number: Any


class PooledObjects:
    """The objects of one trace that have numbers.

    Attributes
    ----------
    pools : dict
        By class.
    """

    def __init__(self) -> None:
        self.pools: dict[type, Any] = {}
        self._made: dict[int, tuple[Any, tuple[Any, ...]]] = {}  # with the visit of its place
        self._pooled: dict[int, Pooled] = {}
        self._kept: dict[tuple[Any, ...], bool] = {}  # by the visits: whether memory has a number
        self._begun: dict[int, tuple[Any, set[str]]] = {}  # while constructors run

    def find(self, obj: Any) -> Pooled | None:
        """An object with its number, if it has one."""
        return self._pooled.get(id(obj)) if self._pooled else None

    def begin(self, trace: Trace, obj: Any, key: tuple[Any, ...]) -> None:
        """Note a new object, made at the visit ``key``; most of a class with a pool get a number.

        Those of a place whose objects no memory has kept, in an earlier attempt, get none.
        """
        self._made[id(obj)] = obj, key
        pool = self.pools.get(type(obj))
        if pool is not None and not trace.table.get((key, "temporary")):
            self._pooled[id(obj)] = Pooled(obj, pool, pool.new())
            self._begun[id(obj)] = (trace.block, set())
            self._kept.setdefault(key, False)

    def number_to_keep(self, trace: Trace, obj: Any) -> Any:
        """The number of an object, which memory or the result of the call is about to keep."""
        self._require_attributes(trace, obj)
        if id(obj) in self._made:
            self._kept[self._made[id(obj)][1]] = True
        return self._pooled[id(obj)].number

    def require_kept(self, trace: Trace) -> None:
        """At the end, start again if objects have numbers that nothing keeps.

        Numbers are not given back: a program that makes vectors in a loop would fill the memory.
        """
        new = [key for key, is_kept in self._kept.items() if not is_kept]
        new = [key for key in new if (key, "temporary") not in trace.table]
        for key in new:
            trace.table[key, "temporary"] = True
        if new:
            raise Retrace

    def end(self, trace: Trace, obj: Any) -> None:
        """After its constructor, an object must have all attributes that those of its class have.

        A constructor without source, as that of a dataclass, has given them to the object itself.
        """
        for name in _names_of(obj) if id(obj) in self._begun else ():
            value = object.__getattribute__(obj, name)
            object.__delattr__(obj, name)
            self.store(trace, obj, name, value)
        self._require_attributes(trace, obj)
        self._begun.pop(id(obj), None)

    def _require_attributes(self, trace: Trace, obj: Any) -> None:
        """Refuse objects of which somebody else could see that an attribute is not there yet."""
        if id(obj) not in self._begun:
            return
        names, is_set = trace.table[POOLS][type(obj)], self._begun[id(obj)][1]
        lacks = next((name for name in names if name not in is_set), None)
        if lacks is not None:
            what = f"makes a {type(obj).__name__} whose constructor may not set {lacks!r}"
            refuse_pool(trace, type(obj), what, "set all attributes at the start of __init__")

    def are_written(self) -> bool:
        """Whether the program changes objects from outside."""
        return any(pool.written for pool in self.pools.values())

    def at(self, kind: type, number: Any) -> Any:
        """An object that stands for the one with a number."""
        obj: Any = object.__new__(kind)
        getattr(obj, "__dict__", None)  # is made now: see `Objects.note`
        self._pooled[id(obj)] = Pooled(obj, self.pools[kind], number)
        return obj

    def load(self, trace: Trace, obj: Any, name: str) -> Any:
        """What an attribute holds; NotImplemented if the object has no such one of its own."""
        found = self.find(obj)
        if found is None:
            return NotImplemented
        found.pool.require(name)
        if not found.pool.has(name):
            return NotImplemented
        if id(obj) in self._begun and name not in self._begun[id(obj)][1]:
            what = f"reads {name!r} before the constructor of a {type(obj).__name__} has set it"
            refuse_pool(trace, type(obj), what, "set it first")
        return found.pool.load(name, found.number)

    def store(self, trace: Trace, obj: Any, name: str, value: Any) -> bool:
        """Have an attribute hold something else; whether the object has a number."""
        found = self.find(obj)
        if found is None:
            return False
        if not found.pool.has(name):
            trace.table[POOLS][type(obj)] = (*trace.table[POOLS][type(obj)], name)
            raise Retrace
        if id(obj) in self._begun and self._begun[id(obj)][0] is trace.block:
            self._begun[id(obj)][1].add(name)
        found.pool.store(name, found.number, value)
        return True

    def request(self, trace: Trace, obj: Any) -> None:
        """Start again with a pool of the objects of a class, if there may be one."""
        kind = type(obj)
        if id(obj) not in self._made or id(obj) in self._pooled:
            return
        pools = trace.table.setdefault(POOLS, {})
        temporary = (self._made[id(obj)][1], "temporary")
        if kind in self.pools and trace.table.get(temporary):
            trace.table[temporary] = False
            raise Retrace
        is_known = kind in pools or any(one.__qualname__ == kind.__qualname__ for one in pools)
        if not is_known and may_have_pool(kind):
            pools[kind] = _names_of(obj)
            raise Retrace


def refuse_pool(trace: Trace, kind: type, what: str, remedy: str) -> None:
    """Start again without a pool of the objects of a class."""
    trace.table[POOLS][kind] = Refused(what, remedy)
    raise Retrace


class Refused(NamedTuple):
    """Why objects of a class have no pool."""

    what: str
    remedy: str


def pooled(obj: Any) -> Pooled | None:
    """An object with its number, if it has one."""
    trace = running_trace()
    return None if trace is None else trace.owned(PooledObjects).find(obj)


def is_given(obj: Any) -> bool:
    """Whether an object is, or may be, one from outside that has a number."""
    found = pooled(obj)
    return found is not None and found.pool.given is not None


def require_no_pooled(function: str, args: tuple[Any, ...]) -> None:
    """Leave to Python a function of C that would look for attributes in an object that has none."""
    for one in args:
        if pooled(one) is not None:
            raise needs_python(f"gives a {type(one).__name__} to {function}", MOVE_OUTSIDE)
        if type(one) in (list, tuple):
            require_no_pooled(function, tuple(one))


def may_have_pool(kind: type) -> bool:
    """Whether objects of a class hold only what is stored in their attributes."""
    if not all(base.__flags__ & _HEAP_TYPE for base in kind.__mro__[:-1]):
        return False
    if any(getattr(kind, name, None) is not getattr(object, name, None) for name in _HOOKS):
        return False
    members = (member for base in kind.__mro__[:-1] for member in vars(base).values())
    getters = (one for one in members if hasattr(type(one), "__get__"))
    if not all(isinstance(one, _KNOWN_GETTERS) for one in getters):
        return False  # a descriptor of the user's, a cached property
    is_frozen = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
    return is_frozen or kind.__setattr__ is vars(object)["__setattr__"]


def _names_of(obj: Any) -> tuple[str, ...]:
    """The names of an object's own attributes."""
    slots = [name for base in type(obj).__mro__[:-1] for name in slots_of(base)]
    return (*getattr(obj, "__dict__", ()), *(name for name in slots if hasattr(obj, name)))


def slots_of(kind: type) -> tuple[str, ...]:
    """The attributes for which a class itself has slots."""
    found = vars(kind).get("__slots__", ())
    names = (found,) if isinstance(found, str) else tuple(found)
    return tuple(n for n in names if n not in ("__dict__", "__weakref__"))
