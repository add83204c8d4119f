"""`TracedDict`: a dictionary of the program whose items are in the memory of a kernel.

Keys and values stand in two lists, in the order in which they came, as CPython keeps them; a table
finds the place of a key (`fusejit.tracer.lists.hashing`). A key that is deleted leaves its place
behind, with a mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.lists import dict_methods, dict_parts, list_methods
from fusejit.tracer.lists.displays import Display, Displays
from fusejit.tracer.lists.hashing import HashTable, find, free_slot, is_key
from fusejit.tracer.lists.nested_list import as_affine_number
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.kernel_numbers import truth_of
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import MOVE_OUTSIDE
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.symbolic_number import as_affine


class TracedDict(TracedContainer):
    """A dictionary that the function has made.

    Parameters
    ----------
    trace : Trace
    key : tuple
        A visit of the place in the program that makes it.
    python_type : type
        ``dict``, ``defaultdict`` or ``Counter``.
    factory : callable or None
        Of a ``defaultdict``.
    """

    keeps_size = True

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        python_type: type = dict,
        factory: Callable[[], Any] | None = None,
    ) -> None:
        self.trace, self.key, self.home = trace, key, trace.block
        self.python_type, self.factory = python_type, factory
        self.keys_list = TracedList(trace, (key, "keys"))
        self.values_list = TracedList(trace, (key, "values"))
        self.table = HashTable(trace, self.keys_list)
        self.removed: TracedList | None = None  # places of keys that were deleted
        self.marks: TracedList | None = None  # whether the key at a place is there
        if trace.table.get((key, "removes")):
            self.removed = TracedList(trace, (key, "removed"))
            self.marks = TracedList(trace, (key, "marks"))

    @property
    def num_changes(self) -> int:  # type: ignore[override]
        """Of the number of its keys, so far."""
        removed = 0 if self.removed is None else self.removed.num_changes
        return self.keys_list.num_changes + removed

    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Leave to Python what is done; in a loop or a conditional, all of the dictionary."""
        if self.trace.regions and self.trace.table.get((self.key, "list")) is True:
            self.trace.table[self.key, "list"] = (what, remedy)
            raise Retrace
        super().refuse(what, remedy)

    def parts(self) -> tuple[TracedList, ...]:
        """The lists that a result is made of: keys, values, and marks if there are any."""
        return (self.keys_list, self.values_list, *([] if self.marks is None else [self.marks]))

    # -- parts ------------------------------------------------------------------------------------
    def found(self, key: Any) -> Any:
        """The place of a key, or -1, and its slot."""
        if not is_key(self.keys_list.require_form(key)):
            what = f"has keys of type {type(key).__name__} in a dictionary of compiled code"
            self.refuse(what, "use integers, strings of the program's text or tuples of them")
        return self.trace.inlined(find, (self.table, key))

    def add_key(self, key: Any, slot: Any, value: Any) -> Any:
        """Append a new key and its value; returns its place."""
        at: Any = self.keys_list.size()
        self.keys_list.append(key)
        self.values_list.append(value)
        if self.marks is not None:
            self.marks.append(True)
        self.table.set_entry(slot, at + 1)
        self.trace.inlined(dict_methods.require_slots, (self,))
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
        self.removed.append(at)
        self.marks.store(as_affine_number(at), False)
        self.table.set_entry(slot, -1)

    def put_value(self, at: Any, value: Any) -> None:
        """Replace a value."""
        self.values_list.store(as_affine_number(at), value)
        self.values_list.note_moved()

    def key_at(self, at: Any) -> Any:
        """The key at a place."""
        return self.keys_list.load(as_affine_number(at))

    def value_at(self, at: Any) -> Any:
        """The value at a place."""
        return self.values_list.load(as_affine_number(at))

    def num_places(self) -> Any:
        """How many places there are, those of deleted keys included."""
        return self.keys_list.size()

    def is_there(self, at: Any) -> Any:
        """Whether the key at a place was not deleted."""
        return True if self.marks is None else self.marks.load(as_affine_number(at))

    def made_by_factory(self) -> Any:
        """The value that a ``defaultdict`` makes for a new key."""
        made = self.trace.inlined(_made_by, (self.factory,))
        if type(made) is list:
            self.trace.owned(Displays).note(Display(made, (self.key, "made"), self.trace.block))
        return made

    # -- what programs do with it -----------------------------------------------------------------
    def size(self) -> Any:
        """``len(d)``."""
        places: Any = self.keys_list.size()
        return places if self.removed is None else places - self.removed.size()

    def truth(self) -> TracedArray | bool:
        """Whether there are keys."""
        found: TracedArray | bool = truth_of(self.size() > 0)
        return found

    def methods(self) -> frozenset[str]:
        """Those of Python's dictionaries that are compiled; a `Counter` adds where it updates."""
        return _METHODS - {"update"} if self.python_type is Counter else _METHODS

    def has_any(self) -> Any:
        """``any(xs)``."""
        return self.trace.inlined(list_methods.has_any, (self,))

    def has_all(self) -> Any:
        """``all(xs)``."""
        return self.trace.inlined(list_methods.has_all, (self,))

    def contains(self, item: Any) -> Any:
        """``key in d``."""
        return self.trace.inlined(dict_methods.contains, (self, item))

    def __getitem__(self, key: Any) -> Any:
        if self.factory is not None:
            return self.trace.inlined(dict_methods.get_or_make, (self, key))
        if self.python_type is Counter:
            return self.trace.inlined(dict_methods.get, (self, key, 0))
        return self.trace.inlined(dict_methods.getitem, (self, key))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.trace.inlined(dict_methods.setitem, (self, key, value))

    def __delitem__(self, key: Any) -> None:
        is_counter = self.python_type is Counter  # it accepts a missing key
        delete = dict_methods.discard if is_counter else dict_methods.delete
        self.trace.inlined(delete, (self, key))

    def items_of(self, item: Callable[[Any], Any], listed: Callable[..., Any]) -> Items:
        """The items of a loop: ``item`` is one by its place, ``listed`` lists those not deleted."""
        length = self.keys_list.length()
        if self.marks is not None:
            made = self.trace.inlined(listed, (self,)).items()
            length, item = made.length, made.item
        return Items(length, item, containers=(self,), follows=False)

    def items(self) -> Items:
        """The items of a loop over the dictionary: its keys."""
        return self.items_of(self._key, dict_methods.list_of_keys)

    def keys(self) -> Items:
        """``d.keys()``."""
        return self.items()

    def values(self) -> Items:
        """``d.values()``."""
        return self.items_of(self._value, dict_methods.list_of_values)

    def pairs(self) -> Items:
        """``d.items()``."""
        return self.items_of(self._pair, dict_methods.list_of_items)

    def _key(self, at: Any) -> Any:
        return self.keys_list.load(as_affine(at))

    def _value(self, at: Any) -> Any:
        return self.values_list.load(as_affine(at))

    def _pair(self, at: Any) -> tuple[Any, Any]:
        return self._key(at), self._value(at)

    def user_attribute(self, name: str) -> Any:
        """``d.name`` in the user's program."""
        return self.pairs if name == "items" else super().user_attribute(name)


def _made_by(factory):  # type: ignore[no-untyped-def]
    return factory()


_WRITTEN_OUT = {
    function.__name__: function
    for function in (
        *(dict_methods.get, dict_methods.setdefault, dict_methods.pop, dict_methods.update),
    )
}
_METHODS = frozenset((*_WRITTEN_OUT, "keys", "values", "items"))


def _install(name: str, function: Callable[..., Any]) -> None:
    def method(self: TracedDict, *args: Any, **kwargs: Any) -> Any:
        return self.written_out(function, args, kwargs)

    method.__name__ = name
    setattr(TracedDict, name, method)


for _name, _function in _WRITTEN_OUT.items():
    _install(_name, _function)
for _name in (
    *("found", "add_key", "remove_key", "put_value", "key_at", "value_at", "num_places"),
    *("is_there", "made_by_factory", "lacks_slots", "double_slots", "enter"),
):
    primitive(getattr(dict_parts, _name))(getattr(TracedDict, _name))
