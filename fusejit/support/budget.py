"""How long a compile may take: asked at each op, statement and stage, as nothing else would end it.

What counts is the processor time of the threads that compile, one after another: a machine that is
busy, a lock that another thread holds or a laptop that sleeps make no compile too long.

Examples
--------
>>> times = iter([0.0, 1.0, 4.0, 11.0])
>>> with compiling("f", 10.0, clock=lambda: next(times)):
...     enter("trace")
...     enter("LLVM")
...     check_budget()
Traceback (most recent call last):
    ...
fusejit.errors.OutOfTime: compiling took longer than 10 s (LLVM 7 s, trace 3 s)
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from fusejit.errors import OutOfTime
from fusejit.support.progress import shown

_SHOWN = 4
"""Stages that a message names: those that took longest."""

_LEAST = 0.01
"""Seconds of a stage that is worth naming."""


SPENT = ((0.0, 1.0), (0.8, 0.15), (1.5, 0.03))
"""Lines, as seconds and a share of the program's time: the lowest one limits speculation."""

INVESTED = ((0.0, 1.0), (1.5, 0.5))
"""The same, for compiling the graphs of speculative traces."""

LOADING_SECONDS = 0.6
"""Seconds that loading the compiler takes."""

LEAST_SECONDS = 0.3
"""Seconds that one speculative trace may take at least; the next one waits longer for it."""

WASTED_SECONDS = 0.2
"""Seconds that failed traces of one signature may take, whatever its calls have taken."""

MAX_WASTED_SIGNATURES = 10
"""How many signatures of one function may take as long."""

LOOK_SECONDS = 1e-2
"""Seconds that unchecked calls may take between two checked ones, at first."""

LOOK_SHARE = 0.1
"""Share of the time of all calls that unchecked ones may take between two checked ones."""

WASTED_SHARE = 0.1
"""Share of a function's interpreted time that its failed traces may take in the long run."""


class ProcessorTime:
    """The processor time of whichever thread is at work: each goes on where the last one stopped.

    What a thread has done before it first asks does not count: the import of a compiler, say.
    """

    def __init__(self) -> None:
        self._thread = 0
        self._offset = self._last = 0.0

    def __call__(self) -> float:
        """Seconds so far."""
        thread, own = threading.get_ident(), time.thread_time()
        if thread != self._thread:
            self._thread, self._offset = thread, self._last - own
        self._last = own + self._offset
        return self._last


class Budget:
    """The time that one compile may take, and where it went.

    Attributes
    ----------
    name : str
        Of the function.
    seconds : float
        How much there is.
    allowed : str
        How much there was for all parts of the function, for messages.
    stage : str
        What is being done.
    """

    def __init__(
        self, name: str, seconds: float, clock: Callable[[], float], allowed: str = ""
    ) -> None:
        self.name = name
        self.seconds = seconds
        self.allowed = allowed or f"{seconds:g} s"
        self.stage = ""
        self._clock = clock
        self._start = self._since = clock()
        self._by_stage: dict[str, float] = {}

    def enter(self, stage: str) -> None:
        """The next stage begins."""
        now = self._clock()
        self._account(now)
        self.stage = stage
        self._compare(now)

    def check(self, expected: float = 0.0) -> None:
        """Raise `OutOfTime` if the time is over, or would be after ``expected`` more seconds."""
        now = self._clock()
        self._compare(now)
        if now - self._start + expected > self.seconds:
            self._account(now)
            soon = f"{self.stage} would take {expected:.2g} s more"
            raise OutOfTime(f"compiling takes longer than {self.allowed}: {soon}{self._where()}")

    def note(self) -> None:
        """Put down what has passed, at the end of work that another thread does not see."""
        self._account(self._clock())

    def spent(self) -> float:
        """Seconds so far."""
        return self._clock() - self._start

    def _account(self, now: float) -> None:
        if self.stage:
            self._by_stage[self.stage] = self._by_stage.get(self.stage, 0.0) + now - self._since
        self._since = now

    def _compare(self, now: float) -> None:
        if now - self._start > self.seconds:
            self._account(now)
            raise OutOfTime(f"compiling took longer than {self.allowed}{self._where()}")

    def _where(self) -> str:
        longest = sorted(self._by_stage.items(), key=lambda item: -item[1])[:_SHOWN]
        parts = [f"{stage} {seconds:.2g} s" for stage, seconds in longest if seconds > _LEAST]
        return f" ({', '.join(parts)})" if parts else ""


