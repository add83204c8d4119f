"""`TracedSet`: a set of the program whose keys are in the memory of a kernel.

The keys stand in the order in which they came, in which a result is filled again. CPython runs over
a set in the order of its table. So what shows the order is left to Python: a loop over the set, and
``pop``. What does not is compiled: ``sorted(s)``, ``sum(s)``, ``max(s)``, and other sets.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, KeysView
from typing import Any, NoReturn

from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.keyed import set_methods, set_parts
from fusejit.tracer.keyed.keyed_container import KeyedContainer
from fusejit.tracer.lists.item_forms import ItemForm, NumberForm, TupleForm
from fusejit.tracer.lists.tables import table_of
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.locations import MOVE_OUTSIDE, current_location, needs_python
from fusejit.tracer.values.containers import TracedContainer, add_methods
from fusejit.tracer.values.union_scalar import UnionType

_SETS = (set, frozenset)
_IN_ORDER = "use sorted(s), or a list beside the set"


class TracedSet(KeyedContainer):
    """A set that the function has made.

    Attributes
    ----------
    is_merged : bool
        Whether it has taken the keys of another set, in the order of that.
    """

    python_type = set

    def __init__(self, trace: Trace, key: tuple[Any, ...]) -> None:
        super().__init__(trace, key)
        self.is_merged = False

    def parts(self) -> tuple[TracedList, ...]:
        """The lists that a result is made of: keys, and marks if there are any."""
        return (self.keys_list, *([] if self.marks is None else [self.marks]))

    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Leave to Python what is done; all of the set, if that would show another order."""
        if self.is_merged or self.removed is not None:
            self.leave_to_python(what, remedy)
        super().refuse(what, remedy)

    def made_like(self, key: tuple[Any, ...]) -> TracedSet:
        """A new set."""
        made = TracedSet(self.trace, key)
        made.is_merged = True
        return made

    # -- order ------------------------------------------------------------------------------------
    def items(self) -> Items:
        """None: the order of a loop over it is that of CPython's table."""
        self.refuse("runs over a set that is made in compiled code", _IN_ORDER)

    def in_any_order(self) -> Items:
        """The items for a use that does not show their order."""
        return self.keys()

    def addends(self) -> Any:
        """The items for a sum, whose type may be that of the first ones."""
        form = self.keys_list.form
        if not isinstance(form, NumberForm):
            return self
        types = form.type.types if isinstance(form.type, UnionType) else (form.type,)
        are_python = all(t is not None and t[0] is Kind.PYTHON for t in types)
        return self.keys() if len(types) == 1 or are_python else self

    # -- what programs do with it -----------------------------------------------------------------
    def methods(self) -> frozenset[str]:
        """Those of Python's sets that are compiled."""
        return _METHODS

    def update(self, *others: Any) -> None:
        """``s.update(..)``."""
        self.is_merged |= any(map(_has_own_order, others))
        current_trace().inlined(set_methods.update, (self, *others))

    def _with(self, function: Callable[..., Any], other: Any) -> Any:
        """An operator of two sets."""
        if isinstance(other, KeysView | ItemsView):
            self.refuse("compares or joins a set and the view of a dictionary", "make a set of it")
        if not is_set(other):
            return NotImplemented
        return self.trace.inlined(function, (self, other))

    def _after(self, function: Callable[..., Any], other: Any) -> Any:
        """An operator of a set of Python's and this one."""
        if type(other) is not set:
            return NotImplemented
        return self.trace.inlined(function, (set_of(other), self))

    def _changed(self, function: Callable[..., Any], other: Any) -> Any:
        """An operator that changes the set."""
        if not is_set(other):
            return NotImplemented
        self.trace.inlined(function, (self, other))
        return self

    def __or__(self, other: Any) -> Any:
        return self._with(set_methods.union, other)

    def __and__(self, other: Any) -> Any:
        return self._with(set_methods.intersection, other)

    def __sub__(self, other: Any) -> Any:
        return self._with(set_methods.difference, other)

    def __xor__(self, other: Any) -> Any:
        return self._with(set_methods.symmetric_difference, other)

    def __ror__(self, other: Any) -> Any:
        return self._after(set_methods.union, other)

    def __rand__(self, other: Any) -> Any:
        return self._after(set_methods.intersection, other)

    def __rsub__(self, other: Any) -> Any:
        return self._after(set_methods.difference, other)

    def __rxor__(self, other: Any) -> Any:
        return self._after(set_methods.symmetric_difference, other)

    def __ior__(self, other: Any) -> Any:
        self.is_merged = True
        return self._changed(set_methods.update, other)

    def __iand__(self, other: Any) -> Any:
        self.is_merged = True
        return self._changed(set_methods.intersection_update, other)

    def __isub__(self, other: Any) -> Any:
        return self._changed(set_methods.difference_update, other)

    def __ixor__(self, other: Any) -> Any:
        return self._changed(set_methods.symmetric_difference_update, other)

    def __le__(self, other: Any) -> Any:
        return self._with(set_methods.issubset, other)

    def __lt__(self, other: Any) -> Any:
        return self._with(set_methods.is_proper_subset, other)

    def __ge__(self, other: Any) -> Any:
        return self._with(set_methods.issuperset, other)

    def __gt__(self, other: Any) -> Any:
        return self._with(set_methods.is_proper_superset, other)

    def __eq__(self, other: Any) -> Any:
        return self._with(set_methods.is_equal, other)

    def __ne__(self, other: Any) -> Any:
        return self._with(set_methods.is_unequal, other)

    __hash__ = TracedContainer.__hash__


