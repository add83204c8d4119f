"""`PostponedTraces`: calls that Python runs, as their function has had its share of traces for now.

A trace that ends in nothing may be tried again, as what ended it may lie outside of the arguments.
It has to be worth it: what traces in vain have cost is a fraction of what Python has taken for the
calls (`fusejit.budget.Allowance`). Meanwhile the function's own statements serve calls of that
kind, and some of these are timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fusejit.codegen.launcher.call_guard import (
    NEVER,
    SAMPLE,
    CallGuard,
    Expected,
    are_like,
    expected_of,
)
from fusejit.dispatch.entry_installer import EntryInstaller
from fusejit.dispatch.function_state import FunctionState
from fusejit.ir.raw_reads import is_a
from fusejit.outcome import MISS, Outcome


class PostponedTraces:
    """What of one function is left to Python for now.

    Parameters
    ----------
    state : FunctionState
    installer : EntryInstaller
    """

    def __init__(self, state: FunctionState, installer: EntryInstaller) -> None:
        self._state = state
        self._installer = installer
        self._guard: CallGuard | None = None

    def look_at(self, args: tuple[Any, ...]) -> Any:
        """Run one of the calls that are looked at among many that pass; `MISS` for others."""
        guard, stub = self._guard, self._state.entry_stub
        if guard is None:
            return stub.run(*args) if stub.resume(args) else MISS
        if self._state.variants.compiled or self._state.variants.all_segmented:
            return MISS  # one of these may serve it
        if not are_like(guard.expected, args) or not self.must_wait(args):
            return MISS
        return self.run(args)

    def must_wait(self, args: Sequence[Any]) -> bool:
        """Whether a call is not to be traced now."""
        allowance = self._state.allowance
        if allowance.is_guess and any(is_a(arg, np.ndarray) for arg in args):
            allowance.is_guess = False  # functions of arrays are worth it
        return allowance.is_spent(_kinds(args))

    def run(self, args: tuple[Any, ...]) -> Any:
        """Run a call that is not traced now, and have others like it pass for a while."""
        is_guess = self._state.allowance.is_guess
        passed = 0 if self._guard is None else self._passed(self._guard)
        expected = [Expected(no_array=True) if is_guess else expected_of(arg) for arg in args]
        unwatched, due = (SAMPLE, NEVER) if is_guess else (0, SAMPLE)
        self._guard = CallGuard(expected, due, self._state.function, unwatched)
        self._installer.install_interpreted(self._guard, "postponed")
        self._state.variants.untraced = self
        start = time.perf_counter()
        try:
            return self._state.run_python(*args)
        finally:
            self._state.allowance.plain += (time.perf_counter() - start) * (1 + passed)

    @contextmanager
    def tracing(self, args: Sequence[Any]) -> Iterator[Callable[[Any], None]]:
        """Put down what a trace has cost, and by what is told of it whether it was in vain."""
        self._guard = self._state.variants.untraced = None
        allowance, start = self._state.allowance, time.thread_time()

        def note(made: Any) -> None:
            if isinstance(made, Outcome):
                allowance.waste(_kinds(args), time.thread_time() - start)

        with allowance.spending():
            yield note

    def told(self) -> str:
        """Why Python runs calls, for users."""
        if self._state.allowance.is_guess:
            return " for now: the process has not run for long enough to try whether compiling pays"
        return " for now: traces that ended in nothing took more than a fraction of its calls"

    def _passed(self, guard: CallGuard) -> int:
        """How many calls have passed since the last one that was timed."""
        return self._state.entry_stub.at_once if guard.unwatched else guard.calls


def _kinds(args: Sequence[Any]) -> tuple[Any, ...]:
    """What calls agree in of which a trace in vain says something."""
    return tuple(map(expected_of, args))
