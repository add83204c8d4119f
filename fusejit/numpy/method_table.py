"""The table of ndarray's methods, attributes and operators, and what makes those of `Array`.

Each one runs NumPy's own on the ndarray that an `Array` holds, so that values, views, errors and
warnings are NumPy's. Those that can wait are recorded (`fusejit.numpy.recording`), and those that
need no values run while values are pending. `SPECIAL` names those that need more than that.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from fusejit.numpy.array import (
    Array,
    call,
    call_operator,
    flush_pending,
    forget_path,
    give_away,
    path_of_item,
    shows_no_values,
    unwrapped,
    wrapped,
)
from fusejit.numpy.functions import REDUCTIONS, record_clip, record_masked_store, reduced
from fusejit.numpy.programs import PATH_ATTRIBUTES
from fusejit.numpy.protocols import PROTOCOLS
from fusejit.numpy.recording import is_basic, record_copy, record_power, record_store, record_ufunc
from fusejit.numpy.report import REPORT

_UFUNCS = {
    "add": numpy.add,
    "sub": numpy.subtract,
    "mul": numpy.multiply,
    "truediv": numpy.true_divide,
    "floordiv": numpy.floor_divide,
    "mod": numpy.remainder,
    "pow": numpy.power,
    "matmul": numpy.matmul,
    "lshift": numpy.left_shift,
    "rshift": numpy.right_shift,
    "and": numpy.bitwise_and,
    "or": numpy.bitwise_or,
    "xor": numpy.bitwise_xor,
}
OPERATORS: dict[str, numpy.ufunc | None] = {
    **{f"__{prefix}{n}__": ufunc for n, ufunc in _UFUNCS.items() for prefix in ("", "r", "i")},
    "__divmod__": None,
    "__rdivmod__": None,
    "__lt__": numpy.less,
    "__le__": numpy.less_equal,
    "__eq__": numpy.equal,
    "__ne__": numpy.not_equal,
    "__gt__": numpy.greater,
    "__ge__": numpy.greater_equal,
}
"""Operators of two operands with their ufuncs; those with ``i`` in front write the first."""

UNARY = {
    "__neg__": numpy.negative,
    "__pos__": numpy.positive,
    "__abs__": numpy.absolute,
    "__invert__": numpy.invert,
}
"""Operators of one operand."""

_METHODS = (
    "argpartition argsort byteswap choose compress conj conjugate "
    "cumprod cumsum dot dump dumps fill flatten getfield item nonzero partition "
    "put repeat round searchsorted setfield setflags sort take to_device tobytes "
    "tofile trace __delitem__ __contains__ __bool__ __int__ __float__ __complex__ __index__ "
    "__repr__ __str__ __format__ __copy__ __deepcopy__ __reduce__ __reduce_ex__ "
    "__setstate__ __array_wrap__ __dlpack__"
)
METHODS = tuple(_METHODS.split())
"""Methods that read or write values at once."""

OF_SHAPE = ("__len__", "__sizeof__", "__dlpack_device__")
"""Methods that need no values."""

VIEWS = ("diagonal", "ravel", "reshape", "squeeze", "swapaxes", "transpose", "view")
"""Methods that need no values if their result is a view."""

_FACTS = "dtype device itemsize nbytes ndim shape size strides __array_priority__"
FACTS = tuple(_FACTS.split())
"""Attributes that need no values. NumPy decides which may be assigned."""

VIEW_ATTRIBUTES = ("T", "mT", "real", "imag")
"""Attributes that need no values if their result is a view."""

ATTRIBUTES = ("ctypes", "data", "__array_interface__", "__array_struct__")
"""Attributes through which callers may read or write the memory."""

_SPECIAL = (
    "resize base flags flat tolist copy astype clip __getitem__ __setitem__ __array__ "
    "__array_ufunc__ __array_function__ __array_namespace__ __iter__ "
    "__class__ __getattribute__ __setattr__ __delattr__ __dir__ __doc__ __hash__ __init__ "
    "__init_subclass__ __new__ __subclasshook__ __array_finalize__ __class_getitem__ "
    "__getstate__ __buffer__"
)
SPECIAL = frozenset(_SPECIAL.split())
"""Names of ndarray that `Array` defines by itself or has from `object`."""


def _method(name: str, original: Any) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        return call(original, (self, *args), kwargs, name)

    return method


def _reduction(name: str, original: Any) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        result = reduced(sys._getframe(1), name, self, args, kwargs)
        return call(original, (self, *args), kwargs, name) if result is NotImplemented else result

    return method


def _of_shape(name: str, original: Any) -> Callable[..., Any]:
    def method(self: Array) -> Any:
        return original(self._array)

    return method


def _view(name: str, original: Any) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = unwrapped((args, kwargs), [])
        result = wrapped(original(self._array, *args, **kwargs), (self,))
        if shows_no_values(result, (self,)):
            return result
        flush_pending(self)  # a copy: of the values
        REPORT.count(name)
        return wrapped(original(self._array, *args, **kwargs), (self,))

    return method


def _unary(name: str, original: Any) -> Callable[..., Any]:
    ufunc = UNARY[name]

    def method(self: Array) -> Any:
        recorded = record_ufunc(sys._getframe(1), ufunc, (self,))
        return call(original, (self,), {}, name) if recorded is None else recorded

    return method


def _operator(name: str, original: Any) -> Callable[..., Any]:
    ufunc = OPERATORS[name]
    role = "" if name == "__rshift__" else name[2]
    is_reflected, is_in_place = role == "r", role == "i"
    record: Callable[..., Any] = record_power if ufunc is numpy.power else record_ufunc
    if ufunc is None or ufunc.signature is not None:
        record = _record_nothing

    def method(self: Array, other: Any, *modulus: Any) -> Any:
        if modulus:
            return call(original, (self, other, *modulus), {}, name)
        inputs = (other, self) if is_reflected else (self, other)
        recorded = record(sys._getframe(1), ufunc, inputs, self if is_in_place else None)
        return call_operator(original, self, other, name) if recorded is None else recorded

    return method


def _record_nothing(*_: Any) -> None:
    """Of operators that run at once."""


def _fact(name: str, original: Any) -> property:
    read = operator.attrgetter(name)

    def get(self: Array) -> Any:
        return read(self._array)

    return _settable(name, get, original)


def _view_attribute(name: str, original: Any) -> property:
    read = operator.attrgetter(name)

    def get(self: Array) -> Any:
        result = wrapped(read(self._array), (self,))
        if shows_no_values(result, (self,)):
            if name in PATH_ATTRIBUTES and result is not self:
                result._path = path_of_item(self, name)
            return result
        flush_pending(self)
        return wrapped(read(self._array), (self,))

    return _settable(name, get, original)


def _attribute(name: str, original: Any) -> property:
    read = operator.attrgetter(name)

    def get(self: Array) -> Any:
        give_away([self])
        return read(self._array)

    return _settable(name, get, original)


def _settable(name: str, get: Callable[[Array], Any], original: Any) -> property:
    def set_(self: Array, value: Any) -> None:
        flush_pending(self)
        forget_path(self)
        setattr(self._array, name, unwrapped(value, []))

    def delete(self: Array) -> None:
        delattr(self._array, name)

    return property(get, set_, delete, original.__doc__)


def _get_item(self: Array, index: Any) -> Any:
    if is_basic(index):
        result = self._array[index]
        if type(result) is numpy.ndarray:
            owner = self if self._owner is None else self._owner
            return Array(result, owner, path_of_item(self, index))
        flush_pending(self)
        return self._array[index]
    return call(numpy.ndarray.__getitem__, (self, index), {}, "__getitem__")


def _set_item(self: Array, index: Any, value: Any) -> None:
    frame = sys._getframe(1)
    if is_basic(index):
        is_recorded = record_store(frame, self, index, value)
    else:
        is_recorded = type(index) is Array and record_masked_store(frame, self, index, value)
    if not is_recorded:
        call(numpy.ndarray.__setitem__, (self, index, value), {}, "__setitem__")


def _astype(self: Array, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    if not args and not kwargs:
        recorded = record_copy(sys._getframe(1), self, numpy.dtype(dtype), "K")
        if recorded is not None:
            return recorded
    return call(numpy.ndarray.astype, (self, dtype, *args), kwargs, "astype")


def _copy(self: Array, order: Any = "C") -> Any:
    if order in ("C", "F", "K"):
        recorded = record_copy(sys._getframe(1), self, self._array.dtype, order)
        if recorded is not None:
            return recorded
    return call(numpy.ndarray.copy, (self, order), {}, "copy")


def _clip(self: Array, *args: Any, **kwargs: Any) -> Any:
    recorded = record_clip(sys._getframe(1), (self, *args), kwargs)
    return call(numpy.ndarray.clip, (self, *args), kwargs, "clip") if recorded is None else recorded


def _to_list(self: Array) -> Any:
    flush_pending(self)
    REPORT.count("tolist")
    return self._array.tolist()


def _named(method: Callable[..., Any], name: str, original: Any) -> Callable[..., Any]:
    method.__name__ = name
    method.__qualname__ = f"Array.{name}"
    method.__doc__ = original.__doc__
    if (signature := getattr(original, "__text_signature__", None)) is not None:
        method.__text_signature__ = signature  # type: ignore[attr-defined]
        method.__wrapped__ = original  # type: ignore[attr-defined]  # `inspect.signature` reads it
    return method


_MAKERS: dict[Callable[[str, Any], Any], Iterable[str]] = {
    _method: METHODS,
    _reduction: REDUCTIONS,
    _of_shape: OF_SHAPE,
    _view: VIEWS,
    _unary: UNARY,
    _operator: OPERATORS,
    _fact: FACTS,
    _view_attribute: VIEW_ATTRIBUTES,
    _attribute: ATTRIBUTES,
}
_OWN: dict[str, Any] = {
    "__getitem__": _get_item,
    "__setitem__": _set_item,
    "astype": _astype,
    "clip": _clip,
    "copy": _copy,
    "tolist": _to_list,
}


def _install() -> None:
    made = {name: (value, getattr(numpy.ndarray, name, value)) for name, value in PROTOCOLS.items()}
    made |= {name: (value, getattr(numpy.ndarray, name)) for name, value in _OWN.items()}
    for make, names in _MAKERS.items():
        for name in names:
            if (original := getattr(numpy.ndarray, name, None)) is not None:
                made[name] = make(name, original), original
    for name, (value, original) in made.items():
        setattr(Array, name, _named(value, name, original) if callable(value) else value)


_install()
