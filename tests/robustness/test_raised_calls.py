"""Calls that raise are run by Python at once, and nothing else is for long.

Regression: Calls that raise cost 4 to 40 us: each was given to every variant and looked up in
tables. A native guard now knows the signatures that raised (about 1 us).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.dispatch.fallback_cache import FallbackCache
from fusejit.dispatch.raised_calls import MAX_MISTAKES, RaisedCalls
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit_testing.oracle import decorate

GOOD = np.linspace(0.0, 1.0, 12).reshape(3, 4)
FLAT = np.zeros(3)
LARGE = GOOD + 9
SMALL = np.zeros((2, 2))


def validated(x: Any, high: Any) -> Any:
    if x.ndim != 2:
        raise ValueError(f"expected 2 dimensions, got {x.ndim}")
    if x.max() > high:
        raise OverflowError("out of range")
    return np.sqrt(x * x + high)


@pytest.fixture(autouse=True)
def _lets_python_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_TIERING", "1")


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one number with each look at what was declined."""
    made: list[int] = []
    outcome = FallbackCache.outcome

    def counted(self: FallbackCache, args: Any) -> Any:
        made.append(1)
        return outcome(self, args)

    monkeypatch.setattr(FallbackCache, "outcome", counted)
    return made


def raised_calls_of(fused: Any) -> RaisedCalls:
    dispatcher = dispatcher_of(fused)
    assert dispatcher is not None
    return dispatcher.raised


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def test_calls_that_raise_are_not_looked_up(looked_up: list[int]) -> None:
    fused = fuse_jit(validated)
    calls = [(GOOD, 3), (FLAT, 3), (LARGE, 3), (FLAT, 3)]
    for times in (4, 10):
        looked_up.clear()
        for args in calls * times:
            np.testing.assert_equal(outcome(fused, *args), outcome(validated, *args))
    assert not looked_up
    assert len(fused.variants) == 1


def test_one_that_returns_is_asked_about_again(looked_up: list[int]) -> None:
    """All of a kind raise up to some value; then one does not, and gets its variant."""

    def scaled(x: Any, table: Any) -> Any:
        return np.sqrt(x * table["scale"])

    fused = fuse_jit(scaled)
    for _ in range(4):
        assert outcome(fused, GOOD, {}) == (KeyError, "'scale'")
    raised = raised_calls_of(fused)
    assert len(raised.guards) == 1
    for _ in range(3):
        np.testing.assert_array_equal(fused(GOOD, {"scale": 2.0}), np.sqrt(GOOD * 2.0))
    assert len(fused.variants) == 1


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_after_some_mistakes_there_are_no_guards() -> None:
    def odd(x: Any, text: Any) -> Any:
        if int(text) % 2:
            raise ValueError("odd")
        return x * int(text)

    fused = fuse_jit(odd)
    for k in range(30 * MAX_MISTAKES):
        text = f"{k:03}"
        np.testing.assert_equal(outcome(fused, GOOD, text), outcome(odd, GOOD, text))
    assert not raised_calls_of(fused).guards


def test_larger_ones_are_asked_about() -> None:
    def filled(x: Any) -> Any:
        if not x.size:
            raise ValueError("empty")
        return x / x.size

    fused = fuse_jit(filled)
    for _ in range(3):
        assert outcome(fused, GOOD[:0]) == (ValueError, "empty")
    np.testing.assert_array_equal(fused(GOOD), filled(GOOD))
    assert len(fused.variants) == 1
    assert raised_calls_of(fused).guards


def test_replaced_code_is_noticed() -> None:
    def raising(x: Any) -> Any:
        if x.ndim == 2:
            raise ValueError("first")
        return x * 2

    def other(x: Any) -> Any:
        return x * 3

    fused: Any = fuse_jit(raising)
    for _ in range(4):
        assert outcome(fused, SMALL) == (ValueError, "first")
    raising.__code__ = other.__code__
    np.testing.assert_array_equal(fused(SMALL), SMALL * 3)


def test_fullgraph_has_no_guards() -> None:
    fused: Any = fuse_jit(fullgraph=True)(validated)
    for _ in range(4):
        assert outcome(fused, FLAT, 3)[0] is ValueError
    assert not raised_calls_of(fused).guards


GROWING = [1.5, 2.5]


def item_or_none(n: int) -> Any:
    try:
        best = GROWING[n]
    except IndexError:
        best = None
    GROWING.append(1.5)
    return best


def test_a_call_that_raised_may_not_raise_again() -> None:
    """What it reads besides its arguments has changed: that is no fault of fusejit's."""
    compiled = decorate(item_or_none, jit=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*internal error")
        found = [compiled(n) for n in (3, 1, 3, 3, 7, 3)]
    del GROWING[2:]
    assert found == [item_or_none(n) for n in (3, 1, 3, 3, 7, 3)]
