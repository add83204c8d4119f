"""Operators of the user's classes: ``a + b`` as the calls of methods that Python makes of it.

Where an operand is an object whose class has the method in Python, that method is traced as any
other function. Where none is, or where the two sides are numbers and arrays, the operator stays
Python's own: traced values know themselves what to do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fusejit.tracer.capture.attribute_access import AttributeAccess, class_attribute
from fusejit.tracer.capture.slots import native_operator
from fusejit.tracer.flow.conditions import not_
from fusejit.tracer.flow.same_objects import same_object
from fusejit.tracer.program.callables import CONSTANT_TYPES, is_user_function
from fusejit.tracer.program.captures import CaptureRegistry
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.strings.joined_text import of_string
from fusejit.tracer.values.operand_types import represented_type
from fusejit.tracer.values.operator_names import NO_REFLECTION, SIGNS
from fusejit.tracer.values.pooled_objects import pooled

Invoke = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class _Row(NamedTuple):
    """An operator: the function of `operator` that it is, and the names of its methods."""

    function: Callable[..., Any]
    own: str
    reflected: str
    in_place: str
    text: str


def _row(name: str, text: str) -> _Row:
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)
    return _Row(function, f"__{name}__", f"__r{name}__", f"__i{name}__", text)


BINARY = {name: _row(name, text) for name, text in SIGNS.items() if name not in NO_REFLECTION}
IN_PLACE: dict[str, Callable[..., Any]] = {name: getattr(operator, f"i{name}") for name in BINARY}
UNARY: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
}
_COMPARED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_NOTHING_KNOWN = (*CONSTANT_TYPES, list, tuple, dict, set, frozenset, range, slice)
"""Types of Python whose operators know nothing of other classes: they return NotImplemented."""
_HEAP_TYPE = 1 << 9  # of classes that are no types of C
_OF_OBJECTS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_OF_ARRAYS = (
    *("__array_ufunc__", "__array_priority__", "__array__", "__array_interface__"),
    *("__array_struct__", "__array_function__", "__buffer__", "__len__", "__getattr__"),
)
"""What NumPy asks an object for, before it takes it for one that is no array."""
_COMPARISONS = tuple(f"__{name}__" for name in _COMPARED)
_ASK_THEMSELVES = (str, bytes, bytearray, list, tuple)
"""Types whose ``+``, ``*`` and ``%`` take other objects: items, numbers, what is formatted."""


class Operators:
    """Operators and comparisons of one trace.

    Parameters
    ----------
    captures : CaptureRegistry
    access : AttributeAccess
        Finds the methods.
    invoke : callable
        ``invoke(function, args, kwargs)`` calls them.
    """

    def __init__(self, captures: CaptureRegistry, access: AttributeAccess, invoke: Invoke) -> None:
        self._captures = captures
        self._access = access
        self._invoke = invoke

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``left + right``, by the name that `operator` has for it."""
        row = BINARY[name]
        if not self._are_asked(left, right, (row.own,), row.reflected):
            if type(left) is str or type(right) is str:
                made = of_string(name, left, right)
                if made is not NotImplemented:
                    return made
            return native_operator(row.function, left, right)
        number = self._number_of_python(name, left, right)
        result = self._of_methods(row, left if number is None else number, right)
        if number is not None and self._access.is_native(type(result)):
            raise needs_python(f"makes a {type(result).__name__} of an object's", MOVE_OUTSIDE)
        return self._result(row.text, result, left, right)

    def _number_of_python(self, name: str, left: Any, right: Any) -> Any:
        """The number of Python that NumPy's number hands to an object of the user's; else None.

        NumPy computes with an array of objects, of rank 0, if the class says nothing of arrays.
        """
        kind = represented_type(left)
        if not issubclass(kind, np.floating | np.integer) or name not in _OF_OBJECTS:
            return None
        has_any = any(hasattr(type(right), n) for n in _OF_ARRAYS)
        if has_any or any(n in getattr(right, "__dict__", ()) for n in _OF_ARRAYS):
            return None
        return self._invoke(float if issubclass(kind, np.floating) else int, (left,), {})

    def in_place(self, name: str, left: Any, right: Any) -> Any:
        """What ``left += right`` binds."""
        row = BINARY[name]
        if not self._are_asked(left, right, (row.own, row.in_place), row.reflected):
            return native_operator(IN_PLACE[name], left, right)
        result = self._called(left, row.in_place, right)
        if result is NotImplemented:
            result = self._of_methods(row, left, right)
        return self._result(f"{row.text}=", result, left, right)

    def unary(self, name: str, operand: Any) -> Any:
        """``-operand``."""
        method = self._access.note_method(operand, f"__{name}__")
        if method is not None:
            return self._invoke(method, (operand,), {})
        return native_operator(UNARY[name], operand)

    def compared(self, name: str, left: Any, right: Any) -> Any:
        """``left < right``; ``name`` is that of `operator`."""
        function = getattr(operator, name)
        is_pooled = pooled(left) is not None or pooled(right) is not None
        if not is_pooled and not self._are_asked(left, right, _COMPARISONS, *_COMPARISONS):
            return native_operator(function, left, right)
        sides = [(left, name, right), (right, _COMPARED[name], left)]
        if type(left) is not type(right) and issubclass(type(right), type(left)):
            sides.reverse()
        for obj, asked, other in sides:
            result = self._comparison(obj, asked, other)
            if result is not NotImplemented:
                return result
        if name in ("eq", "ne"):
            same = same_object(self._captures, left, right)
            return same if name == "eq" else not_(same)
        return self._result(function.__name__, NotImplemented, left, right)

    # ------------------------------------------------------------------------------------ methods
    def _are_asked(self, left: Any, right: Any, own: tuple[str, ...], *reflected: str) -> bool:
        """Whether a method of the user's may be asked: no container or text asks itself first."""
        is_native = self._access.is_native
        if is_native(type(left)) and is_native(type(right)):
            return False
        if represented_type(left) in _ASK_THEMSELVES and own[0] in (
            "__add__",
            "__mul__",
            "__mod__",
        ):
            return False
        return _has_any(left, own) or _has_any(right, reflected)

    def _of_methods(self, row: _Row, left: Any, right: Any) -> Any:
        """What the methods of both sides return, in Python's order.

        Objects of one type are asked once. A subclass that has a method of its own comes first.
        """
        kind, other = type(left), type(right)
        is_first = other is not kind and issubclass(other, kind)
        is_first = is_first and _differ(other, kind, row.reflected)
        result = NotImplemented
        if is_first:
            result = self._called(right, row.reflected, left)
        if result is NotImplemented:
            result = self._called(left, row.own, right)
        if result is NotImplemented and other is not kind and not is_first:
            result = self._called(right, row.reflected, left)
        return result

    def _called(self, obj: Any, name: str, other: Any) -> Any:
        """What a method returns; NotImplemented without one."""
        method = self._access.note_method(obj, name)
        if method is not None:
            return self._invoke(method, (obj, other), {})
        self._require_none(obj, name)
        return NotImplemented

    def _require_none(self, obj: Any, name: str) -> None:
        """Leave to Python what a method that is not the user's makes of another object."""
        kind = represented_type(obj)
        if kind in _NOTHING_KNOWN:
            return
        if class_attribute(kind, name)[0] is not None:
            what = f"asks {name} of a {kind.__name__}, given an object of the program's"
            raise needs_python(what, MOVE_OUTSIDE)
        self._access.note_absent(obj, name)

    def _comparison(self, obj: Any, name: str, other: Any) -> Any:
        """What a comparison returns; that of `object` knows only ``==``, and ``!=`` from it."""
        owner, default = class_attribute(type(obj), f"__{name}__")
        if owner is not object:
            return self._called(obj, f"__{name}__", other)
        self._access.note_default(obj, f"__{name}__", default)
        if name != "ne":
            return NotImplemented
        result = self._comparison(obj, "eq", other)
        return result if result is NotImplemented else not_(result)

    @staticmethod
    def _result(text: str, result: Any, left: Any, right: Any) -> Any:
        if result is not NotImplemented:
            return result
        kinds = f"'{type(left).__name__}' and '{type(right).__name__}'"
        raise numpy_raises(f"TypeError: unsupported operand type(s) for {text}: {kinds}")


def _has_any(obj: Any, names: tuple[str, ...]) -> bool:
    """Whether the class of an object has one of these methods in Python.

    Subclasses of numbers, text and containers are left out: Python and NumPy take them for those.
    """
    kind = type(obj)
    if isinstance(obj, type) or not all(b.__flags__ & _HEAP_TYPE for b in kind.__mro__[:-1]):
        return False
    return any(is_user_function(class_attribute(kind, name)[1]) for name in names)


def _differ(subclass: type, kind: type, name: str) -> bool:
    """Whether a subclass has another method of a name than its base has."""
    own = class_attribute(subclass, name)[1]
    return own is not None and own is not class_attribute(kind, name)[1]
