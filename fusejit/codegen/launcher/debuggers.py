"""Whether a debugger follows the program: then Python runs decorated functions.

A trace function (`sys.settrace`) is a debugger's, unless the tool measures: coverage and
line_profiler see compiled calls. Native code compares the word of memory in which CPython keeps the
trace function of the main thread, so the check costs a compiled call about a nanosecond.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any, cast

MEASURING = {"coverage", "line_profiler"}
"""Packages whose trace functions are no debuggers."""

_WORDS = 40  # of a thread's state that are searched; each has more


def is_debugged() -> bool:
    """Whether a debugger follows this thread or the main thread."""
    tracer = sys.gettrace()
    if tracer is None and _address:
        tracer = tracer_of_main_thread()
    if tracer is not None:
        return not _measures(tracer)
    monitoring: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
    return monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID) is not None


def _measures(tracer: Any) -> bool:
    """Whether a trace function is that of a tool that measures what runs."""
    return is_of_measuring_tool(getattr(tracer, "__module__", type(tracer).__module__))


def is_of_measuring_tool(module: object) -> bool:
    """Whether a module of some name belongs to a tool that measures what runs."""
    return str(module).partition(".")[0] in MEASURING


_address = 0  # once it is needed


def tracer_address() -> int:
    """Where CPython keeps the trace function of the main thread; 0 if that cannot be told."""
    global _address
    _address = _find_address()
    return _address


def tracer_of_main_thread() -> Any:
    """The trace function of the main thread; None if there is none or that cannot be told."""
    word = ctypes.c_void_p.from_address(tracer_address()).value if tracer_address() else None
    return None if word is None else ctypes.cast(word, ctypes.py_object).value


@functools.cache
def _find_address() -> int:
    before = sys.gettrace()
    tracer = _trace_nothing if before is None else before
    state = _call("PyThreadState_Get")
    try:
        sys.settrace(tracer)
        found = [k for k in range(_WORDS) if _word(state, k) == id(tracer)]
    finally:
        sys.settrace(before)
    oldest = _call("PyInterpreterState_ThreadHead", _call("PyInterpreterState_Main"))
    while following := _call("PyThreadState_Next", oldest):
        oldest = following
    if len(found) != 1 or (before is None and _word(state, found[0])):
        return 0
    return oldest + found[0] * ctypes.sizeof(ctypes.c_void_p)


def _trace_nothing(*args: Any) -> None:
    """Trace nothing."""


def _word(start: int, k: int) -> int | None:
    return ctypes.c_void_p.from_address(start + k * ctypes.sizeof(ctypes.c_void_p)).value


def _call(name: str, *args: int) -> int:
    """Call a function of CPython's C API that returns a pointer."""
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_void_p] * len(args)
    return cast(int, function(*args) or 0)
