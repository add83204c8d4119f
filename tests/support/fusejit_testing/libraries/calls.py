"""One call of a decorated function, undecorated and fused, compared.

The undecorated function runs on the caller's own arguments, so tests see what they would see
without the judge, and calls that it makes of other decorated functions are judged in their turn.
The fused one runs on copies. A call that cannot be repeated runs once, fused: its test judges it.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import pickle
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import fusejit
import fusejit.stages
from fusejit.api import FuseWarning
from fusejit.errors import FusejitError
from fusejit_testing.libraries.arguments import NotCopied, copied, opcodes_outside
from fusejit_testing.libraries.counters import Counters
from fusejit_testing.libraries.decorated import Entry
from fusejit_testing.libraries.describe import describe
from fusejit_testing.libraries.differences import (
    Comparison,
    Different,
    arrays_within,
    moved_by_roundings,
    require_near,
    require_same_identities,
)
from fusejit_testing.libraries.figures import Figures
from fusejit_testing.libraries.known import known_reasons, reason_of
from fusejit_testing.libraries.outcomes import Outcome, kind_of, same_error, text_of
from fusejit_testing.libraries.randomness import Randomness
from fusejit_testing.libraries.records import Finding, FunctionTally, Kind
from fusejit_testing.libraries.sampling import Sampling

_FAULT = "an internal error of fusejit"


class Mode(enum.Enum):
    """What an entry stub does with a call."""

    OFF = "undecorated"
    FUSED = "fused"
    JUDGED = "both"


class _Current(threading.local):
    mode = Mode.OFF
    overhead_ns = 0  # of judging, within the calls that run now


class CallJudge:
    """Judges calls and keeps what it finds until it is asked for.

    Parameters
    ----------
    pickles : Path
        Folder for the arguments of calls that went wrong.
    seconds_per_test : float
        Time for judging in each test; calls beyond it run undecorated.
    """

    def __init__(self, pickles: Path, seconds_per_test: float = 60.0) -> None:
        self.pickles = pickles
        self.limit_ns = int(seconds_per_test * 1e9)
        self.current = _Current()
        self.overhead_before_ns = 0
        self.tallies: dict[str, FunctionTally] = {}
        self.findings: dict[tuple[str, str, str], Finding] = {}
        self.traces = 0
        self.test = ""
        self.once: dict[Any, str] = {}
        self.sampling = Sampling()
        self.known = known_reasons()
        _count_traces(self)

    # ------------------------------------------------------------------------------ one test
    @contextmanager
    def judging(self, test: str = "") -> Iterator[None]:
        """Calls in this block, that of a test, are judged, in this thread."""
        self.test = test
        self.tallies, self.findings = {}, {}
        self.overhead_before_ns = self.current.overhead_ns
        with self.in_mode(Mode.JUDGED):
            yield

    @contextmanager
    def in_mode(self, mode: Mode) -> Iterator[None]:
        """Another mode for a block."""
        before, self.current.mode = self.current.mode, mode
        try:
            yield
        finally:
            self.current.mode = before

    # ------------------------------------------------------------------------------ one call
    def __call__(self, entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The outcome of a call for its caller."""
        mode = self.current.mode
        if mode is Mode.OFF:
            return entry.function(*args, **kwargs)
        if mode is Mode.FUSED:
            return entry.fused(*args, **kwargs)
        tally = self.tallies.setdefault(entry.name, FunctionTally())
        tally.calls += 1
        if self.current.overhead_ns - self.overhead_before_ns > self.limit_ns:
            tally.plain += 1
            return entry.function(*args, **kwargs)
        if not self.sampling.is_due(entry.name, args, kwargs):
            tally.alike += 1
            return entry.function(*args, **kwargs)
        start = time.perf_counter_ns()
        try:
            with self.in_mode(Mode.OFF):
                self.require_no_effects(entry)
                copies = [copied((args, kwargs), {}) for _ in range(2)]
                randomness = Randomness()
        except NotCopied as cause:
            tally.once += 1
            tally.uncopied[str(cause)] += 1
            return self.once_fused(entry, tally, args, kwargs)
        run = _Run(self, entry, tally, args, kwargs, copies, randomness)
        try:
            return run.undecorated()
        finally:
            run.judge()
            self.current.overhead_ns += time.perf_counter_ns() - start - run.elapsed_ns

    def reason(self, function: str) -> str | None:
        """Why the numbers in results of a function are not compared in this test."""
        of_all = reason_of(function, self.known)
        return of_all or reason_of(f"{function} in {self.test}", self.known)

    def require_no_effects(self, entry: Entry) -> None:
        """Raise `NotCopied` for a function that binds global names."""
        if entry.function not in self.once:
            stores = opcodes_outside(entry.function)
            self.once[entry.function] = "binds names outside of it" if stores else ""
        if self.once[entry.function]:
            raise NotCopied(self.once[entry.function])

    def once_fused(
        self, entry: Entry, tally: FunctionTally, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Only the fused form runs, on the caller's own arguments."""
        others: list[warnings.WarningMessage] = []
        caught: list[str] = []
        try:
            with self.in_mode(Mode.FUSED), _warnings_of_ours(tally, others) as caught:
                try:
                    return entry.fused(*args, **kwargs)
                except FusejitError as error:
                    self.found(entry, tally, kind_of(error), text_of(error), "")
                    raise
        finally:
            self.wrong_forecasts(entry, tally, caught, "")  # counted when the block has ended
            for each in others:  # nobody else gives them
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)

    def wrong_forecasts(
        self, entry: Entry, tally: FunctionTally, causes: list[str], arguments: str
    ) -> None:
        """Warnings that say that fusejit was wrong about the call."""
        for cause in causes:
            if _FAULT in cause:
                self.found(entry, tally, Kind.ERROR, cause, arguments)

    def found(
        self,
        entry: Entry,
        tally: FunctionTally,
        kind: Kind,
        what: str,
        arguments: str,
        values: Any = None,
    ) -> None:
        """Keep a finding, with its arguments if it is the first of its kind in this test."""
        if kind is Kind.WRONG:
            tally.wrong += 1
        elif kind is Kind.REFUSED:
            tally.refused += 1
        else:
            tally.errors += 1
        key = (kind, entry.name, what[:60])
        if key not in self.findings:
            file = "" if values is None else self.pickled(entry, what, values)
            self.findings[key] = Finding(kind, entry.name, what, arguments, pickle=file)

    def pickled(self, entry: Entry, what: str, values: Any) -> str:
        """Write the arguments of a call into a file; its name, or nothing."""
        digest = hashlib.sha256(f"{entry.name} {what}".encode()).hexdigest()[:12]
        path = self.pickles / f"{digest}.pickle"
        try:
            data = pickle.dumps(entry.name) + pickle.dumps(values)
        except Exception:
            return ""
        self.pickles.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path.name


