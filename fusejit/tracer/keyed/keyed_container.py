"""`KeyedContainer`: what dictionaries and sets of the kernel do with their keys.

The keys stand in a list, in the order in which they came; a table finds the place of a key
(`fusejit.tracer.keyed.hashing`). A key that is deleted leaves its place behind, with a mark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.values import Value
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.keyed import keyed_methods, keyed_parts
from fusejit.tracer.keyed.hashing import HashTable, find, free_slot, is_key
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.aliases import Aliases, ContainersByKey
from fusejit.tracer.lists.nested_list import as_affine_number
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import truth_of
from fusejit.tracer.ops.union_operators import tuple_of_maybe
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import MOVE_OUTSIDE
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.symbolic_number import as_affine
from fusejit.tracer.values.union_scalar import OptionalTuple


class KeyedContainer(TracedContainer):
    """A dictionary or set that the function has made.

    Parameters
    ----------
    trace : Trace
    key : tuple
        A visit of the place in the program that makes it.
    """

    keeps_size = True
    is_outside = False  # whether it is one from outside, of which the kernel has a copy

    def __init__(self, trace: Trace, key: tuple[Any, ...]) -> None:
        self.trace, self.key, self.home = trace, key, trace.block
        trace.owned(ContainersByKey)[key] = self
        self.keys_list = TracedList(trace, (key, "keys"))
        self.table = HashTable(trace, self.keys_list)
        self._num_cleared = 0
        self.removed: TracedList | None = None  # places of keys that were deleted
        self.marks: TracedList | None = None  # whether the key at a place is there
        if trace.table.get((key, "removes")):
            self.removed = TracedList(trace, (key, "removed"))
            self.marks = TracedList(trace, (key, "marks"))

    def changes(self) -> tuple[int, ...]:
        """How often keys were added so far, and how often they were taken away."""
        removed = 0 if self.removed is None else self.removed.num_changes
        return self.keys_list.num_changes, removed + self._num_cleared

    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Leave to Python what is done; in a loop or a conditional, all of the container."""
        if self.trace.regions:
            self.leave_to_python(what, remedy)
        super().refuse(what, remedy)

    def leave_to_python(self, what: str, remedy: str) -> NoReturn:
        """Start again with Python's container."""
        if self.trace.table.get((self.key, "list")) is True:
            self.trace.table[self.key, "list"] = (what, remedy)
            raise Retrace
        super().refuse(what, remedy)

    # -- parts ------------------------------------------------------------------------------------
    def found(self, key: Any) -> Any:
        """The place of a key, or -1, and its slot."""
        key = _not_none(key)
        if not is_key(self.keys_list.require_form(key)):
            what = f"has keys of type {type(key).__name__} in {self._plural()} of compiled code"
            self.refuse(what, "use integers, strings of the program's text or tuples of them")
        return self.trace.inlined(find, (self.table, key))

    def add_key(self, key: Any, slot: Any) -> Any:
        """Append a new key; returns its place."""
        self.require_own()
        at: Any = self.keys_list.size()
        self.keys_list.append(_not_none(key))
        if self.marks is not None:
            self.marks.append(True)
        self.table.set_entry(slot, at + 1)
        self.trace.inlined(keyed_methods.require_slots, (self,))
        return at

    def lacks_slots(self) -> Any:
        """Whether the table needs more slots."""
        return self.table.lacks_slots(self.keys_list.size())

    def double_slots(self) -> None:
        """Give the table twice as many slots, all empty."""
        self.table.double()

    def enter(self, at: Any) -> None:
        """Put the key at a place into the table, which has not got it."""
        slot = self.trace.inlined(free_slot, (self.table, at))
        self.table.set_entry(slot, at + 1)

    def remove_key(self, at: Any, slot: Any) -> None:
        """Take a key away."""
        if self.marks is None or self.removed is None:
            self.trace.table[self.key, "removes"] = True
            raise Retrace
        self.require_own()
        self.removed.append(at)
        self.marks.store(as_affine_number(at), False)
        self.table.set_entry(slot, -1)

    def key_at(self, at: Any) -> Any:
        """The key at a place."""
        return self.keys_list.load(as_affine_number(at))

    def num_places(self) -> Any:
        """How many places there are, those of deleted keys included."""
        return self.keys_list.size()

    def is_there(self, at: Any) -> Any:
        """Whether the key at a place was not deleted."""
        return True if self.marks is None else self.marks.load(as_affine_number(at))

    def note_outside(self) -> None:
        """Note that it has what a container from outside has."""
        self.is_outside = True

    # -- copies -----------------------------------------------------------------------------------
    def is_like(self, other: Any) -> bool:
        """Whether another object is a container of the same kind, whose content it may hold."""
        return type(other) is type(self) and bool(other.python_type is self.python_type)

    def made_like(self, key: tuple[Any, ...]) -> KeyedContainer:
        """A new container of the same kind."""
        raise NotImplementedError

    def require_form_of(self, other: KeyedContainer) -> None:
        """Have both hold keys of one form, where one is copied to the other."""
        self._require_marks_of(other)
        for one, another in zip(self._lists(), other._lists(), strict=True):
            one.require_form_of(another)

    def _require_marks_of(self, other: KeyedContainer) -> None:
        if (self.marks is None) != (other.marks is None):
            unmarked = self if self.marks is None else other
            self.trace.table[unmarked.key, "removes"] = True
            raise Retrace

    def moves_from(self, other: KeyedContainer) -> list[tuple[TracedArray, Value]]:
        """The stores that give it the content of another container."""
        self._require_marks_of(other)
        pairs = zip(self._lists(), other._lists(), strict=True)
        moves = [move for one, another in pairs for move in one.moves_from(another)]
        return [*moves, *self.table.moves_from(other.table)]

    def take(self, other: KeyedContainer) -> None:
        """Hold the content of another container."""
        for target, value in self.moves_from(other):
            self.trace.store(target.memory(), value)

    def _lists(self) -> list[TracedList]:
        """The lists that it consists of."""
        removed = [] if self.removed is None else [self.removed]
        return [*self.parts(), *removed]

    def parts(self) -> tuple[TracedList, ...]:
        """The lists that a result is made of: keys, values if it has any, and marks likewise."""
        raise NotImplementedError

    def require_not(self, other: Any) -> None:
        """Leave it to Python whether two containers are one that the trace may have twice."""
        is_other_set = isinstance(other, KeyedContainer) and other.may_be_another()
        if is_other_set and self.may_be_another():
            self.refuse(f"asks whether {self._plural()} are one that were bound under a condition")

    def may_be_another(self) -> bool:
        """Whether another container of the trace may be the same object of the program."""
        return self.is_outside or self.trace.owned(Aliases).may_be_another(self)

    def require_own(self) -> None:
        """Leave a container to Python that changes, and may be that of another name."""
        if self.is_outside:
            what = f"changes a {self.python_type.__name__} from outside"
            self.leave_to_python(what, "change a copy: d = dict(d)")
        if self.trace.owned(Aliases).may_be_another(self):
            what = f"changes a {self.python_type.__name__} that another name may hold, too"
            self.refuse(what, "give that name a copy: best = cur.copy()")

    def _plural(self) -> str:
        return "sets" if self.python_type is set else "dictionaries"

    # -- what programs do with it -----------------------------------------------------------------
    def size(self) -> Any:
        """``len(d)``."""
        places: Any = self.keys_list.size()
        return places if self.removed is None else places - self.removed.size()

    def truth(self) -> TracedArray | bool:
        """Whether there are keys."""
        found: TracedArray | bool = truth_of(self.size() > 0)
        return found

    def contains(self, item: Any) -> Any:
        """``key in d``."""
        return self.trace.inlined(keyed_methods.contains, (self, item))

    def clear(self) -> None:
        """``d.clear()``."""
        self.require_own()
        self._num_cleared += 1
        self.keys_list.clear()
        for part in (self.removed, self.marks):
            if part is not None:
                part.clear()
        self.table.clear()

    def as_array(self, dtype: np.dtype | None = None) -> NoReturn:
        """``np.array(d)``, an array of one object."""
        self.refuse(f"makes an array of a {self.python_type.__name__}")

    def has_any(self) -> Any:
        """``any(d)``."""
        return self.trace.inlined(list_methods.has_any, (self.keys(),))

    def has_all(self) -> Any:
        """``all(d)``."""
        return self.trace.inlined(list_methods.has_all, (self.keys(),))

    def keys(self) -> Items:
        """The keys, in the order in which they came."""
        items = self.items_of(self._key, keyed_methods.list_of_keys)
        return replace(items, contains=self.contains)

    def items_of(self, item: Callable[[Any], Any], listed: Callable[..., Any]) -> Items:
        """The items of a loop: ``item`` is one by its place, ``listed`` lists those not deleted."""
        length = self.keys_list.length()
        if self.marks is not None:
            made = self.trace.inlined(listed, (self,)).items()
            length, item = made.length, made.item
        return Items(length, item, containers=(self,), follows=False)

    def _key(self, at: Any) -> Any:
        return self.keys_list.load(as_affine(at))


for _name in (
    *("found", "add_key", "remove_key", "key_at", "num_places", "is_there"),
    *("lacks_slots", "double_slots", "enter"),
):
    primitive(getattr(keyed_parts, _name))(getattr(KeyedContainer, _name))


def _not_none(key: Any) -> Any:
    """A key, where it is a tuple or None: Python looks for None."""
    if not isinstance(key, OptionalTuple):
        return key
    return tuple_of_maybe(key, "a key is a tuple, not None", LEFT_TO_PYTHON)
