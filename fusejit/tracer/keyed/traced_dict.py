"""`TracedDict`: a dictionary of the program whose items are in the memory of a kernel.

Keys and values stand in two lists, in the order in which they came, as CPython keeps them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.keyed import dict_methods, keyed_parts
from fusejit.tracer.keyed.dict_rows import DictRow
from fusejit.tracer.keyed.keyed_container import KeyedContainer
from fusejit.tracer.lists.aliases import Aliases
from fusejit.tracer.lists.displays import Display, Displays
from fusejit.tracer.lists.nested_list import ListOrEmpty, ListOrEmptyTuple, as_affine_number
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.locations import MOVE_OUTSIDE, current_location, needs_python
from fusejit.tracer.program.python_state import is_shared
from fusejit.tracer.values.containers import TracedContainer, add_methods
from fusejit.tracer.values.symbolic_number import as_affine


class TracedDict(KeyedContainer):
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

    Attributes
    ----------
    has_dicts : bool
        Whether the values are dictionaries, and ``values_list`` has lists of their items.
    """

    has_dicts = False

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        python_type: type = dict,
        factory: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__(trace, key)
        self.python_type, self.factory = python_type, factory
        self.values_list = TracedList(trace, (key, "values"))

    def parts(self) -> tuple[TracedList, ...]:
        """The lists that a result is made of: keys, values, and marks if there are any."""
        return (self.keys_list, self.values_list, *([] if self.marks is None else [self.marks]))

    def is_like(self, other: Any) -> bool:
        """Whether another object is a dictionary of the same kind."""
        return super().is_like(other) and other.factory is self.factory

    def made_like(self, key: tuple[Any, ...]) -> TracedDict:
        """A new dictionary of the same kind."""
        return TracedDict(self.trace, key, self.python_type, self.factory)

    # -- parts ------------------------------------------------------------------------------------
    def add_value(self, value: Any) -> None:
        """Append the value of a new key."""
        self.values_list.append(value)

    def put_value(self, at: Any, value: Any) -> None:
        """Replace a value."""
        self.require_own()
        self.values_list.store(as_affine_number(at), value)
        self.values_list.note_moved()

    def value_at(self, at: Any) -> Any:
        """The value at a place."""
        return self._load(as_affine_number(at))

    def _load(self, at: AffineExpr) -> Any:
        value = self.values_list.load(at)
        return DictRow(self, value) if self.has_dicts else value

    def note_outside(self) -> None:
        """Note that it has what a dictionary from outside has; its lists may be elsewhere, too."""
        super().note_outside()
        if self.values_list.holds_lists():
            pool = self.values_list.pools[0]
            pool.is_outside = True
            self.trace.owned(Aliases).freeze(pool.shared)

    def has_lists(self) -> bool:
        """Whether the values are lists."""
        return self.values_list.holds_lists() and not self.has_dicts

    def list_or_empty(self, at: Any, empty: Any) -> Any:
        """The list at a place, or an empty one, or an empty tuple."""
        kind = ListOrEmptyTuple if type(empty) is tuple else ListOrEmpty
        return kind(self.values_list, at)

    def made_by_factory(self) -> Any:
        """The value that a ``defaultdict`` makes for a new key."""
        made = self.trace.inlined(_made_by, (self.factory,))
        if type(made) is list:
            self.trace.owned(Displays).note(Display(made, (self.key, "made"), self.trace.block))
        return made

    # -- what programs do with it -----------------------------------------------------------------
    def methods(self) -> frozenset[str]:
        """Those of Python's dictionaries that are compiled; a `Counter` adds where it updates."""
        is_counter = self.python_type is Counter
        return _METHODS - {"update"} | {"most_common"} if is_counter else _METHODS

    def clear(self) -> None:
        """``d.clear()``."""
        super().clear()
        self.values_list.clear()

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

    def _union(self, left: Any, right: Any) -> Any:
        """``left | right``; one of them is this dictionary."""
        if not (_is_dict(left) and _is_dict(right)):
            return NotImplemented
        if self.python_type is not dict:
            self.refuse(f"joins {self.python_type.__name__}s with |", "use update()")
        return self.trace.inlined(dict_methods.union, (self, left, right))

    def __or__(self, other: Any) -> Any:
        return self._union(self, other)

    def __ror__(self, other: Any) -> Any:
        return self._union(other, self)

    def __ior__(self, other: Any) -> Any:
        if self.python_type is Counter:
            self.refuse("joins Counters with |")
        self.trace.inlined(dict_methods.update, (self, other))
        return self

    def items(self) -> Items:
        """The items of a loop over the dictionary: its keys."""
        return self.keys()

    def values(self) -> Items:
        """``d.values()``."""
        return self.items_of(self._value, dict_methods.list_of_values)

    def pairs(self) -> Items:
        """``d.items()``."""
        return self.items_of(self._pair, dict_methods.list_of_items)

    def _value(self, at: Any) -> Any:
        return self._load(as_affine(at))

    def _pair(self, at: Any) -> tuple[Any, Any]:
        return self._key(at), self._value(at)

    def user_attribute(self, name: str) -> Any:
        """``d.name`` in the user's program."""
        return self.pairs if name == "items" else super().user_attribute(name)


def _made_by(factory):  # type: ignore[no-untyped-def]
    return factory()


_WRITTEN_OUT = (
    *(dict_methods.get, dict_methods.setdefault, dict_methods.pop, dict_methods.update),
    dict_methods.copy,
)
for _function in (*_WRITTEN_OUT, dict_methods.most_common):
    add_methods(TracedDict, {_function.__name__: _function})
_OF_ITS_OWN = ("clear", "keys", "values", "items", "__getitem__")
_METHODS = frozenset((*(f.__name__ for f in _WRITTEN_OUT), *_OF_ITS_OWN))


@primitive(keyed_parts.is_empty_list, complex=True)
def _is_empty_list(obj: Any) -> bool:
    if type(obj) is not list or obj:
        return type(obj) is tuple and not obj
    return current_trace().owned(Displays).knows(obj) and not is_shared(obj, "")


@primitive(keyed_parts.empty_like)
def _empty_like(d: TracedDict) -> TracedDict:
    return d.made_like(d.trace.visit(("like", current_location())))


def _is_dict(obj: Any) -> bool:
    return isinstance(obj, TracedDict | DictRow) or type(obj) is dict


@primitive(keyed_parts.pairs_of, complex=True)
def _pairs_of(other: Any) -> Any:
    if isinstance(other, TracedDict | DictRow):
        return other.pairs()
    if isinstance(other, dict):
        return other.items()
    if isinstance(other, Items | TracedContainer | list | tuple):
        return other
    raise needs_python("updates a dictionary with an object of another kind", MOVE_OUTSIDE)


_PARTS = ("add_value", "put_value", "value_at", "made_by_factory", "has_lists", "list_or_empty")
for _name in _PARTS:
    primitive(getattr(keyed_parts, _name))(getattr(TracedDict, _name))
