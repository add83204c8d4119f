"""Functions and segments of which many calls raise are left to Python.

Regression: ``if not len(x): raise`` in a ``with`` ran at 0.29x where every fourth call raised: each
exception cost more than the statements of ten calls. It is now counted how many calls raise.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from fusejit.dispatch.dispatcher import Dispatcher
from fusejit.dispatch.raised_calls import COUNTED_AT
from fusejit.outcome import MISS
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.support.tracebacks import _is_segment_call
from fusejit.tiering.cost_estimate import CostEstimate
from fusejit.tiering.raise_trial import (
    COUNTED,
    LOOKED_UP_NS,
    RAISED_NS,
    RaiseTrial,
    raises_too_often,
)
from fusejit.tiering.segment_profiler import FIRST_REPROFILE
from fusejit_testing.oracle import decorate

GOOD, BAD = np.linspace(0.5, 1.0, 8), np.linspace(-1.0, -0.5, 8)


def fused_form(function: Any) -> Any:
    """The fused form that a user has, with kernels as plain Python."""
    return decorate(function, jit=False, tiering=True)


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except ValueError as error:
        return str(error)


def run(function: Any, fused: Any, every: int, times: int) -> None:
    """Compare ``times`` calls, of which one of ``every`` raises."""
    for k in range(times):
        if k % every:
            np.testing.assert_allclose(fused(GOOD), function(GOOD))
        else:
            assert outcome(fused, BAD) == outcome(function, BAD) == "negative"


def checked(x: Any) -> Any:
    if x.min() < 0:
        raise ValueError("negative")
    return x * 2 + 1


def checked_and_long(x: Any) -> Any:
    if x.min() < 0:
        raise ValueError("negative")
    for k in range(200):
        x = x * 0.5 + k
    return x


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions, one for each trace."""
    names: list[str] = []
    original = Dispatcher.compile_variant

    def compile_variant(self: Dispatcher, args: tuple[Any, ...]) -> Any:
        names.append(self.function.__name__)
        return original(self, args)

    monkeypatch.setattr(Dispatcher, "compile_variant", compile_variant)
    return names


class Variant:
    def __init__(self, result: Any) -> None:
        self.launch = lambda *args: result


def test_what_is_counted() -> None:
    told: list[Any] = []
    trial = RaiseTrial(lambda *given: told.append(given))
    serves, misses = Variant(1), Variant(MISS)
    assert trial.launcher_of(serves) is trial.launcher_of(serves)  # type: ignore[arg-type]
    for _ in range(COUNTED - 2):
        assert trial.launcher_of(misses)(3) is MISS  # type: ignore[arg-type]
        assert trial.launcher_of(serves)(3) == 1  # type: ignore[arg-type]
    trial.count_raised((4,), is_guarded=True)
    assert not told
    trial.count_raised((5,), is_guarded=False)
    assert told == [(trial, 2 * RAISED_NS + LOOKED_UP_NS, COUNTED - 2, (5,))]


def test_when_raising_costs_more_than_is_saved() -> None:
    estimate = CostEstimate(3_000.0, 1_000.0, is_scalar=False, is_conditional=False)
    assert raises_too_often(estimate, 20_001.0, 10)
    assert not raises_too_often(estimate, 20_000.0, 10)


def test_a_function_that_raises_often_is_left_to_python(traces: list[str]) -> None:
    fused = fused_form(checked)
    run(checked, fused, 2, 2 * COUNTED_AT + COUNTED)
    state = dispatcher_of(fused)
    assert state is not None
    assert not fused.variants.compiled
    variants = state.tiering.interpreted.variants
    assert len(variants) == 1
    run(checked, fused, 1, 4 * FIRST_REPROFILE)  # all of them raise
    assert not fused.variants.compiled
    assert state.entry_stub.guard.calls < state.entry_stub.guard.due  # they are not looked at
    for _ in range(16 * FIRST_REPROFILE):
        if fused.variants.compiled:
            break
        fused(GOOD)
    assert fused.variants.compiled == variants  # the same one is tried again
    assert traces == ["checked"]
    run(checked, fused, 2, COUNTED)
    assert not fused.variants.compiled
    run(checked, fused, COUNTED, COUNTED)
    assert traces == ["checked"]


def test_one_that_raises_seldom_stays() -> None:
    fused = fused_form(checked)
    run(checked, fused, 20, 20 * COUNTED_AT + 2 * COUNTED)
    state = dispatcher_of(fused)
    assert state is not None
    assert len(fused.variants.compiled) == 1
    assert state.entry_stub.first is fused.variants.compiled[0].launch  # nothing is counted now


