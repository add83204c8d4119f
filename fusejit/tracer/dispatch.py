"""THE dispatch table: function object -> what runs instead while tracing.

The staged front end looks every call up here; ``__array_ufunc__`` and ``__array_function__`` of
traced arrays land here too. A handler takes the arguments of the function it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Handler = Callable[..., Any]
HANDLERS: dict[Any, Handler] = {}
_H = TypeVar("_H", bound=Handler)


def handles(*functions: Any) -> Callable[[_H], _H]:
    """Register the decorated function as the handler of ``functions``."""

    def register(handler: _H) -> _H:
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return register
