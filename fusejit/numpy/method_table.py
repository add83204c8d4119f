"""The table of ndarray's methods, attributes and operators, and what makes those of `Array`.

Each one runs NumPy's own on the ndarray that an `Array` holds, so that values, views, errors and
warnings are NumPy's. `SPECIAL` names those that need more than that.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy

from fusejit.numpy.array import Array, call, unwrapped, wrapped
from fusejit.numpy.flat import Flat
from fusejit.numpy.report import REPORT

_ARITHMETIC = "add sub mul truediv floordiv mod pow matmul lshift rshift and or xor"
_COMPARISONS = "__divmod__ __rdivmod__ __lt__ __le__ __eq__ __ne__ __gt__ __ge__"
OPERATORS = (
    *(f"__{prefix}{name}__" for name in _ARITHMETIC.split() for prefix in ("", "r", "i")),
    *_COMPARISONS.split(),
)
"""Operators of two operands; those with ``i`` in front write the first."""

_METHODS = (
    "all any argmax argmin argpartition argsort astype byteswap choose clip compress conj "
    "conjugate copy cumprod cumsum diagonal dot dump dumps fill flatten getfield item max "
    "mean min nonzero partition prod put ravel repeat reshape round searchsorted setfield "
    "setflags sort squeeze std sum swapaxes take to_device tobytes tofile tolist trace "
    "transpose var view __abs__ __neg__ __pos__ __invert__ __getitem__ __setitem__ "
    "__delitem__ __contains__ __len__ __bool__ __int__ __float__ __complex__ __index__ "
    "__repr__ __str__ __format__ __copy__ __deepcopy__ __reduce__ __reduce_ex__ "
    "__setstate__ __array_wrap__ __sizeof__ __dlpack__ __dlpack_device__"
)
METHODS = tuple(_METHODS.split())
"""Methods that run on the ndarray as they are."""

_ATTRIBUTES = (
    "T mT base ctypes data device dtype flags imag itemsize nbytes ndim real shape size "
    "strides __array_interface__ __array_struct__ __array_priority__"
)
ATTRIBUTES = tuple(_ATTRIBUTES.split())
"""Attributes; NumPy decides which may be assigned."""

_SPECIAL = (
    "resize base flat __array__ __array_ufunc__ __array_function__ __array_namespace__ __iter__ "
    "__class__ __getattribute__ __setattr__ __delattr__ __dir__ __doc__ __hash__ __init__ "
    "__init_subclass__ __new__ __subclasshook__ __array_finalize__ __class_getitem__ "
    "__getstate__ __buffer__"
)
SPECIAL = frozenset(_SPECIAL.split())
"""Names of ndarray that `Array` defines by itself or has from `object`."""


def _method(name: str) -> Callable[..., Any]:
    original = getattr(numpy.ndarray, name)

    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        return call(original, (self, *args), kwargs, name)

    return _named(method, name, original)


def _operator(name: str) -> Callable[..., Any]:
    original = getattr(numpy.ndarray, name)

    def method(self: Array, other: Any, *modulus: Any) -> Any:
        operands = [self]
        if type(other) is Array:
            operands.append(other)
            other = other._array
        REPORT.count(name)
        return wrapped(original(self._array, other, *modulus), operands)

    return _named(method, name, original)


def _attribute(name: str) -> property:
    read = operator.attrgetter(name)

    def get(self: Array) -> Any:
        return wrapped(read(self._array), (self,))

    def set_(self: Array, value: Any) -> None:
        setattr(self._array, name, unwrapped(value, []))

    def delete(self: Array) -> None:
        delattr(self._array, name)

    return property(get, set_, delete, getattr(numpy.ndarray, name).__doc__)


def _named(method: Callable[..., Any], name: str, original: Any) -> Callable[..., Any]:
    method.__name__ = name
    method.__qualname__ = f"Array.{name}"
    method.__doc__ = original.__doc__
    return method


def _iterate(self: Array) -> Any:
    """Iterate over the first axis: numbers of a 1-d array, views of others."""
    if self._array.ndim <= 1:
        return iter(self._array)  # NumPy's error without an axis
    rows: Any = self
    return (rows[i] for i in range(len(self._array)))


def _base(self: Array) -> Any:
    """The `Array` that owns the memory, or None."""
    return self._owner


def _flat(self: Array) -> Flat:
    """An iterator over the elements; assigning it assigns the elements."""
    return Flat(self)


def _set_flat(self: Array, value: Any) -> None:
    self._array.flat = unwrapped(value, [])  # type: ignore[misc]


def _as_ndarray(self: Array, dtype: Any = None, *, copy: bool | None = None) -> Any:
    """Return the values as an ndarray; without a copy it shares the memory."""
    return numpy.array(self._array, dtype=dtype, copy=copy)


def _namespace(self: Array, *, api_version: Any = None) -> Any:
    """Return `fusejit.numpy`, the namespace of the array API standard."""
    self._array.__array_namespace__(api_version=api_version)  # NumPy's error for other versions
    return sys.modules["fusejit.numpy"]


_REFCHECK_MESSAGE = (
    "cannot resize an array that references or is referenced\n"
    "by another array in this way.\n"
    "Use the np.resize function or refcheck=False"
)
_RESIZE_REFERENCES = 0  # measured below


def _resize(self: Array, *new_shape: Any, refcheck: bool = True) -> None:
    """Change the shape and size in place, as ``ndarray.resize`` does."""
    global _RESIZE_REFERENCES
    if not _RESIZE_REFERENCES:
        _RESIZE_REFERENCES = sys.getrefcount(self)
        return
    REPORT.count("resize")
    if refcheck and sys.getrefcount(self) > _RESIZE_REFERENCES:
        sized = tuple(new_shape[0]) if len(new_shape) == 1 and _is_shape(new_shape[0]) else ()
        if (sized or new_shape) != self._array.shape:
            raise ValueError(_REFCHECK_MESSAGE)
    self._array.resize(*new_shape, refcheck=refcheck)


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple | list)


def _buffer(self: Array, flags: int) -> memoryview:
    """Return a buffer of the memory (Python 3.12 and newer)."""
    view: memoryview = self._array.__buffer__(flags)  # type: ignore[attr-defined]
    return view


def _install() -> None:
    for name in METHODS:
        if hasattr(numpy.ndarray, name):
            setattr(Array, name, _method(name))
    for name in OPERATORS:
        if hasattr(numpy.ndarray, name):
            setattr(Array, name, _operator(name))
    for name in ATTRIBUTES:
        if hasattr(numpy.ndarray, name):
            setattr(Array, name, _attribute(name))
    by_name = {
        "__iter__": _iterate,
        "__array__": _as_ndarray,
        "__array_namespace__": _namespace,
        "resize": _resize,
    }
    if sys.version_info >= (3, 12):
        by_name["__buffer__"] = _buffer
    for name, method in by_name.items():
        setattr(Array, name, _named(method, name, method))
    attributes = {"base": property(_base), "flat": property(_flat, _set_flat)}
    for name, attribute in attributes.items():
        setattr(Array, name, attribute)


_install()


def _measure_references() -> None:
    array: Any = Array(numpy.empty(1))
    array.resize(1)


_measure_references()
