"""What a function consists of and anybody may replace: its code and its default values."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any


class Identity:
    """The code and the default values of a function as they were at one moment."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._code = function.__code__
        self._defaults = function.__defaults__
        self._keyword_defaults = function.__kwdefaults__

    def holds(self) -> bool:
        """Whether the function has still the same ones."""
        function = self._function
        return (
            function.__code__ is self._code
            and function.__defaults__ is self._defaults
            and function.__kwdefaults__ is self._keyword_defaults
        )

    def given(
        self, signature: inspect.Signature, args: tuple[Any, ...]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call without those that are the default values of that moment.

        ``args`` are in the order of the parameters, default values filled in.
        """
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        by_keyword = False  # behind an argument that was left out
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
