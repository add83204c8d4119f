"""The parts of a split function in the user's lines, those of inner splits included."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.segments.segmented import SegmentCall, SegmentedFunction

GAINS_NOTHING = "compiling would gain nothing"


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of a split function.

    Attributes
    ----------
    file, first, last
        Where it stands.
    reason : str
        Why Python runs it; empty for compiled parts.
    state : Dispatcher or None
        What is known of a compiled part; None before its first call.
    """

    file: str
    first: int
    last: int
    reason: str = ""
    state: Any = None

    @property
    def lines(self) -> str:
        """``7``, or ``7 to 9``."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


def parts_of(segmented: SegmentedFunction) -> list[Part]:
    """The parts in the order of their lines; a line that Python runs stands there once."""
    found: dict[tuple[str, int, int, bool], Part] = {}
    for part in _all_parts(segmented):
        found.setdefault((part.file, part.first, part.last, bool(part.reason)), part)
    return sorted(found.values(), key=lambda part: (part.file, part.first, part.last))


def parts_of_function(state: Any) -> Part | SegmentedFunction:
    """A function that Python calls: its split form, or itself as one part."""
    inner: SegmentedFunction | None = state.variants.newest_segmented
    code = state.function.__code__
    lines = [line for _, _, line in code.co_lines() if line is not None]
    first, last = code.co_firstlineno, max(lines)
    if inner is not None and not inner.runs_interpreted:
        return inner
    reason = _why_interpreted(state) if state.tiering.runs_interpreted else ""
    return Part(code.co_filename, first, last, reason, state)


def _all_parts(segmented: SegmentedFunction) -> Iterator[Part]:
    for boundary in segmented.boundaries:
        yield Part(boundary.file, boundary.line, boundary.line, boundary.reason)
    for call in segmented.segments:
        yield from _parts_of_segment(call)


def _parts_of_segment(call: SegmentCall) -> Iterator[Part]:
    function: FunctionType = call.helper.what.function
    file, (first, last) = function.__code__.co_filename, call.lines
    inner = None
    if call.state is not None:
        inner = call.state.variants.newest_segmented
    if inner is not None:
        yield from _all_parts(inner)
        is_python = not inner.calls_something
        if inner.runs_interpreted and not is_python:
            yield Part(file, first, last, GAINS_NOTHING)
    elif call.is_interpreted:
        yield Part(file, first, last, _why_interpreted(call.state))
    else:
        yield Part(file, first, last, state=call.state)


def _why_interpreted(state: Any) -> str:
    """Why Python runs a part that could be compiled."""
    cost = "" if state is None else state.variants.interpreted
    return f"{GAINS_NOTHING}: {cost}" if cost else GAINS_NOTHING
