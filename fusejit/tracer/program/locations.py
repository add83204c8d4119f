"""Frames of the user: where an op comes from."""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

import numpy as np

from fusejit.errors import ConcretizationError, FusejitError, NeedsPython, UnsupportedError
from fusejit.ir.source import UNKNOWN, Location
from fusejit.support.identity import is_entry_code
from fusejit.support.package_files import is_package_file
from fusejit.tracer.program.active_trace import ACTIVE

F = TypeVar("F", bound=Callable[..., Any])
E = TypeVar("E", bound=FusejitError)

NUMPY_FOLDER = os.path.dirname(np.__file__) + os.sep
OWN = ".st"
"""How the names begin that the rewriter makes, as no identifier of a program does."""
LATER = f"{OWN} later"  # the parameter of the functions that the rewriter makes of operands
_OPERANDS = re.compile(rf"{re.escape(OWN)}_([tp]\d+(_\d+)?|result)")  # of `RecursionBlocks`
_internal: dict[str, bool] = {}
_entries: set[int] = set()
_codes_for_program: dict[CodeType, tuple[int, str]] = {}
_entry_codes: list[CodeType] = []  # keeps the ids of `_entries` valid

MOVE_OUTSIDE = "move it outside the decorated function and pass its result as an argument"


def mark_entry(function: F) -> F:
    """Declare that the user's frames of a trace are those below a call of ``function``."""
    code: CodeType = function.__code__
    _entry_codes.append(code)
    _entries.add(id(code))
    return function


def for_program(function: F, depth: int = 0, stored: str = "") -> F:
    """Declare that ``function`` does what the program says, so exceptions are the program's.

    ``depth`` says how deep it looks into containers among its arguments: a call looks into all.
    ``stored`` names an argument that it only stores, without a look at it.
    """
    _codes_for_program[function.__code__] = depth, stored
    return function


def raised_by_user_code(at: TracebackType) -> bool:
    """Whether an exception began where fusejit did what the program says, with its objects.

    If one of them is traced the fault is not in the program: Python would have another object.
    """
    frame = at.tb_frame
    if frame.f_code not in _codes_for_program:
        return False
    depth, stored = _codes_for_program[frame.f_code]
    seen = (obj for name, obj in frame.f_locals.items() if name != stored)
    return not any(_has_traced(obj, depth) for obj in seen)


def _has_traced(obj: Any, depth: int) -> bool:
    """Whether a traced value for an object of the program's occurs in nested containers."""
    if type(obj) in (list, tuple, dict) and depth:
        items = [*obj.keys(), *obj.values()] if type(obj) is dict else obj
        return any(_has_traced(item, depth - 1) for item in items)
    return type(obj).__module__.startswith("fusejit.")


def _is_internal(code: CodeType) -> bool:
    """Whether frames of some code are fusejit's or NumPy's own."""
    filename = code.co_filename
    known = _internal.get(filename)
    if known is None:
        known = is_package_file(filename) or filename.startswith(NUMPY_FOLDER)
        _internal[filename] = known
    return known or is_entry_code(code)


def _is_operand(code: CodeType) -> bool:
    """Whether it is part of an expression of the program: an operand of ``and``, say."""
    return code.co_kwonlyargcount == 1 and code.co_varnames[0] == LATER


def user_frames() -> list[FrameType]:
    """The frames of the user's program that run now, from the innermost to the traced function."""
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and id(frame.f_code) not in _entries:
        if not _is_internal(frame.f_code) and not _is_operand(frame.f_code):
            frames.append(frame)
        frame = frame.f_back
    return frames if frame is not None else []


def name_in_program(obj: Any) -> str | None:
    """The name under which the innermost frame of the user knows an object."""
    for frame in user_frames()[:1]:
        for name, value in frame.f_locals.items():
            if value is obj and is_of_program(name):
                return name
    return None


def is_of_program(name: str) -> bool:
    """Whether a local name is one that the program has written."""
    return not name.startswith((".", "<"))  # else the rewriter's, or a comprehension's


def holds_of_program(name: str) -> bool:
    """Whether a name holds objects of the program: its own, and those of a recursion's operands."""
    return is_of_program(name) or _OPERANDS.fullmatch(name) is not None


