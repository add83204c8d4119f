"""Read what an argument is without running code of its class.

A class may answer for ``x.dtype``, ``x.__class__`` or ``len(x)`` with a function of the user's.
None may run before the user's function does: so types are asked with `type`, and attributes of
arrays and numbers are read through the descriptors of the types that NumPy and Python define.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Callable
from typing import Any

import numpy as np

dtype_of: Callable[[Any], np.dtype[Any]] = np.ndarray.dtype.__get__
ndim_of: Callable[[Any], int] = np.ndarray.ndim.__get__
size_of: Callable[[Any], int] = np.ndarray.size.__get__
flags_of: Callable[[Any], Any] = np.ndarray.flags.__get__
scalar_dtype_of: Callable[[Any], np.dtype[Any]] = np.generic.dtype.__get__
bases_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
members_of: Callable[[type], Any] = type.__dict__["__dict__"].__get__

_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that a class statement has made

NUMPY_SCALARS = frozenset(np.sctypeDict.values())
"""NumPy's own types of scalars."""

_READERS: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.hex,
    complex: complex.__repr__,
    str: str.__str__,
    bytes: bytes.hex,
}


_META = (type, object, enum.EnumMeta, abc.ABCMeta)


def module_of(kind: type) -> str:
    """The name of the module of a class, whatever it has under ``__module__``."""
    module = members_of(kind).get("__module__") if kind.__flags__ & _HEAP else kind.__module__
    return module if type(module) is str else ""


def is_compared_by_user(kind: type) -> bool:
    """Whether a metaclass of the user's compares or hashes a class, or finds its attributes."""
    meta = type(kind)
    names = ("__eq__", "__hash__", "__getattribute__")
    return meta is not type and any(defined_by(meta, name) not in _META for name in names)


def is_a(obj: object, kinds: type | tuple[type, ...]) -> bool:
    """Whether an object is of one of some types, whatever it says of its class."""
    return issubclass(type(obj), kinds)


def defined_by(kind: type, name: str) -> type | None:
    """The class among the bases of a type that defines a name."""
    return next((base for base in bases_of(kind) if name in members_of(base)), None)


def with_text(value: Any) -> tuple[Any, str]:
    """A value of the standard library with its text: equal ones may show different digits."""
    return value, repr(value)


def value_reader(kind: type) -> Callable[[Any], Any] | None:
    """Read the number or text that an instance of a subclass of a builtin type is.

    Two instances of one class are the same value exactly if the results are equal: zeros have a
    sign, and a NaN equals itself. None for types that are no such subclasses.

    >>> class Level(int): ...
    >>> value_reader(Level)(Level(3))
    3
    """
    if kind in _READERS or kind is bool or issubclass(kind, np.generic):
        return None
    return next((read for base, read in _READERS.items() if issubclass(kind, base)), None)