class Allowance:
    """What the parts of one function may take together: its segments, and functions they call.

    Attributes
    ----------
    seconds : float
        How much there was at first.
    left : float
        Seconds that no compile has taken yet.
    made : int
        How many variants they have.
    is_speculative : bool
        Whether the function may not be worth a trace.
    plain : float
        Seconds of interpreted calls.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_speculative = False
        self.renew()

    def renew(self) -> None:
        """Start again, as for another function."""
        self.left = self.seconds
        self.made = 0
        self.plain = 0.0
        self._due = 0.0  # seconds of interpreted calls, before which none is traced again
        self._least = 0.0  # seconds that the next speculative trace needs
        self._wasted: dict[Hashable, float] = {}

    def waste(self, signature: Hashable, seconds: float) -> None:
        """Record a failed trace."""
        self._wasted[signature] = self._wasted.get(signature, 0.0) + seconds

    def begin(self) -> None:
        """A trace begins: only if it runs out of time, too, the next one needs more."""
        self._least = 0.0

    def postpone(self, seconds: float) -> None:
        """Record a speculative trace that has ended for lack of time: the next waits twice as long.

        So a function that is never compiled is traced ever more rarely. It has twice as much time,
        too.
        """
        self._due = max(2 * self.plain, self.plain + seconds)
        self._least = 2 * seconds

    def is_spent(self, signature: Hashable) -> bool:
        """Whether calls of a signature may not be traced now."""
        if self.is_speculative and self.plain < self._due:
            return True
        paid = WASTED_SHARE * self.plain
        if self._wasted.get(signature, 0.0) > WASTED_SECONDS + paid:
            return True
        if sum(self._wasted.values()) > MAX_WASTED_SIGNATURES * WASTED_SECONDS + paid:
            return True
        return self.is_speculative and not speculation.affords(self._least)

    def limit(self, seconds: float) -> float:
        """Limit the ``seconds`` of a trace and its compilation to what it may take now."""
        return (
            min(seconds, max(LEAST_SECONDS, speculation.left())) if self.is_speculative else seconds
        )

    @contextmanager
    def spending(self) -> Iterator[Callable[[], None]]:
        """Record how long some work takes, if it is speculative: see `Speculation.spending`."""
        if not self.is_speculative:
            yield lambda: None
            return
        with speculation.spending() as pays:
            yield pays

    @contextmanager
    def investing(self, budget: Budget, seconds: float) -> Iterator[None]:
        """Give a compile more time, up to ``seconds`` in all, as its trace has given a graph."""
        if not self.is_speculative:
            yield
            return
        rest = max(budget.seconds - budget.spent(), speculation.investable())
        budget.seconds = min(seconds, budget.spent() + rest)
        with speculation.investing():
            yield


def calls_until_a_look(seconds_a_call: float, seconds: float) -> int:
    """The number of calls until one is checked again, if all so far have taken some seconds."""
    return int(max(LOOK_SECONDS, LOOK_SHARE * seconds) / max(seconds_a_call, 1e-9))


def compiler_is_loaded() -> bool:
    """Whether a trace would not load the compiler first."""
    return "fusejit.dispatch.dispatcher" in sys.modules


class Speculation:
    """The time that a process spends on functions that may not be worth a trace.

    At first it takes as long as the program itself has run: whoever stops at any moment has waited
    for twice as long as without it, at most. Then it takes a share, and at last a small one, so a
    program of a hundred small functions does not wait for a hundred traces. A trace that gives a
    variant has most likely been worth it: it counts as an investment, as its compilation does,
    which may take more.

    Attributes
    ----------
    spent : float
        Seconds of processor time that traces in vain took, and the loading of the compiler.
    invested : float
        Seconds that other traces, and compiling graphs, took.
    """

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self._clock = clock
        self._start: float | None = None
        self.spent = self.invested = 0.0

    def renew(self) -> None:
        """Start again in a forked child, which has a new clock."""
        self._start, self.spent, self.invested = None, 0.0, 0.0

    def affords(self, seconds: float = 0.0) -> bool:
        """Whether there is time for one more such function now, if it needs so much."""
        return self.left() > seconds + (0 if compiler_is_loaded() else LOADING_SECONDS)

    def left(self) -> float:
        """Seconds that may be spent now."""
        return self._limited(SPENT) - self.spent

    def investable(self) -> float:
        """Seconds that the compilation of a graph may take now."""
        return self._limited(INVESTED) - self.invested

    def _limited(self, lines: tuple[tuple[float, float], ...]) -> float:
        plain = self._plain()
        return min(seconds + share * plain for seconds, share in lines)

    def _plain(self) -> float:
        """Seconds of the program itself."""
        ours = self.spent + self.invested
        return 0.0 if self._start is None else self._clock() - self._start - ours

    @contextmanager
    def spending(self) -> Iterator[Callable[[], None]]:
        """Record how long something takes; the clock of the program starts at the first time.

        Yields a function that declares it to be an investment.
        """
        if self._start is None:
            self._start = self._clock()
        start, before = time.thread_time(), self.spent + self.invested

        def seconds() -> float:
            return time.thread_time() - start - (self.spent + self.invested - before)

        def pays() -> None:
            self.invested += seconds()

        try:
            yield pays
        finally:
            self.spent += seconds()

    @contextmanager
    def investing(self) -> Iterator[None]:
        """Record how long the compilation of a graph takes."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.invested += time.thread_time() - start


speculation = Speculation()
"""The speculation of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=speculation.renew)


_current: ContextVar[Budget | None] = ContextVar("fusejit_budget", default=None)


@contextmanager
def compiling(
    name: str, seconds: float | Allowance, clock: Callable[[], float] | None = None
) -> Iterator[Budget]:
    """A compile of the function ``name`` that may take ``seconds``, or what is left of them."""
    allowed = ""
    if not isinstance(seconds, Allowance):
        limit = seconds
    else:
        limit = seconds.limit(seconds.left)
        allowed = "" if seconds.is_speculative else f"{seconds.seconds:g} s in all"
    budget = Budget(name, limit, clock or ProcessorTime(), allowed)
    token = _current.set(budget)
    try:
        with shown(name, lambda: budget.stage):
            yield budget
    finally:
        _current.reset(token)
        if isinstance(seconds, Allowance):
            seconds.left = max(0.0, seconds.left - budget.spent())


def enter(stage: str) -> None:
    """Say which stage of the compile begins; raises `OutOfTime` if no time is left for it."""
    budget = _current.get()
    if budget is not None:
        budget.enter(stage)


def check_budget(expected: float = 0.0) -> None:
    """Raise `OutOfTime` where the compile, if there is one, has taken too long.

    ``expected`` is an estimate of what comes next, where that cannot be interrupted.
    """
    budget = _current.get()
    if budget is not None:
        budget.check(expected)


def note_time() -> None:
    """Put down what has passed: see `Budget.note`."""
    budget = _current.get()
    if budget is not None:
        budget.note()