def current_location() -> Location:
    """The user's line that is running now, with the calls it was inlined from.

    Walks from the caller to the first frame outside fusejit and NumPy, and on to the entry of the
    trace. Outside a trace only the innermost user frame is reported.
    """
    return location_of(sys._getframe(1))


def location_of(frame: FrameType | None) -> Location:
    """The user's line that runs in ``frame`` or called it.

    Before the traced function and after it, where arguments are read and results handed out,
    that is the function's own line, not that of whoever called it.
    """
    frames: list[FrameType] = []
    while frame is not None:
        code = frame.f_code
        if id(code) in _entries:
            break
        # most frames are internal: this runs for each op that is traced
        known = _internal.get(code.co_filename)
        if not known and not _is_internal(code) and not _is_operand(code):
            frames.append(frame)
        frame = frame.f_back
    trace = ACTIVE.get()
    is_captured = frame is None or not frames
    if is_captured and trace is not None and trace.location is not UNKNOWN:
        return trace.location
    if not frames:
        return UNKNOWN
    return _location(frames[:1] if frame is None else frames)


def _location(frames: Sequence[FrameType]) -> Location:
    """That of the first frame, with the calls it was inlined from."""
    location: Location | None = None
    for user in reversed(frames):
        location = Location(
            user.f_code.co_filename, user.f_lineno or 0, user.f_code.co_name, location
        )
    return location or UNKNOWN


def here() -> str:
    """The user's line that is running now, as messages name it."""
    at = current_location()
    return f"{at.file}:{at.line}, in {at.function}"


def unsupported(what: str, remedy: str) -> UnsupportedError:
    """An `UnsupportedError` that names the user's file, line and function.

    Parameters
    ----------
    what : str
        A clause naming what was called or written.
    remedy : str
        What to write instead.
    """
    return _error(UnsupportedError, what, remedy)


def needs_python(what: str, remedy: str) -> NeedsPython:
    """As `unsupported`, of a statement that Python can run between compiled segments."""
    return _error(NeedsPython, what, remedy)


def concretization(what: str, remedy: str) -> ConcretizationError:
    """As `unsupported`, where Python asks for a value that only the kernel knows.

    A function without usable source may ask for any: then that is what to change.
    """
    trace = ACTIVE.get()
    if trace is not None and trace.untraced:
        for frame in user_frames()[:1]:
            remedy = trace.untraced.get(frame.f_code, remedy)
    return _error(ConcretizationError, what, remedy)


def as_graph_break(refusal: Exception) -> FusejitError:
    """The refusal of a statement that Python runs."""
    if isinstance(refusal, NeedsPython | ConcretizationError):
        return refusal
    if not isinstance(refusal, FusejitError):
        return needs_python(str(refusal), MOVE_OUTSIDE)
    return refusal.become(NeedsPython)


def _error(kind: type[E], what: str, remedy: str) -> E:
    return add_span(kind.at(current_location(), what, remedy))


SourceSpan = tuple[Location, tuple[int, int] | None]
"""The user's line that runs, and the expression of the traced function: see `FusejitError`."""


def current_span() -> SourceSpan:
    """Where the user's program is."""
    error = add_span(FusejitError())
    return error.location, error.position


def add_span(error: E) -> E:
    """Note in an error which line of the user's runs, and which expression of the function."""
    error.location = current_location()
    return add_span_of(error, user_frames())


def add_span_of(error: E, frames: Sequence[FrameType]) -> E:
    """Note in an error which expression of the function runs, given the frames of the user's."""
    if frames:
        code, at = frames[-1].f_code, frames[-1].f_lasti // 2
        line, _, column, _ = next(itertools.islice(code.co_positions(), at, None))
        error.position = None if line is None or column is None else (line, column)
    return error


def needs_python_where(raised: BaseException, what: str, remedy: str) -> NeedsPython:
    """As `needs_python`, at the place where an exception was raised that has left the program."""
    frames: list[FrameType] = []
    entry = raised.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if not _is_internal(code) and not _is_operand(code):
            frames.insert(0, entry.tb_frame)
        entry = entry.tb_next
    if not frames:
        return needs_python(what, remedy)
    at = _location(frames)
    return add_span_of(NeedsPython.at(at, what, remedy), frames)
