"""Compiles end when their time is over: the call runs as plain NumPy, and is not tried again.

Regression: Compile time had no bound (ndim, long bodies, many short lists). A call now has a budget
of 10 s.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.errors import OutOfTime, UnsupportedError
from fusejit.options import options_from_environment
from fusejit.support.budget import Allowance, Budget, ProcessorTime, compiling, enter, note_time


def clock_of(*seconds: float) -> Callable[[], float]:
    times = iter(seconds)
    return lambda: next(times)


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A clock on which each question takes a second; the list holds how many were asked."""
    count = [0]

    def clock() -> float:
        count[0] += 1
        return float(count[0])

    monkeypatch.setattr("fusejit.support.budget.ProcessorTime", lambda: clock)
    return count


def test_the_message_says_where_the_time_went() -> None:
    budget = Budget("f", 10.0, clock_of(0, 0, 2, 11))
    budget.enter("trace")
    budget.enter("LLVM")
    with pytest.raises(OutOfTime, match=r"longer than 10 s \(LLVM 9 s, trace 2 s\)"):
        budget.check()


def test_work_that_cannot_be_interrupted_is_not_begun() -> None:
    budget = Budget("f", 10.0, clock_of(0, 0, 4))
    budget.enter("LLVM")
    with pytest.raises(OutOfTime, match=r"longer than 10 s: LLVM would take 7 s more"):
        budget.check(7.0)


def test_what_is_over_the_time_when_it_ends_is_kept() -> None:
    with compiling("f", 10.0, clock_of(0, 0, 30, 30)):
        enter("LLVM")
        note_time()


def test_each_thread_goes_on_where_the_last_one_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    thread, own = [1], {1: 5.0, 2: 70.0}
    monkeypatch.setattr("fusejit.support.budget.threading.get_ident", lambda: thread[0])
    monkeypatch.setattr("fusejit.support.budget.time.thread_time", lambda: own[thread[0]])
    clock = ProcessorTime()
    assert clock() == 0
    own[1] += 2
    assert clock() == 2
    thread[0] = 2
    assert clock() == 2
    own[2] += 3
    assert clock() == 5
    thread[0] = 1
    own[1] += 1  # waiting for the other thread
    assert clock() == 5


def test_parts_share_what_is_left() -> None:
    allowance = Allowance(10.0)
    with compiling("part", allowance, clock_of(0, 4)):
        pass
    assert allowance.left == 6
    with (
        pytest.raises(OutOfTime, match="took longer than 10 s in all"),
        compiling("part", allowance, clock_of(0, 7, 7, 7)),
    ):
        enter("trace")
    assert allowance.left == 0


def stepped(x: Any, y: Any) -> Any:
    x[1:] += y[:-1]
    for k in range(len(y)):
        if y[k] > 0:
            x[k] -= 0.5
    return np.concatenate((np.sqrt(abs(x)), y)) * 2, (x * y).sum()


def both(f: Any, *args: Any) -> None:
    """A call gives NumPy's results and leaves the arguments as NumPy does."""
    copies = [a.copy() for a in args]
    results, wanted = f(*args), f.__wrapped__(*copies)
    for got, want in zip([*results, *args], [*wanted, *copies], strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_wherever_the_time_ends_numpy_runs_the_call(
    asks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSEJIT_CACHE", "0")
    whole = fuse_jit(stepped, compile_seconds=1e9)
    both(whole, np.arange(6.0), np.ones(6))
    needed = asks[0]
    assert needed > 50
    for seconds in {0, 1, 2, 5, *range(10, needed, needed // 8), needed - 20}:
        asks[0] = 0
        f = fuse_jit(stepped, compile_seconds=seconds)
        both(f, np.arange(6.0), np.ones(6))
        assert len(f.variants) == 0
        ((cause, count),) = f.variants.fallbacks.items()
        assert cause.startswith("compiling took longer")
        assert count == 1
        asks[0] = 0
        both(f, np.arange(9.0), -np.ones(9))
        assert asks[0] == 0, "a call of the same kind is not compiled"
        assert cause in f.explain(np.arange(3.0), np.ones(3))


def test_calls_of_another_kind_are_tried(asks: list[int]) -> None:
    f = fuse_jit(lambda x: x + 1, compile_seconds=0)
    with pytest.warns(FuseWarning, match="compiling took longer than 0 s"):
        f(np.ones(3))
    asks[0] = 0
    f(np.ones(3, np.float32))
    assert asks[0] > 0


def test_fullgraph_makes_it_an_error() -> None:
    f = fuse_jit(lambda x: x + 1, compile_seconds=0, fullgraph=True)
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="compiling took longer than 0 s"):
            f(np.ones(3))


def test_no_handler_of_the_program_catches_it(asks: list[int]) -> None:
    @fuse_jit(compile_seconds=25)
    def f(x: Any) -> Any:
        try:
            for _ in range(50):
                x = np.sqrt(x + 1)
        except Exception:
            return -1
        return x

    with pytest.warns(FuseWarning, match="compiling took longer than 25 s"):
        result = f(np.ones(3))
    np.testing.assert_array_equal(result, f.__wrapped__(np.ones(3)))


def test_segments_share_the_budget(asks: list[int]) -> None:
    log: list[float] = []

    @fuse_jit(compile_seconds=40)
    def f(x: Any) -> Any:
        x = x * 2 + 1
        log.append(float(x[0]))
        x = np.sqrt(x) - x
        log.append(float(x[0]))
        return np.where(x > 0, x, -x)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = f(np.ones(3))
    assert any("compiling took longer" in str(w.message) for w in caught)
    np.testing.assert_array_equal(result, f.__wrapped__(np.ones(3)))


@pytest.mark.parametrize("seconds", [-1, math.nan])
def test_seconds_must_be_a_number_of_them(seconds: float) -> None:
    with pytest.raises(ValueError, match="not a number of seconds"):
        fuse_jit(compile_seconds=seconds)


@pytest.mark.parametrize(
    ("text", "seconds"), [("3.5", 3.5), ("inf", math.inf), ("", 10), ("-2", 10), ("soon", 10)]
)
def test_the_environment_says_how_long(
    monkeypatch: pytest.MonkeyPatch, text: str, seconds: float
) -> None:
    monkeypatch.setenv("FUSEJIT_COMPILE_SECONDS", text)
    assert options_from_environment().compile_seconds == seconds
    assert options_from_environment(compile_seconds=1.0).compile_seconds == 1.0