def is_set(obj: Any) -> bool:
    """Whether an object is a set."""
    return isinstance(obj, TracedSet) or type(obj) in _SETS


def _has_own_order(obj: Any) -> bool:
    """Whether CPython gives a set the keys of an object in another order, or more slots first."""
    return isinstance(obj, KeyedContainer) or type(obj) in (*_SETS, dict)


def is_of_one_type(form: ItemForm | None) -> bool:
    """Whether items of a form that are equal are of the same types."""
    if isinstance(form, TupleForm):
        return all(map(is_of_one_type, form.parts))
    return not (isinstance(form, NumberForm) and isinstance(form.type, UnionType))


def keys_of(items: Any) -> Any:
    """What a loop runs over for a result that does not show the order of a set."""
    if isinstance(items, TracedSet):
        return items.in_any_order()
    return table_of(items) if type(items) in (*_SETS, list, tuple) and len(items) > 1 else items


def empty_set() -> TracedSet:
    """A set that an operation makes of other sets."""
    trace = current_trace()
    key = trace.visit(("set of sets", current_location()))
    known = trace.table.setdefault((key, "list"), True)
    if known is not True:
        raise needs_python(*known)
    made = TracedSet(trace, key)
    made.is_merged = True
    return made


def set_of(items: Any) -> TracedSet:
    """A set of items, which an operation needs."""
    made = empty_set()
    current_trace().inlined(set_methods.update, (made, items))
    return made


def keys_are_alike(s: TracedSet, other: Any) -> bool:
    """Whether equal keys of two sets are of one type."""
    form = s.keys_list.form
    return isinstance(other, TracedSet) and form == other.keys_list.form and is_of_one_type(form)


def may_take(s: TracedSet, other: TracedSet) -> bool:
    """Whether the keys of two sets have the same form, so that memory may be copied."""
    forms = [one.keys_list.form for one in (s, other)]
    return None in forms or forms[0] == forms[1]


def take(s: TracedSet, other: TracedSet) -> None:
    """Hold the keys of another set."""
    s.require_own()
    s.take(other)


for _function in (empty_set, is_set, keys_are_alike, keys_of, may_take, set_of, take):
    primitive(getattr(set_parts, _function.__name__))(_function)
_WRITTEN_OUT = {
    function.__name__: function
    for function in (
        *(set_methods.add, set_methods.discard, set_methods.remove, set_methods.copy),
        *(set_methods.union, set_methods.intersection, set_methods.difference),
        *(set_methods.symmetric_difference, set_methods.symmetric_difference_update),
        *(set_methods.difference_update, set_methods.intersection_update),
        *(set_methods.issubset, set_methods.issuperset, set_methods.isdisjoint),
    )
}
add_methods(TracedSet, _WRITTEN_OUT)
_METHODS = frozenset((*_WRITTEN_OUT, "update", "clear"))
