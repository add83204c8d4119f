"""`PostponedTraces`: run calls in Python while their function may not be traced.

A failed trace may be tried again, since its cause may lie outside of the arguments. Failed traces
of a signature may take a fraction of the time of its interpreted calls
(`fusejit.support.budget.Allowance`). Until then the function's own statements serve calls of the
signature, and some of these calls are timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fusejit.codegen.launcher.call_guard import NEVER, CallGuard, Expected, are_like, expected_of
from fusejit.dispatch.entry_installer import EntryInstaller
from fusejit.dispatch.function_state import FunctionState
from fusejit.entry_stubs.entry_stub import MAX_AT_ONCE
from fusejit.ir.raw_reads import is_a
from fusejit.outcome import MISS, Outcome, OutcomeKind
from fusejit.stages import Compiled
from fusejit.support.budget import LOOK_SECONDS, calls_until_a_look


class PostponedTraces:
    """The calls of one function that Python runs until a trace is allowed again.

    Parameters
    ----------
    state : FunctionState
    installer : EntryInstaller
    """

    def __init__(self, state: FunctionState, installer: EntryInstaller) -> None:
        self._state = state
        self._installer = installer
        self._guard: CallGuard | None = None
        self._seconds = LOOK_SECONDS  # of the last call that was timed

    def look_at(self, args: tuple[Any, ...]) -> Any:
        """Run a checked call; `MISS` if a trace or a variant may serve it."""
        guard, stub = self._guard, self._state.entry_stub
        if guard is None:
            return stub.run(*args) if stub.resume(args) else MISS
        if self._state.variants.compiled or self._state.variants.all_segmented:
            return MISS  # one of these may serve it
        if not are_like(guard.expected, args) or not self.must_wait(args):
            return MISS
        return self.run(args)

    def must_wait(self, args: Sequence[Any]) -> bool:
        """Whether a call may not be traced now."""
        allowance = self._state.allowance
        if allowance.is_speculative and any(is_a(arg, np.ndarray) for arg in args):
            allowance.is_speculative = False  # functions of arrays are always worth a trace
        return allowance.is_spent(_signature_of(args))

    def run(self, args: tuple[Any, ...]) -> Any:
        """Run a call in Python, and let calls of its signature pass for a while."""
        is_speculative = self._state.allowance.is_speculative
        passed = 0 if self._guard is None else self._passed(self._guard)
        expected = [Expected(no_array=True) if is_speculative else expected_of(arg) for arg in args]
        allowed = calls_until_a_look(self._seconds, self._state.allowance.plain)
        most = min(MAX_AT_ONCE, allowed)
        unwatched, due = (most, NEVER) if is_speculative and most > 1 else (0, max(1, most))
        self._guard = CallGuard(expected, due, self._state.function, unwatched)
        self._installer.install_interpreted(self._guard, "postponed")
        self._state.variants.untraced = self
        start = time.perf_counter()
        try:
            return self._state.run_python(*args)
        finally:
            self._seconds = time.perf_counter() - start
            self._state.allowance.plain += self._seconds * (1 + passed)

    @contextmanager
    def tracing(self, args: Sequence[Any]) -> Iterator[Callable[[Any], None]]:
        """Record what a trace costs; the caller passes its outcome to the yielded function."""
        self._guard = self._state.variants.untraced = None
        allowance, start = self._state.allowance, time.thread_time()
        allowance.begin()

        def note(made: Any) -> None:
            if isinstance(made, Outcome):
                seconds = time.thread_time() - start
                allowance.waste(_signature_of(args), seconds)
                if made.kind is OutcomeKind.OUT_OF_TIME:
                    allowance.postpone(seconds)
            elif isinstance(made, Compiled):
                pays()

        with allowance.spending() as pays:
            yield note

    def reason(self) -> str:
        """Say why Python runs calls, for users."""
        if self._state.allowance.is_speculative:
            return " for now: the process has not run for long enough to try whether compiling pays"
        return " for now: failed traces took more than a fraction of the time of its calls"

    def _passed(self, guard: CallGuard) -> int:
        """How many calls have passed since the last one that was timed."""
        return self._state.entry_stub.at_once if guard.unwatched else max(0, guard.calls - 1)


def _signature_of(args: Sequence[Any]) -> tuple[Any, ...]:
    """The signature of a call: the classes, dtypes and ranks of its arguments."""
    return tuple(map(expected_of, args))
