"""Handlers of calls with traced arguments; NumPy itself runs the other calls while tracing."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.values.operand_types import contains_traced

_H = TypeVar("_H", bound=Callable[..., Any])


def primitive_of(parameters: str, *functions: Any, complex: bool = False) -> Callable[[_H], _H]:
    """As `primitive`, for calls in which one of ``parameters`` is traced, or has traced items."""
    names = parameters.split()

    def register(implementation: _H) -> _H:
        signature = inspect.signature(implementation)
        assert signature.parameters.keys() >= {*names}

        @functools.wraps(implementation)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError:  # which the call itself raises, in Python's words
                return implementation(*args, **kwargs)
            if not contains_traced([given.get(name) for name in names]):
                return NotImplemented
            return implementation(*args, **kwargs)

        return cast(_H, primitive(*functions, complex=complex)(call))

    return register
