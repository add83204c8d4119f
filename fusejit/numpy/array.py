"""`Array`: an array of `fusejit.numpy`, and how NumPy's functions take and return it.

An `Array` holds an ndarray that nothing else refers to until a caller looks at its memory. It is no
subclass of ndarray: C code would read the memory of a subclass without a hook. Its ``__class__`` is
ndarray, so `isinstance`, SciPy and pickling take it for one.

A view is an `Array` that refers to the `Array` that owns the memory. Views of an `Array` are always
an `Array`; other results are one from `fusejit.numpy.settings.THRESHOLD` bytes on.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from fusejit.numpy.report import REPORT
from fusejit.numpy.settings import THRESHOLD
from fusejit.numpy.window import Window

# classes of results that hold no memory of an array
_PLAIN = (
    *(numpy.generic, numpy.dtype, int, float, complex, str, bytes),
    *(type(None), type(NotImplemented)),
)

ATOMS = frozenset(
    [bool, int, float, complex, str, bytes, type(None), type, slice, range]
    + [numpy.ndarray, *(type(numpy.dtype(char)) for char in numpy.typecodes["All"])]
    + [kind for kind in numpy.sctypeDict.values() if issubclass(kind, numpy.number | numpy.bool)]
)
"""Types of arguments that are no `Array` and hold none."""

SEARCHED = 64
"""Longer lists are not searched for `Array` objects; NumPy converts them through ``__array__``."""


def holds_no_array(argument: Any) -> bool:
    """Whether an argument neither is nor holds an `Array`."""
    kind = type(argument)
    if kind in ATOMS:
        return True
    if kind is not list and kind is not tuple:
        return False
    if len(argument) > SEARCHED or ATOMS.issuperset(map(type, argument)):
        return True
    return all(map(holds_no_array, argument))


def may_keep_arrays(values: Iterable[Any]) -> bool:
    """Whether NumPy hands the operands to a method of one of the values, which may keep them."""
    for value in values:
        kind = type(value)
        if kind is tuple:  # of ``out``
            if may_keep_arrays(value):
                return True
        elif kind in ATOMS or kind is Array:
            continue
        elif hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_wrap__"):
            return True
    return False


NUMBERS = frozenset("biufc")
"""Kinds of dtypes of new `Array` objects: strings, dates, records and objects stay NumPy's."""


class Array:
    """An array of numbers that computes like `numpy.ndarray`.

    Its methods, attributes and operators come from `fusejit.numpy.method_table`, its protocols
    from `fusejit.numpy.protocols`.

    Attributes
    ----------
    _array : ndarray
        The memory, with shape, strides and dtype. Its values may be pending.
    _owner : Array or None
        Of a view: the `Array` whose memory this is.
    _path : tuple or None
        Of a view: the subscripts and attributes that make it of the owner, one after the other;
        None if it was made in another way. Of an owner: ``()``, or None once its shape or type was
        assigned.
    _is_foreign : bool
        Of an owner: whether others can write or read the memory. Then nothing that uses it is
        recorded.
    _window : Window or None
    _epoch : int
        Of an owner: operations of this window use the memory, while the epochs are equal.
    """

    __slots__ = ("__weakref__", "_array", "_epoch", "_is_foreign", "_owner", "_path", "_window")

    _array: numpy.ndarray[Any, Any]
    _owner: Array | None
    _path: tuple[Any, ...] | None
    _is_foreign: bool
    _window: Window | None
    _epoch: int

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        array: numpy.ndarray[Any, Any],
        owner: Array | None = None,
        path: tuple[Any, ...] | None = None,
    ) -> None:
        self._array = array
        self._owner = owner
        self._path = () if owner is None else path
        self._is_foreign = False
        self._window = None

    @property
    def __class__(self) -> Any:
        return numpy.ndarray

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("the class of an array of fusejit.numpy cannot be assigned")

    def __getattr__(self, name: str) -> Any:
        """Report a missing attribute in NumPy's words; find those of newer NumPy versions."""
        if name in Array.__slots__:  # an object that `__init__` has not filled
            raise AttributeError(name)
        flush_pending(self)
        give_away([self])
        return getattr(self._array, name)

    def __dir__(self) -> Iterable[str]:
        return dir(numpy.ndarray)