def test_one_that_saves_much_stays() -> None:
    fused = fused_form(checked_and_long)
    run(checked_and_long, fused, 2, 4 * COUNTED_AT + 2 * COUNTED)
    assert len(fused.variants.compiled) == 1


@contextlib.contextmanager
def noted(log: Any) -> Any:
    try:
        yield log
    except ZeroDivisionError as error:
        log.append(str(error))


def statistics(groups: Any) -> Any:
    log: list[str] = []
    means = []
    for values in groups:
        with noted(log):
            if not len(values):
                raise ZeroDivisionError("empty group")
            means.append(values.sum() / len(values))
    return log, means


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_a_segment_that_raises_often_is_left_to_python() -> None:
    groups = [np.linspace(0.0, 1.0, k % 4) for k in range(40)]
    fused = fused_form(statistics)
    for _ in range(20):
        log, means = fused(groups)
        assert log == ["empty group"] * 10
        np.testing.assert_allclose(means, statistics(groups)[1])
    state = dispatcher_of(fused)
    assert state is not None
    assert state.tiering.compiles_nothing(set())


def of_two_dimensions(x: Any) -> Any:
    if x.ndim != 2:
        raise ValueError("negative")
    return x * 2 + 1


def test_a_part_of_which_all_calls_raise_is_left_to_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Regression: a ``raise`` that became a segment cost 40 us at each call."""
    misses: list[Any] = []
    original = Dispatcher.dispatch_miss

    def dispatch_miss(self: Dispatcher, *given: Any) -> Any:
        misses.append(given)
        return original(self, *given)

    monkeypatch.setattr(Dispatcher, "dispatch_miss", dispatch_miss)
    fused = fused_form(of_two_dimensions)
    run(of_two_dimensions, fused, 1, 2 * COUNTED_AT)
    state = dispatcher_of(fused)
    assert state is not None
    assert state.tiering.interpreted is not None
    misses.clear()
    run(of_two_dimensions, fused, 1, FIRST_REPROFILE)
    assert len(misses) <= 1
    for _ in range(64 * FIRST_REPROFILE):
        np.testing.assert_array_equal(fused(GOOD[None]), GOOD[None] * 2 + 1)
    assert fused.variants.compiled  # at a call that was looked at


def guarded(log: Any, x: Any) -> Any:
    try:
        log.append(1)
        mean = x.sum() / len(x)
        if mean < 0:
            raise ValueError("negative")
        return np.exp(-x).sum()
    except ValueError:
        return 0.0


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_places_in_code_are_looked_up_once() -> None:
    fused = fused_form(guarded)
    fused([], GOOD)
    assert fused([], BAD) == 0.0
    before = _is_segment_call.cache_info()
    assert fused([], BAD) == 0.0
    after = _is_segment_call.cache_info()
    assert after.hits > before.hits
    assert after.misses == before.misses


def grown(n: int, factor: int) -> int:
    total = 1
    for k in range(n):
        total = (total * 31 + k) % 1_000_003
    for _ in range(9):
        total = total * factor
    return total


@pytest.mark.filterwarnings("ignore:.*beyond 64 bits")
def test_a_function_whose_integers_go_beyond_64_bits_is_left_to_python() -> None:
    """Every call ran twice, in a kernel that undid it and in Python: 0.6x, for ever."""
    fused = fused_form(grown)
    while not fused.variants.compiled:
        assert fused(3_000, 3) == grown(3_000, 3)
    for _ in range(2 * COUNTED_AT + COUNTED):
        assert fused(300, 99_991) == grown(300, 99_991)
    assert not fused.variants.compiled
    assert "of 64 end in Python" in str(fused.variants)
    for _ in range(64 * FIRST_REPROFILE):
        if fused.variants.compiled:
            break
        assert fused(300, 3) == grown(300, 3)
    assert fused.variants.compiled  # looked at again


@pytest.mark.filterwarnings("ignore:.*beyond 64 bits")
def test_few_calls_that_end_in_python_cost_little() -> None:
    fused = fused_form(grown)
    while not fused.variants.compiled:
        assert fused(3_000, 3) == grown(3_000, 3)
    for k in range(4 * (COUNTED_AT + COUNTED)):
        factor = 3 if k % 8 else 99_991
        assert fused(300, factor) == grown(300, factor)
    assert fused.variants.compiled
