"""Instances of the user's subclasses of int and float as operands.

Python's operators take them for the numbers that they are, and NumPy for elements of int64 or
float64: of them, unlike of plain numbers, no operand is weak in promotion.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np

from fusejit.ir.raw_reads import bases_of, defined_by, members_of
from fusejit.ir.types import Kind
from fusejit.tracer.values.operator_names import OPERATORS

_BASES: dict[type, tuple[Any, type[np.generic]]] = {
    int: (int.__int__, np.int64),
    float: (float.__float__, np.float64),
}
_METHODS = {n: (f"__{n}__", f"__r{n}__") for n in (*OPERATORS, "divmod")}
_METHODS |= {
    n: (f"__{n}__", f"__{mirrored}__")
    for n, mirrored in {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.items()
}
_CONVERSIONS = ("__int__", "__index__", "__float__", "__array__", "__array_ufunc__")
_PROTOCOLS = ("__array_interface__", "__array_struct__", "__array_priority__", "__buffer__")


def is_of_subclass(obj: Any) -> bool:
    """Whether an object is an instance of a subclass of int or float that is not NumPy's."""
    kind = type(obj)
    if kind is bool or kind in _BASES or issubclass(kind, np.generic):
        return False
    return issubclass(kind, (int, float))


def stored(obj: Any) -> Any:
    """What is stored where an object is assigned to elements: an item at a time, as Python's."""
    if not is_of_subclass(obj):
        return obj
    number = number_of_subclass(obj, Kind.PYTHON)
    has_conversions = any(defined_by(type(obj), n) not in (None, *_BASES) for n in _CONVERSIONS[:3])
    return obj if number is None or has_conversions else number


def number_of_subclass(
    obj: Any, other: Kind, is_left: bool = False, operators: Iterable[str] = _METHODS
) -> Any:
    """What an operand of a user's number class computes as; None if its class has a say in that.

    Parameters
    ----------
    obj : object
    other : Kind
        Of the other operand: an array, a NumPy scalar, or a Python number.
    is_left : bool
        Whether ``obj`` is on the left of an operator.
    operators : iterable of str
        The operators that may be applied: ``"add"``.
    """
    if not is_of_subclass(obj):
        return None
    kind = type(obj)
    base = int if issubclass(kind, int) else float
    plain, strong = _BASES[base]
    own = {name for operator in operators for name in _METHODS[operator]}
    names = (name for owner in bases_of(kind) for name in own if name in members_of(owner))
    has_own = any(type(members_of(defined_by(kind, n) or kind)[n]) is FunctionType for n in names)
    if has_own and (other is Kind.PYTHON or is_left):
        return None
    if other is Kind.PYTHON:
        return plain(obj)
    if any(defined_by(kind, name) not in (None, base) for name in (*_CONVERSIONS, *_PROTOCOLS)):
        return None
    if other is Kind.SCALAR and base is float:
        return None  # left of a float64, which is a float, Python's float computes
    value = plain(obj)
    is_held = base is float or abs(value) <= np.iinfo(np.int64).max
    return strong(value) if is_held else None
