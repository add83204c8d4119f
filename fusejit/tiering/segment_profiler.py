"""What a split function becomes once it is known which of its segments pay.

A segment of a few operations on numbers, or on short arrays, costs more to hand over than it gains
(`fusejit.tiering.cost_estimate`). When the first call has ended, the segments that do not pay are
put back: their statements stand in the split function again, so a loop of nothing but such
segments runs in Python as a whole. When nothing pays, the function itself runs.

What pays depends on sizes. So a settled function has a guard (`launcher.call_guard`): a call
with larger arguments, and call 16, 64, 256 .. go through the segments again, each of which decides
for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from fusejit.codegen.launcher.call_guard import (
    CONTAINERS,
    NEVER,
    UNLIMITED,
    CallGuard,
    Expected,
    unwatched_calls,
    unwatched_open,
)
from fusejit.dataclass import replace
from fusejit.ir.raw_reads import is_a
from fusejit.ir.raw_reads import size_of as elements_of
from fusejit.support.interrupts import is_from_handler
from fusejit.tiering.size_arguments import without_others
from fusejit.tiering.split_trial import SplitTrial
from fusejit.tracer.breaks.split_result import InterpretedParts

FIRST_REPROFILE = 16  # calls, before a settled function goes through its segments again
REPROFILE_BACKOFF = 4  # times as many calls each time
BACKOFF_OF_TRIALS = 16  # times as many calls, where the clock has found Python faster as a whole
SIZE_GROWTH = 4  # times as large as what was seen
MAX_SEGMENT_DEPTH = (
    8  # calls within each other through segments; a recursion that is deeper is Python's
)
FEW = 16  # what counts as small in any case

_LAZY = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR

Run = Callable[..., Any]
Serve = Callable[[Run, CallGuard | None], None]


class Reprofilable(Protocol):
    """What may pay or not, and changes with sizes."""

    @property
    def was_called(self) -> bool:
        """Whether it is known what arrives."""

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change whether it pays."""

    def request_reprofile(self) -> None:
        """Check again whether it pays, at the next call."""


class ProfiledSegment(Reprofilable, Protocol):
    """A segment, as settling sees it."""

    @property
    def name(self) -> str:
        """Which one it is."""

    @property
    def is_interpreted(self) -> bool:
        """Whether Python runs its statements."""

    @property
    def may_be_tried(self) -> bool:
        """Whether Python computes the very bits that its kernels do."""

    @property
    def may_take_long(self) -> bool:
        """Whether Python's form of a long call is not much longer."""


class ProfiledCall(Reprofilable, Protocol):
    """A call of Python's of which the function may be fused."""

    @property
    def number(self) -> int:
        """Which one it is."""

    @property
    def is_fused(self) -> bool:
        """Whether what it calls is fused, and pays."""

    @property
    def may_be_tried(self) -> bool:
        """Whether Python computes the very bits that what it calls does."""


