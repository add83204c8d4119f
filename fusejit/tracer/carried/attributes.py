"""Attributes of objects, where loops and conditionals change them: carried as names are.

In the body of a compiled loop, ``self.total += x`` is what ``total = total + x`` would be: the loop
carries a number. So a region has a name for each attribute that is written inside it, and the kinds
of things that names hold (`fusejit.tracer.carried.kinds`) are those that attributes hold. While a
region is traced, the object itself holds what the body finds.

A conditional notes what is written as it goes: it needs what the attribute held before. A loop
needs to know when it begins; at the first write of an attribute the trace starts again.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.tracer.builder.trace import Trace, running_trace
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import current_location, needs_python
from fusejit.tracer.values.pooled_objects import PooledObjects, pooled, slots_of
from fusejit.tracer.values.undefined import UNDEFINED, Undefined

_MISSING = "missing"
OUTSIDE = "outside"
"""How the keys of objects begin that the program has not made; their paths follow."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An attribute of an object, in general of one that the program has made.

    Parameters
    ----------
    key : tuple
        The visit of the place that has made the object, and the attribute's name.
    obj : object
    name : str
    """

    key: tuple[Any, ...]
    obj: Any
    name: str

    def held(self) -> Any:
        """What it holds now; `UNDEFINED` where the object has none of its own."""
        held = getattr(self.obj, "__dict__", {})
        if self.name in held:
            return held[self.name]
        slots = (vars(kind).get(self.name) for kind in type(self.obj).__mro__)
        if not any(isinstance(slot, MemberDescriptorType) for slot in slots):
            return UNDEFINED
        try:
            return object.__getattribute__(self.obj, self.name)
        except AttributeError:
            return UNDEFINED

    def hold(self, value: Any) -> None:
        """Have the object hold something else."""
        if not isinstance(value, Undefined):
            object.__setattr__(self.obj, self.name, value)
        elif not Undefined.is_unbound(value):
            Undefined.refuse(value)
        elif not Undefined.is_unbound(self.held()):
            object.__delattr__(self.obj, self.name)


class PerhapsOwn:
    """Which attributes objects may have or not, by the decisions of earlier attempts."""

    def __init__(self) -> None:
        self._by_object: dict[tuple[Any, ...], list[str]] | None = None

    def names(self, trace: Trace, key: tuple[Any, ...]) -> list[str]:
        """The names of such attributes of one object."""
        if self._by_object is None:
            self._by_object = {}
            for kind, about, *_ in trace.table:
                if kind == _MISSING:
                    self._by_object.setdefault(about[0], []).append(about[1])
        return self._by_object.get(key, [])


class Objects:
    """The objects of the user's classes that one trace has made."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[tuple[Any, ...], Any, tuple[Any, ...]]] = {}  # by id
        self._by_key: dict[tuple[Any, ...], Any] = {}
        self._missing: dict[tuple[int, str], Attribute] = {}
        self._frozen: set[int] = set()  # that regions take apart, or have put together
        self._perhaps_own: set[int] = set()  # objects with attributes that may be their class's
        self.read: Callable[[Any, str], Any] = getattr  # as the program does
        self.find_outside: Callable[[tuple[Any, ...]], Attribute | None] = lambda key: None

    def note(self, trace: Trace, obj: Any) -> None:
        """Note a new object; it is kept alive, so that its id stays its own.

        Its dictionary, which Python makes when somebody asks for it, is made here: so the object
        looks the same at all times (`fusejit.tracer.program.python_state`).
        """
        getattr(obj, "__dict__", None)
        key = trace.visit(("object", current_location()))
        trace.owned(PooledObjects).begin(trace, obj, key)
        self._made[id(obj)] = (key, obj, tuple(trace.regions))
        self._by_key[key] = obj
        if pooled(obj) is None:
            self._begin(trace, key, obj)

    def attribute(self, key: tuple[Any, ...]) -> Attribute | None:
        """An attribute by its key, if there is the object already."""
        of, name = key
        if of[0] == OUTSIDE:
            return self.find_outside(key)
        obj = self._by_key.get(of)
        return None if obj is None or pooled(obj) is not None else Attribute(key, obj, name)

    def _begin(self, trace: Trace, key: tuple[Any, ...], obj: Any) -> None:
        """Give a new object what regions carry of it: its class's value, or None for a missing one.

        An attribute that its class alone has is one that the object may be given.
        """
        for name in trace.owned(PerhapsOwn).names(trace, key):
            attribute = Attribute((key, name), obj, name)
            try:
                value = self.read(obj, name)
            except AttributeError:
                value = None
                self._missing[id(obj), name] = attribute
            attribute.hold(value)
            self._perhaps_own.add(id(obj))

    def missing(self, obj: Any, name: str) -> Attribute | None:
        """An attribute that may be missing, where None says so."""
        return self._missing.get((id(obj), name)) if self._missing else None

    # -- objects that regions take apart ----------------------------------------------------------
    def is_whole(self, obj: Any) -> bool:
        """Whether the program has made an object, which has all that its attributes tell."""
        return id(obj) in self._made and id(obj) not in self._perhaps_own

    def content(self, obj: Any) -> list[Any]:
        """What the attributes hold of an object that the program has made; nothing of others."""
        if id(obj) not in self._made or pooled(obj) is not None:
            return []
        slots = [getattr(obj, name, None) for base in type(obj).__mro__ for name in slots_of(base)]
        return [*getattr(obj, "__dict__", {}).values(), *slots]

    def freeze(self, obj: Any) -> None:
        """Have nothing change an object, nor ask which object it is, from now on."""
        self._frozen.add(id(obj))

    def note_copy(self, trace: Trace, obj: Any) -> None:
        """Note an object that stands for one that the program has made."""
        getattr(obj, "__dict__", None)
        key = ("copy", len(self._made))
        self._made[id(obj)] = (key, obj, tuple(trace.regions))
        self._by_key[key] = obj
        self.freeze(obj)

    def require_identity(self, obj: Any) -> None:
        """Refuse to ask which object it is."""
        is_pooled = pooled(obj) is not None
        if id(obj) in self._frozen or is_pooled:
            _request(obj)
            what = f"asks which {type(obj).__name__} it is, after a loop or a conditional"
            raise needs_python(what, "compare what they hold")

    def is_told_by_attributes(self, obj: Any) -> bool:
        """Whether an object has the attributes that it has for the program, and no others."""
        is_pooled = pooled(obj) is not None
        return not is_pooled and id(obj) not in self._perhaps_own and id(obj) not in self._frozen

    def all_missing(self) -> list[Attribute]:
        """All attributes that may be missing."""
        return [*self._missing.values()]

    def write(self, trace: Trace, obj: Any, name: str) -> None:
        """Note that the program is about to write an attribute."""
        known = self._made.get(id(obj))
        if id(obj) in self._frozen:
            _request(obj)
            what = f"changes a {type(obj).__name__} that a loop or a conditional has bound"
            raise needs_python(what, "make another object, or change one that keeps its name")
        if known is None or not trace.regions:
            return
        key, _, made_inside = known
        attribute = Attribute((key, name), obj, name)
        regions = [r for r in trace.regions if not any(r is one for one in made_inside)]
        if regions and Undefined.is_unbound(attribute.held()) and _has_default(type(obj), name):
            trace.table[missing_key(attribute)] = True
            raise Retrace
        note_write(trace, attribute, made_inside)


