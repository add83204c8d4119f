"""Tracebacks as Python shows them for the undecorated function.

What fusejit puts into a traceback is cut where the exception leaves a frame of fusejit, so that
handlers of the program do not see it either: an entry stub catches what leaves it, cuts, and raises
with a bare ``raise``, which adds no frame. So does a split function where it calls a segment: the
frame of the segment has the line that raised, and stands for that of the call.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import TypeVar

from fusejit.support.package_files import is_package_code

SEGMENTS = "_segments"  # the name under which a split function finds its segments begins so
_MOST = 16  # frames of the user's in succession: those below have been cut, as in a recursion
_MAX_PLACES = 256  # in code, of which it is known whether they call a segment

E = TypeVar("E", bound=BaseException)


def strip_frames(error: E) -> E:
    """Cut frames of fusejit's files and entry stubs from the traceback of ``error``, in place.

    Returns ``error``. A traceback of nothing but such frames stays whole.
    """
    return _without(error, _is_ours)


def strip_segment_calls(error: E) -> E:
    """Cut the frames of split functions where they call a segment as well.

    The names in them are read before: see `fusejit.tracer.breaks.kept_names`.
    """
    return _without(error, _is_ours_or_calls_segment)


def strip_all_frames(error: E) -> E:
    """Cut fusejit's frames as `strip_frames` does, from causes and contexts too."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            pending += [strip_frames(one).__cause__, one.__context__]
    return error


def _without(error: E, is_cut: Callable[[TracebackType], bool]) -> E:
    kept: list[TracebackType] = []
    entry, in_succession = error.__traceback__, 0
    while entry is not None and in_succession < _MOST:
        in_succession += 1
        if is_cut(entry):
            in_succession = 0
        else:
            kept.append(entry)
        entry = entry.tb_next
    for one in reversed(kept):
        if one.tb_next is not entry:
            one.tb_next = entry
        entry = one
    if entry is not None:
        error.__traceback__ = entry
    return error


def _is_ours(entry: TracebackType) -> bool:
    return is_package_code(entry.tb_frame.f_code)


def _is_ours_or_calls_segment(entry: TracebackType) -> bool:
    return _is_ours(entry) or (entry.tb_next is not None and _calls_segment(entry))


def _calls_segment(entry: TracebackType) -> bool:
    """Whether a split function calls a segment there."""
    return _is_segment_call(entry.tb_frame.f_code, entry.tb_lasti)


@functools.lru_cache(maxsize=_MAX_PLACES)
def _is_segment_call(code: CodeType, at: int) -> bool:
    """Whether an instruction calls a segment: such a call has no extent in the source."""
    names = code.co_freevars + code.co_cellvars + code.co_varnames
    if not any(name.startswith(SEGMENTS) for name in names):
        return False
    place = next(itertools.islice(code.co_positions(), at // 2, None))
    line, end_line, column, end_column = place
    return (line, column) == (end_line, end_column) and column is not None
