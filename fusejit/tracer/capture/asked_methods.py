"""Methods of the user's classes that Python calls: ``len(a)``, ``for x in a``, ``f(*a)``.

Each becomes a call of the method, which is traced as any other function. What Python requires of
the result is required of it, or left to Python.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, GeneratorType
from typing import Any

from fusejit.ir.ops import Assert
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.capture.attribute_access import AttributeAccess
from fusejit.tracer.capture.operators import BINARY, UNARY, Operators
from fusejit.tracer.flow.membership import compared_tuples
from fusejit.tracer.flow.taken_apart import Parts, taken_apart
from fusejit.tracer.flow.traced_if import decide
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.lists.displays import needs_kernel_keys
from fusejit.tracer.ops.checks import RAISE
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.program.unrolling import within_budget
from fusejit.tracer.rewriting.generated_items import Generated
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import is_tuple
from fusejit.tracer.values.operand_types import represented_type

_NEGATIVE = "__len__() should return >= 0"
_ITERATORS: tuple[type, ...] = (type(iter([])), type(iter(())))
Invoke = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

_ASKED: dict[Any, tuple[str, type | None]] = {
    abs: ("__abs__", None),
    len: ("__len__", int),
    bool: ("__bool__", bool),
    int: ("__int__", int),
    float: ("__float__", float),
    complex: ("__complex__", complex),
    str: ("__str__", str),
    repr: ("__repr__", str),
    round: ("__round__", None),
    reversed: ("__reversed__", None),
    next: ("__next__", None),
    operator.index: ("__index__", int),
    math.floor: ("__floor__", None),
    math.ceil: ("__ceil__", None),
    math.trunc: ("__trunc__", None),
}
"""Functions that call one method of an object, and the type that its result must have."""

_FIRST = (list, tuple, set, frozenset, any, all, sorted, enumerate, min, max, iter)
_ITERATED: dict[Any, slice] = {
    **dict.fromkeys(_FIRST, slice(1)),
    zip: slice(None),
    map: slice(1, None),
    filter: slice(1, None),
}
"""Functions that run over items, and which of their arguments have them."""

_LATER = (enumerate, zip, map, filter, iter)  # take their items one by one
_OF_ONE = (min, max, iter)  # run over items if that is their only argument
_OPERATORS = {row.function: name for name, row in BINARY.items()}
_UNARY = {function: name for name, function in UNARY.items()}
_COMPARISONS = {getattr(operator, name): name for name in ("eq", "ne", "lt", "gt", "le", "ge")}


class AskedMethods:
    """Such calls of one trace.

    Parameters
    ----------
    access : AttributeAccess
        Finds the methods.
    invoke : callable
        ``invoke(function, args, kwargs)`` calls them.
    operators : Operators
    """

    def __init__(self, access: AttributeAccess, invoke: Invoke, operators: Operators) -> None:
        self._access = access
        self._invoke = invoke
        self.operators = operators

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a builtin function makes of objects of the user's; NotImplemented if not that."""
        is_native = self._access.is_native
        if function in _COMPARISONS and all(map(is_tuple, args)) and needs_kernel_keys(args):
            return compared_tuples(_COMPARISONS[function], *args)
        if function is sum and args and type(args[0]) in (list, tuple):
            are_native = all(is_native(type(item)) for item in args[0])
        else:
            are_native = all(is_native(type(arg)) for arg in args)
            are_native &= not any(isinstance(arg, Generated) for arg in args)
        if are_native:
            return NotImplemented
        if function in _ITERATED:
            return self._of_items(function, args, kwargs)
        if kwargs:
            return NotImplemented
        if function in _OPERATORS and len(args) == 2:
            return self.operators.binary(_OPERATORS[function], *args)
        if function in _COMPARISONS and len(args) == 2:
            return self.operators.compared(_COMPARISONS[function], *args)
        if function in _UNARY and len(args) == 1:
            return self.operators.unary(_UNARY[function], *args)
        if function is pow and len(args) == 2:
            return self.operators.binary("pow", *args)
        if function is sum:
            return self._sum(*args)
        return self._asked(function, args)

    def _asked(self, function: Any, args: tuple[Any, ...]) -> Any:
        """The result of the method that a function calls."""
        name, kind = _ASKED.get(function, ("", None))
        if not name or len(args) > (2 if function is round else 1):
            return NotImplemented
        if function is bool:
            return self.truth(args[0])
        method = self._access.note_method(args[0], name)
        if method is None and function is str:
            method = self._access.note_method(args[0], "__repr__")
        if method is None:
            return NotImplemented
        result = self._invoke(method, args, {})
        if kind is not None and represented_type(result) is not kind:
            what = f"{name} returns an object of type {represented_type(result).__name__}"
            raise needs_python(what, MOVE_OUTSIDE)
        if function is len:
            _require_length(result)
        return result

    def truth(self, obj: Any) -> Any:
        """``bool(obj)`` of an object whose class tells it; the object itself if it does not."""
        if self._access.note_method(obj, "__bool__") is not None:
            method = self._access.note_method(obj, "__bool__")
            result = self._invoke(method, (obj,), {})
            if represented_type(result) is not bool:
                raise needs_python("__bool__ returns another object than a bool", MOVE_OUTSIDE)
            return result
        if self._access.note_method(obj, "__len__") is not None:
            return self._invoke(len, (obj,), {}) != 0
        return NotImplemented

    def contains(self, container: Any, item: Any) -> Any:
        """``item in container``, if the class of the container tells it."""
        method = self._access.note_method(container, "__contains__")
        if method is None:
            return NotImplemented
        return self._invoke(bool, (self._invoke(method, (container, item), {}),), {})

    # -------------------------------------------------------------------------------------- items
    def unpacked(self, obj: Any, parts: Parts = None) -> Any:
        """What ``a, b = obj`` and ``f(*obj)`` take apart; ``parts`` are those of the target."""
        return self._limited(taken_apart(self.iterated(obj), parts))

    def iterated(self, obj: Any, begins: bool = True, ends_early: bool = False) -> Any:
        """What a loop over ``obj`` runs over, which begins now or later, and may end early."""
        if isinstance(obj, Generated):
            return obj.begun(ends_early) if begins or obj.may_end_early else obj
        method = self._access.note_method(obj, "__iter__")
        if method is not None:
            made = self._items_of(self._invoke(method, (obj,), {}))
            return made.items() if isinstance(made, Generated) and begins else made
        if self._access.note_method(obj, "__getitem__") is None or hasattr(type(obj), "__iter__"):
            return obj
        self._access.note_absent(obj, "__iter__")
        return self._items_by_place(obj)

    def _items_of(self, made: Any) -> Any:
        """The items of what ``__iter__`` has made."""
        step = self._access.note_method(made, "__next__")
        if step is not None:
            return self._items_by_step(made, step)
        if type(made) in _ITERATORS:
            _, (items, *_), *place = made.__reduce__()
            return made if any(place) else items  # which nothing has run over yet
        if not isinstance(made, Items | GeneratorType) and not hasattr(type(made), "__next__"):
            raise numpy_raises(f"TypeError: iter() returned non-iterator of type {type(made)}")
        return made

    def _items_by_step(self, obj: Any, step: FunctionType) -> Iterator[Any]:
        while True:
            try:
                item = self._invoke(step, (obj,), {})
            except StopIteration:
                return
            yield item

    def _items_by_place(self, obj: Any) -> Iterator[Any]:
        place = 0
        while True:
            try:
                item = self._access.item(obj, place)
            except IndexError:
                return
            yield item
            place += 1

    def _is_iterated(self, obj: Any) -> bool:
        return any(self._access.note_method(obj, n) for n in ("__iter__", "__getitem__"))

    def _of_items(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a function makes of the items of the objects that it is given."""
        if function in _OF_ONE and len(args) != 1:
            return NotImplemented
        places = range(len(args))[_ITERATED[function]]
        found = [k for k in places if self._is_iterated(args[k])]
        if not found:
            return NotImplemented
        begins = function not in _LATER
        ends_early = function in (any, all)
        items = [
            self._limited(self.iterated(arg, begins, ends_early)) if k in found else arg
            for k, arg in enumerate(args)
        ]
        return items[0] if function is iter else self._invoke(function, tuple(items), kwargs)

    @staticmethod
    def _limited(items: Any) -> Any:
        """Items of which Python asks no more than may be unrolled."""
        return within_budget(items) if isinstance(items, Iterator) else items

    def _sum(self, items: Iterable[Any], start: Any = 0) -> Any:
        total = start
        for item in within_budget(self.iterated(items)):
            total = self.operators.binary("add", total, item)
        return total


def _require_length(length: Any) -> None:
    """Raise what Python raises for a negative length."""
    holds = decide(length >= 0)
    if isinstance(holds, TracedArray):
        condition = as_kernel_number(holds).value()
        error = f"{RAISE}ValueError"
        current_trace().emit(Assert(condition=condition, reason=_NEGATIVE, error=error))
    elif not holds:
        raise numpy_raises(f"ValueError: {_NEGATIVE}")
