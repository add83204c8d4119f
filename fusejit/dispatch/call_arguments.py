"""`CallArguments`: the arguments of a call by parameter, by position, and as they are passed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

_SIMPLE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class CallArguments:
    """The arguments of one function's calls.

    Parameters
    ----------
    function : callable
    signature : inspect.Signature
        Its own.

    Attributes
    ----------
    run : callable
        Runs the undecorated function; takes all parameters by position.
    """

    def __init__(self, function: Callable[..., Any], signature: inspect.Signature) -> None:
        self.signature = signature
        self._function = function
        is_simple = all(p.kind in _SIMPLE for p in signature.parameters.values())
        self.run = function if is_simple else self._by_keyword

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments of a call by parameter, in order."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def named(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Values in parameter order by parameter."""
        return dict(zip(self.signature.parameters, args, strict=True))

    def split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Values in parameter order as positional and keyword arguments of the function."""
        bound = inspect.BoundArguments(self.signature, cast(Any, self.named(args)))
        return bound.args, bound.kwargs

    def _by_keyword(self, *args: Any) -> Any:
        positional, keywords = self.split(args)
        return self._function(*positional, **keywords)
