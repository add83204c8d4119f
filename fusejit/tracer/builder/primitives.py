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


PRIMITIVES: dict[Any, Primitive] = {}
"""The table; what NumPy itself runs between kernels comes by `setdefault`."""


def method_of_number(kind: type, name: str) -> Primitive | None:
    """The handler of a method of Python's numbers."""
    return PRIMITIVES.get(vars(kind).get(name)) if kind in (int, float) else None


HOST_PRIMITIVES: dict[Any, Primitive] = {}
"""What NumPy itself runs between kernels: the forms that the handlers in `PRIMITIVES` refuse."""


def rejects_complex(name: str) -> Callable[[_H], _H]:
    """Make a step of the tracer refuse complex numbers."""
    return functools.partial(reject_complex, name)


_TAKE_COMPLEX: set[Any] = set()


def primitive(*functions: Any, complex: bool = False) -> Callable[[_H], _H]:
    """Register the decorated function as the handler of ``functions``.

    ``complex`` says that they may be given complex numbers, which holds for their later handlers
    too. Others are kept from them: many a handler asks only whether numbers are floats.
    """
    if complex:
        _TAKE_COMPLEX.update(functions)

    def register(implementation: _H) -> _H:
        for function in functions:
            takes_them = function in _TAKE_COMPLEX
            PRIMITIVES[function] = (
                implementation if takes_them else reject_complex(function, implementation)
            )
        return implementation

    return register
