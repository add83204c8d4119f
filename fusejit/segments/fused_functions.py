"""Functions of the user's that Python calls between segments, in their fused form."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from fusejit.segments.installed import is_installed
from fusejit.support.frame_readers import why_direct
from fusejit.tracer.program.callables import is_user_function
from fusejit.tracer.source.source_text import find_source

Decorate = Callable[[FunctionType, str], Callable[..., Any]]
"""Compiles a function, and is told what it does on errors: see `fusejit.options`."""
MAX_PER_CODE = 4  # functions made from one ``def`` that are fused: inner ones come with each call


class FusedFunctions:
    """Functions of the user's that Python calls in one decorated function, and what they call.

    The fused form of a recursive function finds itself here. Of functions that are made again with
    each call, inner ones, the first few are fused: each would have to be traced and kept. ``told``
    are the warnings that were shown for any of them.
    """

    def __init__(self, shown_warnings: set[str]) -> None:
        self.shown_warnings = shown_warnings
        self.by_function: dict[FunctionType, Callable[..., Any]] = {}
        self._counts: Counter[CodeType] = Counter()

    def get(self, function: FunctionType, decorate: Decorate) -> Callable[..., Any]:
        """The fused form of a function, or the function itself."""
        known = self.by_function.get(function)
        if known is not None:
            return known
        code = function.__code__
        if self._counts[code] >= MAX_PER_CODE:
            return function
        self._counts[code] += 1
        made = self.by_function[function] = _made(function, decorate)
        return made


def _made(function: FunctionType, decorate: Decorate) -> Callable[..., Any]:
    """The fused form of a function of the user's; anything else as it is."""
    is_other = hasattr(function, "__fusejit_state__") or hasattr(function, "__wrapped__")
    if is_other or not is_user_function(function):
        return function
    unusual = (
        inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
        or inspect.isgeneratorfunction(function)
    )
    if unusual or is_installed(function.__code__.co_filename) or why_direct(function):
        return function
    if isinstance(find_source(function), str):
        return function
    return decorate(function, "")
