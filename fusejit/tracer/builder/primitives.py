"""THE dispatch table: function object -> what runs instead while tracing.

The front end looks every call up here; ``__array_ufunc__`` and ``__array_function__`` of
traced arrays land here too. A handler takes the arguments of the function it stands for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodDescriptorType
from typing import Any, TypeVar

import numpy as np

from fusejit.tracer.program.fallback import Fallback

Primitive = Callable[..., Any]
_H = TypeVar("_H", bound=Primitive)

# Functions whose handlers know of complex numbers. Those of all others are kept from them: many a
# handler asks only whether numbers are floats.
_TAKE_COMPLEX = (
    "abs accumulate all angle any append array array_equal array_split asanyarray asarray "
    "ascontiguousarray asfortranarray astype broadcast_arrays deepcopy iscomplexobj isrealobj "
    "isscalar "
    "atleast_1d atleast_2d atleast_3d block bool broadcast_to column_stack complex complex128 "
    "complex64 concatenate copy copyto cumprod cumsum diag diagonal diff dsplit dstack empty "
    "empty_like enumerate expand_dims fill_diagonal flip fliplr flipud full full_like hsplit "
    "hstack imag insert isinstance len matrix_transpose mean moveaxis ndim ones ones_like outer "
    "print putmask ravel real reduce repeat reshape result_type reversed roll rollaxis rot90 shape "
    "size split squeeze stack sum swapaxes take take_along_axis tile trace transpose tril triu "
    "type unstack vsplit vstack where zeros zeros_like zip"
)
TAKE_COMPLEX = frozenset(_TAKE_COMPLEX.split())
_METHODS_OF_REALS = frozenset({"clip", "round", "var", "std"})


def _takes_complex(function: Any) -> bool:
    if isinstance(function, MethodDescriptorType):
        return function.__name__ not in _METHODS_OF_REALS
    if isinstance(function, np.ufunc):  # `fusejit.tracer.np.numbers.complex_ufuncs` decides
        return function.signature is None and function.nout == 1
    return getattr(function, "__name__", "") in TAKE_COMPLEX


class _Primitives(dict[Any, Primitive]):
    """The table; what NumPy itself runs between kernels comes by `setdefault`, as it is."""

    def __setitem__(self, function: Any, implementation: Primitive) -> None:
        takes_complex = _takes_complex(function)
        super().__setitem__(
            function, implementation if takes_complex else reject_complex(function, implementation)
        )


def _is_complex(obj: Any) -> bool:
    if type(obj) in (list, tuple):
        return any(map(_is_complex, obj))
    dtype = getattr(obj, "dtype", None) if hasattr(type(obj), "dtype") else None
    return type(obj) is complex or getattr(dtype, "kind", "") == "c"


def reject_complex(function: Any, implementation: _H) -> _H:
    """The handler, without complex numbers among its arguments.

    With some, NumPy runs the function between kernels if it is a host function; else it falls back.
    """
    name = getattr(function, "__name__", function)
    by_numpy = getattr(np, name, None) if isinstance(function, MethodDescriptorType) else function

    @functools.wraps(implementation)
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(map(_is_complex, args)) or any(map(_is_complex, kwargs.values())):
            host = HOST_PRIMITIVES.get(by_numpy)
            if host is not None:
                return host(*args, **kwargs)
            raise Fallback(f"{name} of complex numbers")
        return implementation(*args, **kwargs)

    return call  # type: ignore[return-value]


PRIMITIVES: dict[Any, Primitive] = _Primitives()
HOST_PRIMITIVES: dict[Any, Primitive] = {}
"""What NumPy itself runs between kernels: the forms that the handlers in `PRIMITIVES` refuse."""


def rejects_complex(name: str) -> Callable[[_H], _H]:
    """Make a step of the tracer refuse complex numbers."""
    return functools.partial(reject_complex, name)


def primitive(*functions: Any) -> Callable[[_H], _H]:
    """Register the decorated function as the handler of ``functions``."""

    def register(implementation: _H) -> _H:
        for function in functions:
            PRIMITIVES[function] = implementation
        return implementation

    return register
