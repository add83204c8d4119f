"""`Serving`: what serves a function's next calls: segments, or the function's own statements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fusejit.calls.alternation import Rank, Way, guarded
from fusejit.calls.kinds import WAITS, CallKinds
from fusejit.calls.state import FunctionState
from fusejit.carrier import Body, no_variant
from fusejit.codegen.launcher.call_guard import CallGuard
from fusejit.outcome import MISS, Outcome
from fusejit.segments.segmented import SegmentedFunction
from fusejit.tracer.capture.source_text import find_source


class Serving:
    """Has the carrier ask, or run, what serves calls of some kind, unless a variant serves it.

    Parameters
    ----------
    state : FunctionState
    """

    def __init__(self, state: FunctionState) -> None:
        self._variants = state.variants
        self._function = state.function
        self._carrier = state.carrier
        self._state = state

    # -- segments -------------------------------------------------------------------------------
    def run_segments(self, *args: Any) -> Any:
        """The function in segments, unless it was changed."""
        segmented = self._variants.segmented
        if segmented is None or not self._state.identity.holds():
            return MISS
        return segmented.run(*args)

    def serve_segments(self, segmented: SegmentedFunction) -> None:
        """Have segments serve calls, among others; alone unless a variant does."""
        if segmented not in self._variants.opened:
            return
        served = segmented.served
        if served is not None:
            body, guard = served

            def alone() -> bool:
                if self._variants.compiled or segmented.served is not served:
                    return False
                self._carrier.serve_body(body, guard)
                return True

            self._state.alternation.served(
                Way(guarded(guard, body.run), Rank.SEGMENTS, guard, alone)
            )
        elif not self._variants.compiled:
            is_for_all = segmented is self._variants.segmented
            self._carrier.serve_first(self.run_segments if is_for_all else no_variant)

    # -- the function itself --------------------------------------------------------------------
    def serve_retired(self, guard: CallGuard) -> None:
        """Have Python serve calls that a guard lets pass, among others."""
        way = guarded(guard, self._state.run_plain)
        alone = partial(self.serve_python, guard)
        self._state.alternation.served(Way(way, Rank.PYTHON, guard, alone))

    def serve_python(self, guard: CallGuard) -> bool:
        """Have the function's own statements serve calls, unless a variant does."""
        if self._variants.compiled:
            return False
        self._carrier.serve_body(self.own_body(), guard)
        return True

    def own_body(self) -> Body:
        """The statements of the function."""
        source = find_source(self._function)
        return Body(self._state.run_plain, None if isinstance(source, str) else source)

    def serve_declined(
        self, args: tuple[Any, ...], outcome: Outcome, is_retired: Callable[[], bool]
    ) -> None:
        """Have the function's own statements serve calls that are always declined."""
        function = self._function

        def alone() -> bool:
            if self._variants.compiled or self._variants.segmented or is_retired():
                return False
            guard = self._state.declined.guard(args, function)
            if guard is None:
                return False
            self._variants.passed = str(outcome), guard
            return self.serve_python(guard)

        def run(outcome: Outcome) -> Callable[..., Any]:
            counts, plain, cause = self._variants.declined, self._state.run_plain, str(outcome)

            def declined(*args: Any) -> Any:
                counts[cause] += 1
                return plain(*args)

            return declined

        passing = self._state.declined.passing(args, function, run)
        if passing is not None:
            key, call = passing
            self._state.alternation.served(Way(call, Rank.DECLINED, key, alone))

    def serve_waiting(self, kinds: CallKinds, args: tuple[Any, ...]) -> None:
        """Have the function's own statements serve calls with ever other texts for a while."""
        counts, plain = self._variants.declined, self._state.run_plain
        counts[WAITS] += 1
        guard = kinds.ever_other(args, self._function)
        if guard is None:
            return

        def waiting(*args: Any) -> Any:
            counts[WAITS] += 1
            return plain(*args)

        alone = partial(self.serve_python, guard)
        way = Way(guarded(guard, waiting), Rank.DECLINED, WAITS, alone)
        self._state.alternation.served(way)
