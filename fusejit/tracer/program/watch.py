"""Notices user code that runs during a trace without its callbacks.

Operators, ``with``, ``len`` and the like reach methods such as ``Vec.__add__`` from C code, where
no callback stands. What such a method reads from outside would be baked into the trace, and what it
writes would be written, so the trace is given up before it runs: Python runs the statement. Uses
the profile hook of this thread, which slows the tracer down by half: only from where an object
comes in that may have such methods, or that C code might call. A profiler that is already active is
left alone.
"""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

import numpy as np

from fusejit.errors import NeedsPython, UnsupportedError
from fusejit.support.frame_readers import codes_in
from fusejit.tracer.program.callables import (
    CONSTANT_TYPES,
    is_library_file,
    is_library_module,
    is_traced_type,
    is_user_function,
)
from fusejit.tracer.program.locations import add_span_of, location_of, user_frames

_PLAIN_TYPES = frozenset(
    {
        *CONSTANT_TYPES,
        type(Ellipsis),
        range,
        slice,
        np.ndarray,
        np.dtype,
        np.ufunc,
        np.random.Generator,
        type(np.sum),
        BuiltinFunctionType,
        ModuleType,
    }
)
# what functions of the tracer ask objects for on their own account; all other special methods they
# reach in place of Python: ``if o``, ``x[o]``, ``str(o)``, ``abs(o)``
_OF_THE_TRACER = frozenset(
    {"__eq__", "__ne__", "__hash__", "__getattr__", "__getattribute__", "__init__", "__post_init__"}
)


class Watch:
    """Codes that may run, codes whose direct callees are looked at, and the first offence."""

    def __init__(self) -> None:
        self.offence: UnsupportedError | None = None
        self._allowed: set[int] = set()
        self._callers: set[int] = set()
        self._codes: list[CodeType] = []  # keeps the ids valid
        self._is_wanted = False
        self._is_active = False
        self._is_running = False

    def allow(self, code: CodeType) -> None:
        """A function whose captured reads are known; everything it calls is watched."""
        for one in codes_in(code):
            if id(one) not in self._allowed:
                self._codes.append(one)
                self._allowed.add(id(one))
                self._callers.add(id(one))

    def watch_callees(self, code: CodeType) -> None:
        """A function of the tracer through which native calls go."""
        self._codes.append(code)
        self._callers.add(id(code))

    @contextmanager
    def active(self) -> Iterator[None]:
        """Watch this thread, from where that is needed."""
        self._is_active = True
        try:
            if self._is_wanted:
                self.start()
            yield
        finally:
            self._is_active = False
            if self._is_running:
                self._is_running = False
                sys.setprofile(None)

    def start(self) -> None:
        """Begin to watch, now or as soon as the trace does."""
        self._is_wanted = True
        if self._is_active and not self._is_running and sys.getprofile() is None:
            self._is_running = True
            sys.setprofile(self._observe)

    def meet(self, obj: Any) -> None:
        """Begin to watch if an object from outside may have methods that Python calls by itself."""
        if not self._is_wanted and not _is_harmless(obj):
            self.start()

    def meet_native(self, function: Any, arguments: Iterable[Any]) -> None:
        """Begin to watch if C code may call something of the user's, given these arguments."""
        if self._is_wanted:
            return
        module = getattr(function, "__module__", None) or "builtins"
        if not is_library_module(module) or not all(map(_is_harmless_argument, arguments)):
            self.start()

    def _observe(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or frame.f_back is None:
            return
        code = frame.f_code
        if id(code) in self._allowed or self.offence is not None or code.co_name == "__del__":
            return
        if code.co_filename.startswith("namedtuple_") or is_library_file(code.co_filename):
            return
        if id(frame.f_back.f_code) not in self._callers and not _is_special_method(frame):
            return
        if self._is_in_interruption(frame):
            return
        where = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
        self.offence = NeedsPython.at(
            location_of(frame.f_back),
            f"{where} was called by Python itself and cannot be followed",
            "call it by name or compute it outside the decorated function",
        )
        add_span_of(self.offence, user_frames())
        raise self.offence  # before its first statement, which may have effects

    def _is_in_interruption(self, frame: FrameType) -> bool:
        """Whether a function is called on the way of what the program has not called.

        A finalizer runs wherever the garbage is collected, and calls what it likes.
        """
        at: FrameType | None = frame
        while at is not None and id(at.f_code) not in self._allowed:
            if _is_interruption(at) or at.f_code.co_name == "__del__":
                return True
            at = at.f_back
        return False


_DEPTH = 16  # of containers in each other, which may hold themselves


def _is_harmless(obj: Any, depth: int = _DEPTH) -> bool:
    """Whether an object has no methods of the user's; callbacks call the user's functions."""
    kind = type(obj)
    if kind is type:
        return is_library_module(obj.__module__)
    if kind in (list, tuple, dict):
        items = (*obj, *obj.values()) if kind is dict else obj
        return depth > 0 and all(_is_harmless(item, depth - 1) for item in items)
    return (
        kind in _PLAIN_TYPES
        or kind is FunctionType
        or is_traced_type(kind)
        or issubclass(kind, np.generic)
    )


def _is_harmless_argument(obj: Any, depth: int = _DEPTH) -> bool:
    """Whether C code that is given an object can call nothing of the user's."""
    if type(obj) is FunctionType:
        return not is_user_function(obj)
    if type(obj) in (list, tuple, dict):
        items = obj.values() if isinstance(obj, dict) else obj
        are_harmless = (_is_harmless_argument(item, depth - 1) for item in items)
        return depth > 0 and _is_harmless(obj, depth) and all(are_harmless)
    return type(obj) is GeneratorType or _is_harmless(obj)


def _is_special_method(frame: FrameType) -> bool:
    """Whether a class of its first argument has it as a special method, whatever its own name."""
    code = frame.f_code
    if code.co_argcount:
        given = frame.f_locals.get(code.co_varnames[0])
    elif code.co_flags & inspect.CO_VARARGS:
        given = next(iter(frame.f_locals[code.co_varnames[code.co_kwonlyargcount]]), None)
    else:
        return False
    return any(
        getattr(member, "__code__", None) is code
        and name.startswith("__")
        and name.endswith("__")
        and name not in _OF_THE_TRACER
        for owner in type(given).__mro__
        for name, member in vars(owner).items()
    )


def _is_interruption(frame: FrameType) -> bool:
    """Whether the interpreter runs it between two instructions: callbacks of gc, weakref, signal.

    They take ``(phase, info)``, ``(reference,)`` and ``(number, frame)``.
    """
    code = frame.f_code
    if any(getattr(callback, "__code__", None) is code for callback in gc.callbacks):
        return True
    names = code.co_varnames[: code.co_argcount]
    given = [frame.f_locals.get(name) for name in names[-2:]]
    return any(isinstance(a, weakref.ref | FrameType) for a in given)
