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
from fusejit.tracer.program.locations import current_location
from fusejit.tracer.values.undefined import UNDEFINED, Undefined

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


class Objects:
    """The objects of the user's classes that one trace has made."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[tuple[Any, ...], Any, tuple[Any, ...]]] = {}  # by id
        self._by_key: dict[tuple[Any, ...], Any] = {}
        self.find_outside: Callable[[tuple[Any, ...]], Attribute | None] = lambda key: None

    def note(self, trace: Trace, obj: Any) -> None:
        """Note a new object; it is kept alive, so that its id stays its own.

        Its dictionary, which Python makes when somebody asks for it, is made here: so the object
        looks the same at all times (`fusejit.tracer.program.python_state`).
        """
        getattr(obj, "__dict__", None)
        key = trace.visit(("object", current_location()))
        self._made[id(obj)] = (key, obj, tuple(trace.regions))
        self._by_key[key] = obj

    def attribute(self, key: tuple[Any, ...]) -> Attribute | None:
        """An attribute by its key, if there is the object already."""
        of, name = key
        if of[0] == OUTSIDE:
            return self.find_outside(key)
        return Attribute(key, self._by_key[of], name) if of in self._by_key else None

    def write(self, trace: Trace, obj: Any, name: str) -> None:
        """Note that the program is about to write an attribute."""
        known = self._made.get(id(obj))
        if known is None:
            return
        key, _, made_inside = known
        note_write(trace, Attribute((key, name), obj, name), made_inside)


def note_write(trace: Trace, attribute: Attribute, made_inside: tuple[Any, ...] = ()) -> None:
    """Tell the open regions of a write, but for those in which the object was made."""
    before = attribute.held()
    for region in reversed(trace.regions):
        if not any(region is one for one in made_inside):
            before = region.write(attribute, before)


def write_attribute(obj: Any, name: str) -> None:
    """Note that the program is about to write an attribute: see `Objects.write`."""
    trace = running_trace()
    if trace is not None and trace.regions:
        trace.owned(Objects).write(trace, obj, name)