def _request(obj: Any) -> None:
    """Have the objects of a class be known by numbers, if they may."""
    trace = running_trace()
    if trace is not None:
        trace.owned(PooledObjects).request(trace, obj)


def _has_default(kind: type, name: str) -> bool:
    """Whether a class has a value for objects that have none of their own."""
    held = (vars(base)[name] for base in kind.__mro__ if name in vars(base))
    default = next(held, UNDEFINED)
    return default is not UNDEFINED and not isinstance(default, MemberDescriptorType)


def missing_key(attribute: Attribute) -> tuple[Any, ...]:
    """The key of the decision that an attribute may be missing after a loop or a conditional."""
    return (_MISSING, attribute.key)


def note_write(trace: Trace, attribute: Attribute, made_inside: tuple[Any, ...] = ()) -> None:
    """Tell the open regions of a write, but for those in which the object was made.

    All loops that have to carry the attribute are told before the trace starts again.
    """
    regions = [r for r in reversed(trace.regions) if not any(r is one for one in made_inside)]
    is_new = [region.asks_for(attribute) for region in regions]
    if any(is_new):
        raise Retrace
    before = attribute.held()
    for region in regions:
        before = region.write(attribute, before)


def write_attribute(obj: Any, name: str, value: Any) -> bool:
    """Note that the program is about to write an attribute: see `Objects.write`.

    Returns whether it is written: into memory of the kernel.
    """
    trace = running_trace()
    if trace is None:
        return False
    if trace.owned(PooledObjects).store(trace, obj, name, value):
        return True
    trace.owned(Objects).write(trace, obj, name)
    return False


def read_attribute(obj: Any, name: str) -> Any:
    """What an attribute holds that is in memory of the kernel; else NotImplemented."""
    trace = running_trace()
    if trace is None:
        return NotImplemented
    return trace.owned(PooledObjects).load(trace, obj, name)
