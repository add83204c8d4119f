"""`EntryInstaller`: installs segments, or the function's own statements, in the entry stub."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any

from fusejit.codegen.launcher.call_guard import CallGuard, Expected
from fusejit.dispatch.call_signatures import NEW_VALUE_REASON, CallSignatures
from fusejit.dispatch.function_state import FunctionState
from fusejit.dispatch.inline_cache import CacheEntry, Priority, guarded
from fusejit.entry_stubs.entry_stub import no_variant
from fusejit.entry_stubs.stub_code import FunctionBody
from fusejit.outcome import MISS, Outcome
from fusejit.segments.segmented import SegmentedFunction

FIRST_UNASKED = 16  # calls that pass at first, of which none is looked at
UNASKED = 4096  # of all ways that Python serves calls, before these are asked again


class EntryInstaller:
    """Installs in the entry stub what serves calls of a signature that no variant serves.

    Parameters
    ----------
    state : FunctionState
    """

    def __init__(self, state: FunctionState) -> None:
        self._variants = state.variants
        self._function = state.function
        self._entry_stub = state.entry_stub
        self._state = state
        self._own_body: tuple[CodeType, FunctionBody] | None = None

    # -- segments -------------------------------------------------------------------------------
    def run_segments(self, *args: Any) -> Any:
        """The function in segments, unless it was changed."""
        segmented = self._variants.segmented
        if segmented is None or not self._state.identity.holds():
            return MISS
        return segmented.run(*args)

    def install_segments(self, segmented: SegmentedFunction) -> None:
        """Have segments serve calls, among others; alone unless a variant does."""
        if segmented not in self._variants.all_segmented:
            return
        served = segmented.served
        if served is not None:
            body, guard = served

            def alone() -> bool:
                if self._variants.compiled or segmented.served is not served:
                    return False
                self._entry_stub.install_body(body, guard)
                return True

            self._state.inline_cache.record(
                CacheEntry(
                    guarded(guard, body.run),
                    Priority.SEGMENTS,
                    guard,
                    alone,
                    is_python=segmented.runs_interpreted,
                )
            )
        elif not self._variants.compiled:
            is_for_all = segmented is self._variants.segmented
            self._entry_stub.install_launcher(self.run_segments if is_for_all else no_variant)

    # -- the function itself --------------------------------------------------------------------
    def install_interpreted(self, guard: CallGuard, key: object = None) -> None:
        """Have Python serve calls that a guard lets pass, among others.

        Of two with one ``key`` the newer one does; without one each has its own.
        """
        way = guarded(guard, self._state.run_python)
        alone = partial(self.install_python, guard)
        key = guard if key is None else key
        entry = CacheEntry(way, Priority.PYTHON, key, alone, is_python=True)
        self._state.inline_cache.record(entry)

    def install_python(self, guard: CallGuard) -> bool:
        """Have the function's own statements serve calls, unless a variant does."""
        if self._variants.compiled:
            return False
        self._entry_stub.install_body(self.own_body(), guard)
        return True

    def install_unasked(self) -> None:
        """Have the function's own statements serve some calls without asking about arguments."""
        anything = [Expected(no_array=True) for _ in self._state.arguments.signature.parameters]
        guard = CallGuard(anything, UNASKED, self._function, unwatched=FIRST_UNASKED)
        self.install_python(guard)

    def own_body(self) -> FunctionBody:
        """The statements of the function."""
        code = self._function.__code__
        if self._own_body is None or self._own_body[0] is not code:
            self._own_body = code, FunctionBody.of(self._function, self._state.run_python)
        return self._own_body[1]

    def install_fallback(
        self, args: tuple[Any, ...], outcome: Outcome, is_interpreted: Callable[[], bool]
    ) -> None:
        """Have the function's own statements serve calls that always fall back."""
        function = self._function

        def alone() -> bool:
            if self._variants.compiled or self._variants.segmented or is_interpreted():
                return False
            guard = self._state.fallback_cache.guard(args, function)
            if guard is None:
                return False
            self._variants.passed = str(outcome), guard
            return self.install_python(guard)

        def run(outcome: Outcome) -> Callable[..., Any]:
            counts, python, cause = self._variants.fallbacks, self._state.run_python, str(outcome)

            def fallback(*args: Any) -> Any:
                counts[cause] += 1
                return python(*args)

            return fallback

        passing = self._state.fallback_cache.passing(args, function, run)
        if passing is not None:
            key, call = passing
            self._state.inline_cache.record(CacheEntry(call, Priority.FALLBACK, key, alone))

    def install_waiting(self, signatures: CallSignatures, args: tuple[Any, ...]) -> None:
        """Have the function's own statements serve calls with ever other texts for a while."""
        counts, python = self._variants.fallbacks, self._state.run_python
        counts[NEW_VALUE_REASON] += 1
        guard = signatures.ever_other(args, self._function)
        if guard is None:
            return

        def waiting(*args: Any) -> Any:
            counts[NEW_VALUE_REASON] += 1
            return python(*args)

        alone = partial(self.install_python, guard)
        way = CacheEntry(guarded(guard, waiting), Priority.FALLBACK, NEW_VALUE_REASON, alone)
        self._state.inline_cache.record(way)
