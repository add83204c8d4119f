"""`PostponedTraces`: calls that Python runs, as their function has had its share of traces for now.

A trace that ends in nothing may be tried again, as what ended it may lie outside of the arguments.
It has to be worth it: what traces in vain have cost is a fraction of what Python has taken for the
calls (`fusejit.budget.Allowance`). Meanwhile the function's own statements serve calls, and some of
these are timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fusejit.codegen.launcher.call_guard import SAMPLE, CallGuard, Expected
from fusejit.dispatch.entry_installer import EntryInstaller
from fusejit.dispatch.function_state import FunctionState
from fusejit.entry_stubs.entry_stub import MAX_AT_ONCE
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
        self._waits = False

    def look_at(self, args: tuple[Any, ...]) -> Any:
        """Run one of the calls that are looked at among many that pass; `MISS` for others."""
        stub, allowance = self._state.entry_stub, self._state.allowance
        passed = stub.at_once
        if not self._waits:
            return stub.run(*args) if stub.resume(args, MAX_AT_ONCE) else MISS
        if not allowance.is_spent or not stub.resume(args, SAMPLE):
            return MISS
        return self._timed(stub.run, args, passed)

    def run(self, args: tuple[Any, ...]) -> Any:
        """Run a call that is not traced now, and have others like it pass."""
        self._waits = True
        anything = [Expected(no_array=type(arg) is not np.ndarray) for arg in args]
        guard = CallGuard(anything, function=self._state.function, unwatched=SAMPLE)
        self._installer.install_python(guard)
        return self._timed(self._state.run_python, args)

    @contextmanager
    def tracing(self) -> Iterator[Callable[[Any], None]]:
        """Put down what a trace has cost, and by what is told of it whether it was in vain."""
        self._waits = False
        start = time.thread_time()

        def note(made: Any) -> None:
            if isinstance(made, Outcome):
                self._state.allowance.wasted += time.thread_time() - start

        with self._state.allowance.spending():
            yield note

    def _timed(self, run: Callable[..., Any], args: tuple[Any, ...], passed: int = 0) -> Any:
        start = time.perf_counter()
        try:
            return run(*args)
        finally:
            self._state.allowance.plain += (time.perf_counter() - start) * (1 + passed)
