"""What a function consists of and anybody may replace: its code and its default values."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

from fusejit.served_code import served_for


def own_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters that a function has, whatever it says of itself.

    A decorator may give ``__signature__`` to its wrapper, as it gives ``__wrapped__``: both are for
    readers, and Python passes arguments by the code.

    >>> def wrapper(*args): ...
    >>> wrapper.__signature__ = inspect.Signature()
    >>> own_signature(wrapper)
    <Signature (*args)>
    """
    if not isinstance(function, FunctionType):
        return inspect.signature(function, follow_wrapped=False)
    code, defaults = function.__code__, function.__defaults__
    bare = FunctionType(code, {}, function.__name__, defaults, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare)


def parts_of(function: FunctionType) -> tuple[Any, ...]:
    """What a function consists of and anybody may replace."""
    return function.__code__, function.__defaults__, function.__kwdefaults__


class FunctionIdentity:
    """The code and the default values of a function, its ``parts``, as they were at one moment.

    What has replaced the code of its entry stubs counts as well.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self.parts = parts_of(function)
        self.served = served_for(function) if type(function) is FunctionType else ()

    def holds(self) -> bool:
        """Whether the function has still the same ones."""
        return all(map(operator.is_, parts_of(self._function), self.parts)) and not any(
            served.is_replaced for served in self.served
        )

    def given(
        self, signature: inspect.Signature, args: tuple[Any, ...]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call without those that are the default values of that moment.

        ``args`` are in the order of the parameters, default values filled in.
        """
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        by_keyword = False  # after an argument that was left out
        for parameter, value in zip(signature.parameters.values(), args, strict=True):
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                keywords |= value
            elif value is parameter.default:
                by_keyword = True
            elif parameter.kind is parameter.KEYWORD_ONLY or by_keyword:
                keywords[parameter.name] = value
            else:
                positional.append(value)
        return positional, keywords
