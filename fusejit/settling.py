"""What an opened function becomes once it is known which of its segments pay.

A segment of a few operations on numbers, or on short arrays, costs more to hand over than it gains
(`fusejit.profit`). When the first call has ended, the segments that do not pay are put back: their
statements stand in the opened function again, so a loop of nothing but such segments is Python's as
a whole. When nothing pays, the function itself runs.

What pays depends on sizes. So a settled function looks at those of its arguments, and at how often
it was called: a call with larger ones, and call 16, 64, 256 .. go through the segments again, each
of which decides for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from fusejit.tracer.outline import Retired

FIRST_LOOK = 16  # calls, before a settled function goes through its segments again
LATER_LOOKS = 4  # times as many calls each time
ROOM = 4  # times as large as what was seen
DEEPEST = 8  # calls within each other through segments; a recursion that is deeper is Python's
FEW = 16  # what counts as small in any case
_HELD = (str, bytes, bytearray, list, tuple, dict, set, frozenset)

Run = Callable[..., Any]


class Part(Protocol):
    """A segment, as settling sees it."""

    @property
    def name(self) -> str:
        """Which one it is."""

    @property
    def was_called(self) -> bool:
        """Whether it is known what arrives."""

    @property
    def is_retired(self) -> bool:
        """Whether Python runs its statements."""

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""

    def look_again(self) -> None:
        """Ask anew whether compiling it pays, at the next call."""


class Site(Protocol):
    """A call of Python's of which the function may be fused."""

    @property
    def number(self) -> int:
        """Which one it is."""

    @property
    def was_called(self) -> bool:
        """Whether it is known what it calls."""

    @property
    def is_fused(self) -> bool:
        """Whether that is fused, and pays."""


class Settling:
    """From the opened function to the one that serves calls.

    Parameters
    ----------
    opened : callable
        Calls all segments.
    original : callable
        The function itself; takes the parameters by position.
    remade : callable
        The opened function without what is retired.
    parts : sequence of Part
    sites : sequence of Site

    Attributes
    ----------
    serve : callable
        What is told which function serves calls from now on.
    is_plain : bool
        Whether the function itself runs.
    depends_on_sizes : bool
        Whether larger arguments may change that.
    """

    def __init__(
        self,
        opened: Run,
        original: Run,
        remade: Callable[[Retired], Run],
        parts: Sequence[Part],
        sites: Sequence[Site],
    ) -> None:
        self.opened = opened
        self.original = original
        self.remade = remade
        self.parts = parts
        self.sites = sites
        self.serve: Callable[[Run], None] = lambda run: None
        self.is_plain = False
        self.depends_on_sizes = False
        self.runs: list[Run] = [opened]  # that have served calls, for the frames of their code
        self._limits: list[int] = []
        self._retired: Retired | None = None
        self._next_look = FIRST_LOOK
        self._depth = 0

    def first(self, *args: Any) -> Any:
        """A call through all segments; then it is known which of them pay."""
        if self._depth >= DEEPEST:
            return self.original(*args)
        self._depth += 1
        try:
            result = self.opened(*args)
        finally:
            self._depth -= 1
        self._settle(args)
        return result

    def again(self) -> None:
        """A segment was called for the first time: the next call decides anew."""
        if self._retired is not None:
            self.serve(self.first)

    def look_again(self) -> None:
        """Ask all segments anew whether they pay, at the next call."""
        for part in self.parts:
            part.look_again()
        self.again()

    def _settle(self, args: Sequence[Any]) -> None:
        seen = [max(FEW, ROOM * size_of(arg)) for arg in args]
        self._limits = [max(pair) for pair in zip(seen, self._limits or seen, strict=True)]
        retired = Retired(
            frozenset(p.name for p in self.parts if p.is_retired),
            frozenset(s.number for s in self.sites if s.was_called and not s.is_fused),
        )
        if retired != self._retired:
            self._retired = retired
            is_left = any(not p.is_retired for p in self.parts) or any(
                s.is_fused or not s.was_called for s in self.sites
            )
            self.is_plain = not is_left
            self.depends_on_sizes = any(p.depends_on_sizes for p in self.parts if p.is_retired)
            run = self.remade(retired) if is_left else self.original
            if not retired.segments and not retired.calls:
                run = self.opened
            self.runs.append(run)
        run = self.runs[-1]
        self.serve(self._guarded(run) if self.depends_on_sizes else run)

    def _guarded(self, run: Run) -> Run:
        """``run``, but now and then, and for larger arguments, the opened function."""
        limits, first = self._limits, self.first
        due, count = self._next_look, 0
        self._next_look *= LATER_LOOKS

        def guarded(*args: Any) -> Any:
            nonlocal count
            count += 1
            if count >= due:
                self.look_again()
                return first(*args)
            if exceeds(args, limits):
                return first(*args)
            return run(*args)

        return guarded


def size_of(obj: Any) -> int:
    """How large an argument is: elements, items, or what an integer may be the length of."""
    if isinstance(obj, np.ndarray):
        return obj.size
    if isinstance(obj, int):
        return abs(obj)
    return len(obj) if isinstance(obj, _HELD) else 0


def exceeds(args: Iterable[Any], limits: Iterable[int]) -> bool:
    """Whether one of the arguments is larger than its limit."""
    for value, limit in zip(args, limits, strict=True):
        kind = value.__class__
        if kind is np.ndarray:
            if value.size > limit:
                return True
        elif kind is int:
            if value > limit:
                return True
        elif kind in _HELD and len(value) > limit:
            return True
    return False
