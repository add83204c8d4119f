"""Frames of the user: where an op comes from, and tracebacks without fusejit's own frames."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path as FilePath
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

import numpy as np

import fusejit
from fusejit.errors import UnsupportedError
from fusejit.ir.source import UNKNOWN, Location

F = TypeVar("F", bound=Callable[..., Any])
E = TypeVar("E", bound=BaseException)

_PACKAGE = str(FilePath(fusejit.__file__).parent) + os.sep
_NUMPY = str(FilePath(np.__file__).parent) + os.sep
_internal: dict[str, bool] = {}
_entries: set[int] = set()
_entry_codes: list[CodeType] = []  # keeps the ids of `_entries` valid

MOVE_OUTSIDE = "move it outside the decorated function and pass its result as an argument"


def mark_entry(function: F) -> F:
    """Declare that the user's frames of a trace are those below a call of ``function``."""
    code: CodeType = function.__code__
    _entry_codes.append(code)
    _entries.add(id(code))
    return function


def is_package_file(filename: str) -> bool:
    """Whether a file belongs to fusejit itself."""
    return filename.startswith(_PACKAGE)


def _is_internal(filename: str) -> bool:
    known = _internal.get(filename)
    if known is None:
        known = is_package_file(filename) or filename.startswith(_NUMPY)
        _internal[filename] = known
    return known


def current_location() -> Location:
    """The user's line that is running now, with the calls it was inlined from.

    Walks from the caller to the first frame outside fusejit and NumPy, and on to the entry of the
    trace. Outside a trace only the innermost user frame is reported.
    """
    return location_of(sys._getframe(1))


def location_of(frame: FrameType | None) -> Location:
    """The user's line that runs in ``frame`` or called it."""
    frames: list[FrameType] = []
    while frame is not None:
        code = frame.f_code
        if id(code) in _entries:
            break
        if not _is_internal(code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    if not frames:
        return UNKNOWN
    if frame is None:
        frames = frames[:1]
    location: Location | None = None
    for user in reversed(frames):
        location = Location(
            user.f_code.co_filename, user.f_lineno or 0, user.f_code.co_name, location
        )
    return location or UNKNOWN


def unsupported(what: str, remedy: str) -> UnsupportedError:
    """An `UnsupportedError` that names the user's file, line and function.

    Parameters
    ----------
    what : str
        A clause naming what was called or written.
    remedy : str
        What to write instead.
    """
    at = current_location()
    return UnsupportedError(f"{at.file}:{at.line}, in {at.function}: {what}; {remedy}")


def strip_frames(error: E) -> E:
    """Cut fusejit's own frames from the traceback of ``error``, in place, and return it.

    Causes and contexts are cut too. A traceback of nothing but fusejit's frames stays whole.
    """
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _user_frames(one.__traceback__)
        pending += [one.__cause__, one.__context__]
    return error


def _user_frames(traceback: TracebackType | None) -> TracebackType | None:
    entries: list[TracebackType] = []
    entry = traceback
    while entry is not None:
        if not is_package_file(entry.tb_frame.f_code.co_filename):
            entries.append(entry)
        entry = entry.tb_next
    result: TracebackType | None = None
    for kept in reversed(entries):
        result = TracebackType(result, kept.tb_frame, kept.tb_lasti, kept.tb_lineno)
    return result or traceback
