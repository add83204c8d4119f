"""Functions that look at frames: at their own, in which no name of ours may stand, or at others'.

What a function looks up in the frame that calls it, as ``sys._getframe(1).f_locals["x"]``, it finds
only if no frame of ours is in between.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType

READS_CALLERS = "it reads its caller's frame, and under fusejit that frame would be fusejit's"
STOPS = "it stops in a debugger, which shows its statements and names as Python runs them"
_STOPS = {"breakpoint", "set_trace"}
_SHOW_NAMES = {
    *("locals", "vars", "dir", "eval", "exec", "breakpoint", "set_trace"),
    *("inspect", "_getframe", "currentframe", "f_locals", "tb_frame", "gi_frame"),
}
_TO_CALLERS = {"_getframe", "f_back", "getouterframes"}
_CALLERS = (inspect.stack, sys._getframe)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and the code objects inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def names_in(code: CodeType) -> Iterator[str]:
    """All names of a code object and of those inside it."""
    for one in codes_in(code):
        yield from (*one.co_names, *one.co_varnames, *one.co_cellvars, *one.co_freevars)


def names_read(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes in a code object and in those inside it."""
    return (name for one in codes_in(code) for name in one.co_names)


def shows_names(names: Collection[str]) -> bool:
    """Whether a function with these names may show those of its frame."""
    return not _SHOW_NAMES.isdisjoint(names)


def why_direct(function: FunctionType) -> str:
    """Say why a function must run without a frame of fusejit; empty if it need not.

    It may read its caller's frame, or stop in a debugger.
    """
    if any(map(is_stop, function.__code__.co_names)):
        return STOPS
    return READS_CALLERS if reads_callers(function) else ""


def is_stop(name: str) -> bool:
    """Whether a function with this name stops in a debugger."""
    return name in _STOPS and (name, os.environ.get("PYTHONBREAKPOINT")) != ("breakpoint", "0")


def reads_callers(function: FunctionType) -> bool:
    """Whether a function may look at the frame that calls it."""
    names = function.__code__.co_names
    if not _TO_CALLERS.isdisjoint(names):
        return True
    known = [function.__globals__.get(name) for name in names]
    return any(value is reader for value in known for reader in _CALLERS) or (
        "stack" in names and any(value is inspect for value in known)
    )
