"""NumPy's functions that make arrays, as functions of `fusejit.numpy` that make an `Array`.

These are all of the namespace's functions that differ from NumPy's: the others reach an `Array`
through ``__array_ufunc__`` and ``__array_function__``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy

from fusejit.numpy.array import ATOMS, SEARCHED, created, holds_no_array, unwrapped, wrapped
from fusejit.numpy.settings import THRESHOLD

threshold = THRESHOLD.get

_F = TypeVar("_F", bound=Callable[..., Any])

_OF_NUMBERS = (
    "arange bartlett blackman empty eye full geomspace hamming hanning identity indices kaiser "
    "linspace logspace ones tri zeros"
)
"""Functions of numbers. NumPy finds an `Array` among their arguments by itself."""

_OF_ARRAYS = (
    "array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray copy empty_like "
    "full_like ones_like require vander zeros_like"
)
"""Functions whose first argument may be an `Array`, or a list that holds one."""

_OTHERS = (
    "bmat frombuffer fromfile fromfunction fromiter fromregex fromstring genfromtxt load loadtxt "
    "meshgrid"
)

CREATORS = (*_OF_NUMBERS.split(), *_OF_ARRAYS.split(), *_OTHERS.split())
"""Functions that may return a new array although no argument is an `Array`."""


def creating(original: Any) -> Any:
    """Return ``original`` with results as of `fusejit.numpy`, and the original as an attribute."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if all(map(holds_no_array, args)) and (
            not kwargs or all(map(holds_no_array, kwargs.values()))
        ):
            return created(original(*args, **kwargs))
        operands: list[Any] = []
        args = unwrapped(args, operands, SEARCHED)
        if kwargs:
            kwargs = unwrapped(kwargs, operands, SEARCHED)
        return wrapped(original(*args, **kwargs), operands)

    return _function(function, original)


def creating_of_arrays(original: Any) -> Any:
    """Return a function of `_OF_ARRAYS`, quick where the first argument is plain."""
    slow, atoms, get, ndarray = creating(original), ATOMS, threshold, numpy.ndarray

    def function(*args: Any, **kwargs: Any) -> Any:
        first: Any = args
        while ((kind := type(first)) is tuple or kind is list) and first:
            first = first[0]
        if kind not in atoms:  # an `Array`, or a list that begins with one
            return slow(*args, **kwargs)
        result = original(*args, **kwargs)
        if type(result) is ndarray and result.nbytes < get():
            return result
        return created(result)

    return _function(function, original)


def creating_of_numbers(original: Any) -> Any:
    """Return a function of `_OF_NUMBERS`, which takes little longer than the original."""
    get, ndarray = threshold, numpy.ndarray

    def function(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if type(result) is ndarray and result.nbytes < get():
            return result
        return created(result)

    return _function(function, original)


def _function(function: Callable[..., Any], original: Any) -> Any:
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
    made = {name: creating_of_numbers(getattr(numpy, name)) for name in _OF_NUMBERS.split()}
    made |= {name: creating_of_arrays(getattr(numpy, name)) for name in _OF_ARRAYS.split()}
    return made | {
        name: creating(getattr(numpy, name)) for name in _OTHERS.split() if name in numpy.__all__
    }


class Grid:
    """``np.mgrid`` and ``np.ogrid``, whose items are new arrays."""

    def __init__(self, original: Any) -> None:
        self._original = original
        self.__doc__ = original.__doc__

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self._original[key], ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)
