"""`Flat` and `Flags`: what ``x.flat`` and ``x.flags`` are for an `Array`."""

from __future__ import annotations

from typing import Any

import numpy

from fusejit.numpy.array import Array, call, flush_pending, give_away, unwrapped, wrapped


class Flat:
    """NumPy's ``flatiter`` over the memory of an `Array`, which takes an `Array` as index."""

    __slots__ = ("_array", "_iterator")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Array) -> None:
        give_away([array])
        self._array = array
        self._iterator = array._array.flat

    @property
    def __class__(self) -> Any:
        return numpy.flatiter

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("the class of an iterator of fusejit.numpy cannot be assigned")

    def __getitem__(self, index: Any) -> Any:
        return wrapped(self._iterator[unwrapped(index, [])], (self._array,))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._iterator[unwrapped(index, [])] = unwrapped(value, [])

    def __delitem__(self, index: Any) -> None:
        del self._iterator[index]  # type: ignore[attr-defined]  # NumPy's error

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> Any:
        return numpy.array(self._iterator, dtype=dtype, copy=copy)

    def __iter__(self) -> Flat:
        return self

    def __next__(self) -> Any:
        return next(self._iterator)

    def __len__(self) -> int:
        return len(self._iterator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)


def _comparison(name: str) -> Any:
    def method(self: Flat, other: Any) -> Any:
        return call(getattr(numpy.flatiter, name), (self._iterator, other), {}, f"flat.{name}")

    method.__name__ = name
    return method


for _name in ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"):
    setattr(Flat, _name, _comparison(_name))


class Flags:
    """NumPy's ``flagsobj`` of an `Array`; what is recorded runs before a flag changes."""

    __slots__ = ("_array",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Array) -> None:
        object.__setattr__(self, "_array", array)

    @property
    def __class__(self) -> Any:
        return type(self._array._array.flags)

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("the class of the flags of an array cannot be assigned")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array._array.flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        flush_pending(self._array)
        setattr(self._array._array.flags, name, value)

    def __getitem__(self, name: str) -> Any:
        return self._array._array.flags[name]

    def __setitem__(self, name: str, value: Any) -> None:
        flush_pending(self._array)
        self._array._array.flags[name] = value

    def __eq__(self, other: object) -> bool:
        other = other._array._array.flags if type(other) is Flags else other
        return bool(self._array._array.flags == other)

    def __repr__(self) -> str:
        return repr(self._array._array.flags)