def unwrapped(
    value: Any, operands: list[Array], most: int = sys.maxsize, flushes: bool = True
) -> Any:
    """Replace each `Array` in ``value`` by its ndarray, and append it to ``operands``.

    Lists, tuples and dicts of up to ``most`` items are searched. ``flushes``: pending operations on
    each `Array` run first.
    """
    kind = type(value)
    if kind is Array:
        operands.append(value)
        if flushes:
            flush_pending(value)
        return value._array
    if kind is tuple or kind is list:
        if len(value) > most:
            return value
        items = [unwrapped(item, operands, most, flushes) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if kind is list else tuple(items)
    if kind is dict:
        replaced = {key: unwrapped(item, operands, most, flushes) for key, item in value.items()}
        return replaced if any(replaced[key] is not value[key] for key in value) else value
    if kind is type and value is Array:
        return numpy.ndarray
    if issubclass(kind, tuple | list):
        plain = tuple(value)
        found = unwrapped(plain, operands, most, flushes)
        return value if found is plain else found
    return value


def wrapped(result: Any, operands: Iterable[Array]) -> Any:
    """Return the result of a function of NumPy as callers of `fusejit.numpy` see it.

    An ndarray of an operand becomes that operand, a view of an operand's memory an `Array` that
    shares it, and a large new ndarray an `Array`. Call this with the call that makes the result:
    a name for the result would be one reference more than `_REFERENCES` says.
    """
    kind = type(result)
    if kind is numpy.ndarray:
        return _wrapped_array(result, operands, _REFERENCES)
    if kind is tuple or kind is list:
        items = [_wrapped_item(item, operands) for item in result]
        if all(new is old for new, old in zip(items, result, strict=True)):
            return result
        return items if kind is list else tuple(items)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*[_wrapped_item(item, operands) for item in result])
    if not issubclass(kind, _PLAIN):
        give_away(operands)
    return result


def _wrapped_item(item: Any, operands: Iterable[Array]) -> Any:
    if type(item) is numpy.ndarray:
        return _wrapped_array(item, operands, _ITEM_REFERENCES)
    if not isinstance(item, _PLAIN):
        give_away(operands)
    return item


def _wrapped_array(
    array: numpy.ndarray[Any, Any], operands: Iterable[Array], references: int
) -> Any:
    """Return an exact ndarray as an `Array` where it should be one.

    An ndarray to which there are more than ``references`` belongs to someone else, such as a
    function that the caller has passed to NumPy; it stays as it is.
    """
    for operand in operands:
        if operand._array is array:
            return operand
    found = sys.getrefcount(array)
    root = root_of(array)
    for operand in operands:
        owner = owner_of(operand)
        if owner._array is root:
            return Array(array, owner)
    if type(root) is Array:  # a view that was made through ``__array_interface__``
        return Array(array, owner_of(root))
    num_bytes = array.nbytes
    if num_bytes < THRESHOLD.get() or not num_bytes or not array.ndim:
        return array
    if array.dtype.kind not in NUMBERS or not root_owns(root):
        return array
    if found > references:
        return array
    if root is array:
        return Array(array)
    if sys.getrefcount(root) > _ROOT_REFERENCES:
        return array
    return Array(array, Array(root))


LONGEST_PATH = 4
"""Subscripts of views of views that are remembered."""


def path_of_item(array: Array, index: Any) -> tuple[Any, ...] | None:
    """The path of ``array[index]``, a view."""
    path = array._path
    return None if path is None or len(path) == LONGEST_PATH else (*path, index)


def forget_path(array: Array) -> None:
    """Note that the shape or the type of an array was assigned: its path is not how it is made."""
    array._path = None


def created(result: Any) -> Any:
    """Return the result of a function whose arguments hold no `Array`.

    Small results pass quickly. The caller may have one name for the result.
    """
    kind = type(result)
    if kind is numpy.ndarray:
        if result.nbytes < THRESHOLD.get():
            return result
        return _wrapped_array(result, (), _NAMED_REFERENCES)
    return result if kind in ATOMS else wrapped(result, ())


def owner_of(array: Array) -> Array:
    """Return the `Array` that owns the memory of ``array``."""
    return array if array._owner is None else array._owner


