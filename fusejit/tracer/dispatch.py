"""THE dispatch table: function object -> what runs instead while tracing.

The staged front end looks every call up here; ``__array_ufunc__`` and ``__array_function__`` of
traced arrays land here too. A handler takes the arguments of the function it stands for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from fusejit.tracer.declined import Declined

Handler = Callable[..., Any]
HANDLERS: dict[Any, Handler] = {}
_H = TypeVar("_H", bound=Handler)


# Functions whose handlers know of complex numbers (texts are steps inside the tracer). All others
# decline them: many a handler asks only whether numbers are floats.
TAKE_COMPLEX = frozenset(
    """
    abs all any append complex complex64 complex128 array array_equal asanyarray asarray astype atleast_1d atleast_2d atleast_3d
    block broadcast_to column_stack concatenate copy copyto diag diagonal diff dstack empty
    empty_like enumerate expand_dims fill_diagonal flip fliplr flipud full full_like hstack imag
    angle indices insert isinstance len mean moveaxis ndim ones ones_like outer print putmask ravel
    real repeat reshape result_type reversed roll rollaxis rot90 shape size split squeeze stack sum
    swapaxes take tile trace transpose matrix_transpose tril triu type vstack where zeros zeros_like
    zip
    array_split hsplit vsplit dsplit unstack take_along_axis
    """.split()
)
_REAL_STEPS = frozenset({"clip", "round", "var", "std", "integer_power", "python_float_power"})


def _is_complex(obj: Any) -> bool:
    if type(obj) in (list, tuple):
        return any(map(_is_complex, obj))
    dtype = getattr(type(obj), "dtype", None) and getattr(obj, "dtype", None)
    return type(obj) is complex or getattr(dtype, "kind", "") == "c"


def _without_complex(function: Any, handler: _H) -> _H:
    """The handler, which declines complex numbers among its arguments."""
    name = getattr(function, "__name__", function)

    @functools.wraps(handler)
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(map(_is_complex, args)) or any(map(_is_complex, kwargs.values())):
            raise Declined(f"{name} of complex numbers")
        return handler(*args, **kwargs)

    return call  # type: ignore[return-value]


def handles(*functions: Any) -> Callable[[_H], _H]:
    """Register the decorated function as the handler of ``functions``."""

    def register(handler: _H) -> _H:
        for function in functions:
            is_step = isinstance(function, str | tuple)
            takes_complex = (
                function not in _REAL_STEPS if is_step else function.__name__ in TAKE_COMPLEX
            )
            HANDLERS[function] = handler if takes_complex else _without_complex(function, handler)
        return handler

    return register
