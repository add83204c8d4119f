"""NumPy's functions that make arrays, as functions of `fusejit.numpy` that make an `Array`.

These are all of the namespace's functions that differ from NumPy's: the others reach an `Array`
through ``__array_ufunc__`` and ``__array_function__``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy

from fusejit.numpy.array import SEARCHED, created, is_plain, unwrapped, wrapped

_F = TypeVar("_F", bound=Callable[..., Any])

_CREATORS = (
    "arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray bmat "
    "copy empty empty_like eye frombuffer fromfile fromfunction fromiter fromregex fromstring full "
    "full_like genfromtxt geomspace hamming hanning bartlett blackman kaiser identity indices "
    "linspace load loadtxt logspace meshgrid ones ones_like require tri vander zeros "
    "zeros_like"
)
CREATORS = tuple(_CREATORS.split())
"""Functions that may return a new array although no argument is an `Array`."""


def creating(original: Any) -> Any:
    """Return ``original`` with results as of `fusejit.numpy`, and the original as an attribute."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if all(map(is_plain, args)) and (not kwargs or all(map(is_plain, kwargs.values()))):
            return created(original(*args, **kwargs))
        operands: list[Any] = []
        args = unwrapped(args, operands, SEARCHED)
        if kwargs:
            kwargs = unwrapped(kwargs, operands, SEARCHED)
        return wrapped(original(*args, **kwargs), operands)

    described = described_as(function, original)
    if hasattr(type(original), "__get__") and not hasattr(original, "__self__"):
        return described
    static: Any = staticmethod(described)  # like a function in C no method where a class has it
    static.__numpy_function__ = original
    if (signature := getattr(original, "__text_signature__", None)) is not None:
        static.__text_signature__ = signature
    return static


def described_as(function: _F, original: Any) -> _F:
    """Give a function the name, documentation and signature of the one of NumPy it calls.

    The tracer of `fuse_jit` compiles a call of ``function`` as one of ``__numpy_function__``.
    """
    function.__name__ = original.__name__
    function.__qualname__ = getattr(original, "__qualname__", original.__name__)
    function.__module__ = "fusejit.numpy"
    function.__doc__ = original.__doc__
    function.__wrapped__ = getattr(original, "__wrapped__", original)  # type: ignore[attr-defined]
    if (signature := getattr(original, "__text_signature__", None)) is not None:
        function.__text_signature__ = signature  # type: ignore[attr-defined]
    function.__numpy_function__ = original  # type: ignore[attr-defined]
    return function


def creators() -> dict[str, Any]:
    """Return the namespace's own functions by name."""
    return {name: creating(getattr(numpy, name)) for name in CREATORS if name in numpy.__all__}


class Grid:
    """``np.mgrid`` and ``np.ogrid``, whose items are new arrays."""

    def __init__(self, original: Any) -> None:
        self._original = original
        self.__doc__ = original.__doc__

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self._original[key], ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)