class _Run:
    """One call that is judged."""

    def __init__(
        self,
        judge: CallJudge,
        entry: Entry,
        tally: FunctionTally,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        copies: list[Any],
        randomness: Randomness,
    ) -> None:
        self.judge_of_calls, self.entry, self.tally = judge, entry, tally
        self.args, self.kwargs = args, kwargs
        self.copies, self.randomness = copies, randomness
        self.counters = Counters()
        self.result: Any = None
        self.error: BaseException | None = None
        self.figures = Figures()
        self.elapsed_ns = 0  # of the undecorated run with what is judged within it
        self.plain_ns = 0  # without

    def undecorated(self) -> Any:
        """The undecorated function on the caller's arguments."""
        current = self.judge_of_calls.current
        start, before = time.perf_counter_ns(), current.overhead_ns
        try:
            self.result = self.entry.function(*self.args, **self.kwargs)
            return self.result
        except BaseException as error:
            self.error = error
            raise
        finally:
            self.elapsed_ns = time.perf_counter_ns() - start
            self.plain_ns = self.elapsed_ns - (current.overhead_ns - before)

    def judge(self) -> None:
        """The fused function on copies, and the comparison."""
        if self.error is not None and not isinstance(self.error, Exception):
            return  # Ctrl-C, a test that is skipped
        judge, tally = self.judge_of_calls, self.tally
        with judge.in_mode(Mode.OFF):
            if self.figures.have_changed():
                judge.once[self.entry.function] = "draws on figures"
                tally.alone += 1
                return
            theirs = self.outcome(self.result, self.error, self.args, self.kwargs)
            self.randomness.restore()
            self.counters.restore()
        args, kwargs = self.copies[0]
        result, error = None, None
        traces = judge.traces
        with _warnings_of_ours(tally) as caught:
            start = time.perf_counter_ns()
            with judge.in_mode(Mode.FUSED):
                try:
                    result = self.entry.fused(*args, **kwargs)
                except Exception as raised:
                    error = raised
            elapsed = time.perf_counter_ns() - start
        tally.compared += 1
        if judge.traces > traces:
            tally.traces += judge.traces - traces
            tally.compile_ns += elapsed
        else:
            tally.plain_ns += self.plain_ns
            tally.fused_ns += elapsed
            tally.timed += 1
        with judge.in_mode(Mode.OFF):
            ours = self.outcome(result, error, args, kwargs)
            theirs.drawn.restore()
            theirs.counted.restore()
            arguments = ""
            failure = self.failure(theirs, ours)
            if (
                failure is not None
                and failure[0] is Kind.WRONG
                and self.is_of_copies(theirs, ours, failure[1])
            ):
                tally.copies += 1
                failure = None
            if failure is not None or any(_FAULT in c for c in caught):
                arguments = describe(*self.copies[1])
            judge.wrong_forecasts(self.entry, tally, caught, arguments)
            if failure is not None:
                judge.found(self.entry, tally, *failure, arguments, self.copies[1])

    def outcome(
        self, result: Any, error: BaseException | None, args: tuple[Any, ...], kwargs: Any
    ) -> Outcome:
        """A call that has just ended."""
        return Outcome(result, error, args, kwargs, Randomness(), Counters())

    def failure(self, theirs: Outcome, ours: Outcome) -> tuple[Kind, str] | None:
        """What is wrong with the outcome of the fused call."""
        if isinstance(theirs.error, Warning):
            return None  # a filter made an error of a warning
        if ours.error is not None and not same_error(theirs.error, ours.error):
            what = f"{text_of(ours.error)} instead of {text_of(theirs.error)}"
            return kind_of(ours.error), what
        if ours.error is None and theirs.error is not None:
            return Kind.WRONG, f"no error instead of {text_of(theirs.error)}"
        known = self.judge_of_calls.reason(self.entry.name)
        given = {id(a) for a in arrays_within([theirs.args, theirs.kwargs])}
        comparison = Comparison(is_result=True, has_values=known is None, arguments=given)
        after = [(each.args, each.kwargs) for each in (theirs, ours)]
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                comparison.same(theirs.result, ours.result, "result")
                comparison.is_result = False
                if known is None:
                    comparison.same(after[0], after[1], "arguments afterwards")
                require_same_identities((theirs.result, *after[0]), (ours.result, *after[1]))
                if comparison.inexact:
                    self.tally.near += 1
                    require_near(comparison.inexact, self.copies[1], self.moved)
                comparison.require_same_owners()
        except Different as different:
            return Kind.WRONG, str(different)
        if theirs.drawn != ours.drawn:
            return Kind.WRONG, "not as many random numbers were drawn"
        difference = theirs.counted.difference(ours.counted)
        return None if difference is None else (Kind.WRONG, difference)

    def is_of_copies(self, theirs: Outcome, ours: Outcome, what: str) -> bool:
        """Whether the undecorated function does the same with copies, or differs from itself so.

        Two arguments, or one and a global name, may be one object that only the caller sees. What
        asks the system for random numbers, say, is another in each call.
        """
        try:
            with self.undone(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                args, kwargs = copied(self.copies[1], {})
                result, error = None, None
                try:
                    result = self.entry.function(*args, **kwargs)
                except Exception as raised:
                    error = raised
                again = self.outcome(result, error, args, kwargs)
        except NotCopied:
            return False
        if self.failure(again, ours) is None:
            return True
        of_itself = self.failure(theirs, again)
        return of_itself is not None and of_itself[1] == what

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Generators and counters as before the call, and put back after the block."""
        randomness, counters = Randomness(), Counters()
        self.randomness.restore()
        self.counters.restore()
        try:
            yield
        finally:
            randomness.restore()
            counters.restore()

    def moved(self, rng: np.random.Generator | None) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """What the undecorated function makes of arguments that are off by a rounding."""
        fresh = copied(self.copies[1], {})
        args, kwargs = fresh if rng is None else moved_by_roundings(fresh, rng)
        comparison = Comparison()
        with self.undone(), contextlib.suppress(Exception):  # what was compared until then counts
            result = self.entry.function(*args, **kwargs)
            comparison.same(self.result, result, "result")
            comparison.same((self.args, self.kwargs), (args, kwargs), "arguments afterwards")
        return comparison.inexact


def _count_traces(judge: CallJudge) -> None:
    """Count every trace: a call in which one begins is not timed."""
    stages: Any = fusejit.stages
    original = stages.trace_function

    def counted(*args: Any, **kwargs: Any) -> Any:
        judge.traces += 1
        return original(*args, **kwargs)

    stages.trace_function = counted


@contextmanager
def _warnings_of_ours(
    tally: FunctionTally, others: list[warnings.WarningMessage] | None = None
) -> Iterator[list[str]]:
    """Count warnings of fusejit's; the others are dropped, as the undecorated call gives them."""
    causes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield causes
        finally:
            for warning in caught:
                if isinstance(warning.message, FuseWarning):
                    cause = str(warning.message)
                    causes.append(cause)
                    tally.warned[cause] += 1
                elif others is not None:
                    others.append(warning)