def root_owns(root: Any) -> bool:
    """Whether an ndarray, at the end of a chain of bases, holds memory that NumPy allocated."""
    return type(root) is numpy.ndarray and root.flags.owndata


def root_of(array: Any) -> Any:
    """Return the object at the end of the chain of bases: the owner of the memory."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array


def call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Any:
    """Call a function of NumPy with ndarrays in place of each `Array`, and wrap its result."""
    operands: list[Array] = []
    args = unwrapped(args, operands)
    if kwargs:
        kwargs = unwrapped(kwargs, operands)
    if may_keep_arrays(args) or (kwargs and may_keep_arrays(kwargs.values())):
        give_away(operands)
    REPORT.count(name)
    return wrapped(function(*args, **kwargs), operands)


def call_operator(original: Callable[..., Any], array: Array, other: Any, name: str) -> Any:
    """Call an operator of ndarray as `call` does, in less time."""
    kind = type(other)
    if kind is list or kind is tuple:
        return call(original, (array, other), {}, name)
    flush_pending(array)
    REPORT.count(name)
    if may_keep_arrays((other,)):
        give_away([array])
        if issubclass(kind, numpy.ndarray):
            return wrapped(_with_subclass(array._array, other, name), (array,))
    if kind is Array:
        flush_pending(other)
        return wrapped(original(array._array, other._array), (array, other))
    return wrapped(original(array._array, other), (array,))


def _with_subclass(array: numpy.ndarray[Any, Any], other: Any, name: str) -> Any:
    """Apply an operator by Python's rule: a subclass of ndarray on the right comes first."""
    if name in ("__divmod__", "__rdivmod__"):
        return divmod(array, other) if name == "__divmod__" else divmod(other, array)
    reflected = getattr(operator, f"__{name[3:]}", None) if name[2] == "r" else None
    if reflected is not None:
        return reflected(other, array)
    return getattr(operator, name)(array, other)


def flush_pending(array: Array) -> None:
    """Run what is recorded if any of it reads or writes the memory of ``array``."""
    owner = array if array._owner is None else array._owner
    window = owner._window
    if window is not None and window.epoch == owner._epoch:
        window.flush("a value is needed")


def give_away(arrays: Iterable[Array]) -> None:
    """Note that others may keep the memory of arrays: operations on it run at once from now on."""
    for array in arrays:
        flush_pending(array)
        owner_of(array)._is_foreign = True


def shows_no_values(result: Any, operands: Iterable[Array]) -> bool:
    """Whether a result is made of operands, views of them, and facts of shapes."""
    kind = type(result)
    if kind is tuple or kind is list:
        return all(shows_no_values(item, operands) for item in result)
    if kind is Array:
        owner = owner_of(result)
        return any(owner is owner_of(operand) for operand in operands)
    return isinstance(result, int | numpy.dtype)


# How many references there are, inside `_wrapped_array`, to an ndarray that NumPy has just made.
# Versions of Python differ, so a first call measures it.
_REFERENCES = _ITEM_REFERENCES = _ROOT_REFERENCES = _NAMED_REFERENCES = 0


def _measure_references() -> None:
    global _REFERENCES, _ITEM_REFERENCES, _ROOT_REFERENCES, _NAMED_REFERENCES
    seen: list[int] = []
    real = _wrapped_array

    def measuring(
        array: numpy.ndarray[Any, Any], operands: Iterable[Array], references: int
    ) -> Any:
        found = sys.getrefcount(array)
        root = root_of(array)
        seen.append(found if root is array else sys.getrefcount(root))
        return array

    def one() -> Any:
        return numpy.empty(1)

    def inside() -> tuple[Any, ...]:
        return (numpy.empty(1),)

    def view() -> Any:
        return numpy.empty(2)[1:]

    globals()["_wrapped_array"] = measuring
    try:
        wrapped(one(), ())
        wrapped(inside(), ())
        wrapped(view(), ())
        token = THRESHOLD.set(0)
        result = one()
        created(result)
        del result
        THRESHOLD.reset(token)
    finally:
        globals()["_wrapped_array"] = real
    _REFERENCES, _ITEM_REFERENCES, _ROOT_REFERENCES, _NAMED_REFERENCES = seen


_measure_references()
