"""Notices user code that runs during a trace without its hooks.

Operators, ``with``, ``len`` and the like reach methods such as ``Vec.__add__`` from C code, where
no hook stands. What such a method reads from outside would be baked into the trace, so the trace
is given up. Uses the profile hook of this thread for the duration of the trace; a profiler that is
already active is left alone.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from fusejit.errors import UnsupportedError
from fusejit.tracer.callables import is_library_file
from fusejit.tracer.locations import location_of


class Watch:
    """Codes that may run, codes whose direct callees are looked at, and the first offence."""

    def __init__(self) -> None:
        self.offence: UnsupportedError | None = None
        self._allowed: set[int] = set()
        self._callers: set[int] = set()
        self._codes: list[CodeType] = []  # keeps the ids valid

    def allow(self, code: CodeType) -> None:
        """A function whose outside reads are known; everything it calls is watched."""
        if id(code) in self._allowed:
            return
        self._codes.append(code)
        self._allowed.add(id(code))
        self._callers.add(id(code))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.allow(constant)

    def watch_callees(self, code: CodeType) -> None:
        """A function of the tracer through which native calls go."""
        self._codes.append(code)
        self._callers.add(id(code))

    @contextmanager
    def active(self) -> Iterator[None]:
        """Watch this thread."""
        if sys.getprofile() is not None:
            yield
            return
        sys.setprofile(self._observe)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _observe(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or frame.f_back is None or id(frame.f_back.f_code) not in self._callers:
            return
        code = frame.f_code
        if id(code) in self._allowed or self.offence is not None or code.co_name == "__del__":
            return
        if code.co_filename.startswith("namedtuple_") or is_library_file(code.co_filename):
            return
        if _is_interruption(frame):
            return
        at = location_of(frame.f_back)
        self.offence = UnsupportedError(
            f"{at.file}:{at.line}, in {at.function}: {code.co_qualname} "
            f"({code.co_filename}:{code.co_firstlineno}) was called by Python itself and cannot be "
            f"followed; call it by name or compute it outside the decorated function"
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