class SegmentProfiler:
    """From the split function to the one that serves calls.

    Parameters
    ----------
    split : callable
        Calls all segments.
    original : callable
        The function itself; takes the parameters by position.
    remade : callable
        The split function without what Python runs.
    parts : sequence of ProfiledSegment
    sites : sequence of ProfiledCall
    function : FunctionType, optional
        That of the user's whose code and default values must stay what they are.
    expected : sequence of Expected, optional
        What all arguments are like for which the function was split.

    Attributes
    ----------
    serve : callable
        Receives the function that serves calls from now on, and the guard of its calls once
        profiling has ended.
    runs_interpreted : bool
        Whether the function itself runs.
    depends_on_sizes : bool
        Whether larger arguments may change that.
    """

    def __init__(
        self,
        split: Run,
        original: Run,
        remade: Callable[[InterpretedParts], Run],
        parts: Sequence[ProfiledSegment],
        sites: Sequence[ProfiledCall],
        function: FunctionType | None = None,
        expected: Sequence[Expected] | None = None,
    ) -> None:
        self.split = split
        self.original = original
        self.remade = remade
        self.parts = parts
        self.sites = sites
        self.function = function
        self.expected = expected
        self.serve: Serve = lambda run, guard: None
        self.runs_interpreted = False
        self.depends_on_sizes = False
        self.runs: list[Run] = [split]  # that have served calls, for the frames of their code
        self._limits: list[int] = []
        self._no_arrays: list[bool] = []
        self._guard_now: CallGuard | None = None
        self._installed: InterpretedParts | None = None
        self._next_reprofile = FIRST_REPROFILE
        self._depth = 0
        self._trial: SplitTrial | None = None
        self._python_is_faster = False  # than the split function as a whole, by the clock
        self._looks, self._has_returned = 0, False
        self._is_asked = False  # the next call decides again: functions may call each other

    def first(self, *args: Any) -> Any:
        """A call through all segments; then it is known which of them pay.

        So it is for a call that raises, as the last one of a generator does: those that it has not
        come to stay segments, unless the next call that is looked at raises as well.
        """
        if self._depth >= MAX_SEGMENT_DEPTH:
            return self.original(*args)
        self._depth += 1
        try:
            result = self.split(*args)
        except Exception as error:
            self._depth -= 1
            if not isinstance(error, RecursionError | MemoryError) and not is_from_handler(error):
                self._decide(args, has_returned=False)
            raise
        except BaseException:
            self._depth -= 1
            raise
        self._depth -= 1
        self._decide(args)
        return result

    def again(self) -> None:
        """What is called was called for the first time, or changed: the next call decides again."""
        if not self._depth and not self._is_asked and self._now() != self._installed:
            self._reprofile_next_call()

    def request_reprofile(self) -> None:
        """Check again for all segments whether they pay, at the next call."""
        self._python_is_faster = False
        every: list[Reprofilable] = [*self.parts, *self.sites]
        for one in every:
            one.request_reprofile()
        self._reprofile_next_call()

    def _reprofile_next_call(self) -> None:
        if self._installed is not None:
            self._is_asked, self._trial = True, None
            self.serve(self.runs[-1], self._guard(due=0))

    def reprofile_call(self, *args: Any) -> Any:
        """A call that the guard does not let pass.

        What it calls of the function itself passes meanwhile: a recursion has one frame a call.
        """
        if self._is_due:
            self.request_reprofile()
        self._is_asked = True
        self.serve(self.runs[-1], self._guard())
        try:
            return self.first(*args)
        except BaseException:
            if self._is_asked:
                self._reprofile_next_call()
            raise

    def _decide(self, args: Sequence[Any], *, has_returned: bool = True) -> None:
        self._looks += 1
        self._has_returned |= has_returned
        self._trial = None
        self._settle(args)
        self._try_out()

    def _settle(self, args: Sequence[Any]) -> None:
        """Serve calls by what pays now."""
        sizes = without_others(self.function, args)
        seen = [*map(limit_of, sizes)]
        self._no_arrays = [not is_a(arg, np.ndarray) for arg in args]
        self._limits = [max(pair) for pair in zip(seen, self._limits or seen, strict=True)]
        interpreted = self._now()
        self._is_asked = False
        if interpreted != self._installed:
            self._installed = interpreted
            is_left = len(interpreted.segments) < len(self.parts)
            is_left |= len(interpreted.calls) < len(self.sites)
            self.runs_interpreted = not is_left
            left: list[Reprofilable] = [p for p in self.parts if p.is_interpreted]
            left += [s for s in self.sites if s.was_called and not s.is_fused]
            self.depends_on_sizes = any(each.depends_on_sizes for each in left)
            self.depends_on_sizes |= self._python_is_faster
            run = self.remade(interpreted) if is_left else self.original
            if not interpreted.segments and not interpreted.calls:
                run = self.split
            self.runs.append(run)
        if not self.depends_on_sizes and (self._has_returned or not self._are_unreached):
            self._guard_now = self._guard(unwatched=unwatched_open(args, self.expected))
        else:
            due = self._next_reprofile
            free = unwatched_calls(args, due, is_open=False, sizes=sizes)
            self._guard_now = self._guard(self._limits, due, free)
            self._next_reprofile = min(self._next_reprofile * REPROFILE_BACKOFF, NEVER)
        self.serve(self.runs[-1], self._guard_now)

    def _try_out(self) -> None:
        """Have the clock compare the split function with Python as a whole, where it may."""
        own, guard = self.runs[-1], self._guard_now
        compiled = [part for part in self.parts if not part.is_interpreted and part.was_called]
        code = self.original.__code__ if isinstance(self.original, FunctionType) else None
        is_lazy = code is None or bool(code.co_flags & _LAZY)
        if own is self.original or is_lazy or not compiled or guard is None:
            return
        are_exact = all(part.may_be_tried for part in compiled)
        are_exact = are_exact and all(site.may_be_tried for site in self.sites)
        if self._are_unreached or not are_exact:
            return
        self._trial = trial = SplitTrial(
            own,
            self.original,
            lambda run: self.serve(run, guard) if self._trial is trial else None,
            self._decided,
            tries_long=all(part.may_take_long for part in compiled),
        )
        self.serve(trial.launch, guard)

    def _decided(self, python_is_faster: bool, args: tuple[Any, ...]) -> None:
        """The clock has decided."""
        self._trial, self._python_is_faster = None, python_is_faster
        if python_is_faster:
            self._next_reprofile = min(self._next_reprofile * BACKOFF_OF_TRIALS, NEVER)
        self._settle(args)

    def _now(self) -> InterpretedParts:
        """What does not pay, and what no call comes to, as all of them raise before."""
        if self._python_is_faster:
            names, numbers = (p.name for p in self.parts), (s.number for s in self.sites)
            return InterpretedParts(frozenset(names), frozenset(numbers))
        only_raises = self._looks > 1 and not self._has_returned
        unreached = [p for p in self.parts if only_raises and not p.was_called]
        uncalled = [s for s in self.sites if only_raises and not s.was_called]
        return InterpretedParts(
            frozenset(p.name for p in self.parts if p.is_interpreted) | {p.name for p in unreached},
            frozenset(s.number for s in self.sites if s.was_called and not s.is_fused)
            | {s.number for s in uncalled},
        )

    @property
    def _are_unreached(self) -> bool:
        """Whether no call has come to some parts yet."""
        return not all(part.was_called for part in (*self.parts, *self.sites))

    @property
    def _is_due(self) -> bool:
        """Whether so many calls have come that the segments are to be checked again."""
        return self._guard_now is not None and self._guard_now.calls >= self._guard_now.due

    def _guard(self, limits: Sequence[int] = (), due: int = NEVER, unwatched: int = 0) -> CallGuard:
        like = self.expected or [Expected(no_array=no_array) for no_array in self._no_arrays]
        if limits:
            like = [replace(one, limit=n) for one, n in zip(like, limits, strict=True)]
        return CallGuard(like, due, self.function, unwatched)


def limit_of(obj: Any) -> int:
    """How large an argument may become before it is looked at again; None is no size."""
    return UNLIMITED if obj is None else max(FEW, SIZE_GROWTH * size_of(obj))


def size_of(obj: Any) -> int:
    """How large an argument is: elements, items, or what an integer may be the length of."""
    if is_a(obj, np.ndarray):
        return elements_of(obj)
    if type(obj) is int:
        return abs(obj) if abs(obj) <= UNLIMITED else 0  # the length of nothing
    return len(obj) if type(obj) in CONTAINERS else 0
