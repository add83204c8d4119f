"""Read what an argument is without running code of its class.

A class may answer for ``x.dtype``, ``x.__class__`` or ``len(x)`` with a function of the user's.
None may run before the user's function does: so types are asked with `type`, and attributes of
arrays and numbers are read through the descriptors of the types that NumPy and Python define.
"""

from __future__ import annotations

import abc
import ctypes
import enum
from collections.abc import Callable, Iterable
from itertools import islice
from types import MemberDescriptorType
from typing import Any, cast

import numpy as np

dtype_of: Callable[[Any], np.dtype[Any]] = np.ndarray.dtype.__get__
ndim_of: Callable[[Any], int] = np.ndarray.ndim.__get__
size_of: Callable[[Any], int] = np.ndarray.size.__get__
flags_of: Callable[[Any], Any] = np.ndarray.flags.__get__
scalar_dtype_of: Callable[[Any], np.dtype[Any]] = np.generic.dtype.__get__
bases_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
members_of: Callable[[type], Any] = type.__dict__["__dict__"].__get__

_flags_of: Callable[[type], int] = type.__dict__["__flags__"].__get__
name_of: Callable[[type], str] = type.__dict__["__name__"].__get__
_MAX_ITEMS = 64
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
    is_builtin = not _flags_of(kind) & _HEAP
    module = kind.__module__ if is_builtin else members_of(kind).get("__module__")
    return module if type(module) is str else ""


def has_asking_class(obj: object, depth: int = 3) -> bool:
    """Whether a metaclass compares, hashes or reads the class of an object, or of one in it.

    Of a list, tuple or dict some items are looked at.
    """
    kind = type(obj)
    meta = type(kind)
    if meta is not type:
        names = ("__eq__", "__hash__", "__getattribute__")
        return any(defined_by(meta, name) not in _META for name in names)
    if depth and (kind is list or kind is tuple or kind is dict):
        items: Iterable[Any] = cast(Any, obj).values() if kind is dict else cast(Any, obj)
        return any(has_asking_class(item, depth - 1) for item in islice(items, _MAX_ITEMS))
    return False


def is_a(obj: object, kinds: type | tuple[type, ...]) -> bool:
    """Whether an object is of one of some types, whatever it says of its class."""
    return issubclass(type(obj), kinds)


def defined_by(kind: type, name: str) -> type | None:
    """The class among the bases of a type that defines a name."""
    return next((base for base in bases_of(kind) if name in members_of(base)), None)


def fields_of(obj: object, base: type) -> bytes:
    """The memory of the fields that a class written in C gives its objects, as CPython lays it out.

    It has numbers, such as the place of an iterator, and the addresses of other objects.
    """
    head = object.__basicsize__
    return ctypes.string_at(id(obj) + head, base.__basicsize__ - head)


def held_by(obj: object, name: str) -> Any:
    """What an object itself holds under a name, in a slot or among its attributes; else None.

    No code of its class runs, nor is a dictionary made of its attributes, which would be slower to
    read ever after.
    """
    member = next((members_of(b)[name] for b in bases_of(type(obj)) if name in members_of(b)), None)
    if member is not None and type(member) is not MemberDescriptorType:
        return None
    try:
        return object.__getattribute__(obj, name)
    except AttributeError:  # a slot may be empty
        return None


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
