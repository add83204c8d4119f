"""Calls like one that was declined are not traced each time."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import fusejit.dispatch.dispatcher
from fusejit import fuse_jit
from fusejit.dispatch.fallback_cache import FallbackCache
from fusejit.outcome import fallback

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")

CAUSE = fallback("a cause")


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one number with each trace."""
    made: list[int] = []
    trace = fusejit.dispatch.dispatcher.trace

    def counted(*args: Any) -> Any:
        made.append(1)
        return trace(*args)

    monkeypatch.setattr(fusejit.dispatch.dispatcher, "trace", counted)
    return made


def doubled(x: Any, n: Any = 2) -> Any:
    return x * n


HALVES = np.arange(4, dtype=np.float16)


def test_the_first_second_fourth_and_so_on_is_traced(traces: list[int]) -> None:
    fused = fuse_jit(doubled)
    for _ in range(20):
        np.testing.assert_array_equal(fused(HALVES), doubled(HALVES))
    assert len(traces) == 5
    assert sum(fused.variants.fallbacks.values()) == 20


class Tokens:
    """What a parser of a user's is given: no two of them are known to be alike."""

    def __init__(self, items: list[str]) -> None:
        self.items = items


def first_number(tokens: Tokens, x: Any) -> Any:
    for item in tokens.items:
        if item.isdigit():
            return int(item) * x
    raise ValueError(f"no number in {tokens.items}")


def test_calls_with_objects_are_not_traced_each_time(traces: list[int]) -> None:
    fused = fuse_jit(first_number)
    for n in range(32):
        with pytest.raises(ValueError, match=f"no number in .'x{n}'"):
            fused(Tokens([f"x{n}"]), np.ones(2))
    assert len(traces) <= 6  # the first, second, fourth ..
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one that does not raise was no mistake of ours
        for _ in range(4):
            np.testing.assert_array_equal(fused(Tokens(["a", "3"]), np.ones(2)), [3.0, 3.0])


def test_fullgraph_refuses_no_call_for_the_sake_of_another() -> None:
    fused = fuse_jit(fullgraph=True)(first_number)
    for n in range(4):
        with pytest.raises(ValueError, match="no number"):
            fused(Tokens([f"x{n}"]), np.ones(2))
    np.testing.assert_array_equal(fused(Tokens(["a", "3"]), np.ones(2)), [3.0, 3.0])
    assert len(fused.variants) == 1


def test_calls_that_differ_are_traced(traces: list[int]) -> None:
    fused = fuse_jit(doubled)
    calls = [(HALVES,), (HALVES[:2],), (HALVES[::2],), (HALVES, 3), (HALVES, 3.0), (HALVES, True)]
    for _ in range(3):
        for args in calls:
            np.testing.assert_array_equal(fused(*args), doubled(*args))
    assert len(traces) == 2 * len(calls)
    assert fused(np.ones(3)).tolist() == [2, 2, 2]  # and what compiles is compiled
    assert len(fused.variants) == 1


TABLE: Any = np.ma.ones(3)


def with_a_global_table(x: Any) -> Any:
    return x + TABLE


def test_a_cause_outside_of_the_arguments_is_met_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fused = fuse_jit(with_a_global_table)
    x = np.ones(3)
    for _ in range(5):
        assert type(fused(x)) is np.ma.MaskedArray
    assert len(fused.variants) == 0
    monkeypatch.setitem(with_a_global_table.__globals__, "TABLE", np.ones(3, np.float32))
    for _ in range(3):
        assert type(fused(x)) is np.ndarray
    assert len(fused.variants) == 1


def test_few_calls_are_remembered() -> None:
    known = FallbackCache()
    for n in range(1000):
        known.add((n,), CAUSE)
    assert known.outcome((0,)) is None
    assert [known.outcome((999,)) for _ in range(3)] == [None, CAUSE, None]


@pytest.mark.parametrize("args", [([1],), ({},), ((1, [2]),), (object(),), (np.ma.ones(2),)])
def test_what_cannot_be_compared_is_remembered_by_kind(args: tuple[Any, ...]) -> None:
    known = FallbackCache()
    known.add(args, CAUSE)
    assert [known.outcome(args) for _ in range(4)] == [None, CAUSE, None, CAUSE]
    assert known.outcome((np.ones(2),)) is None


def test_arguments_of_all_kinds() -> None:
    """Numbers of any length, and what has no hash."""
    fused = fuse_jit(lambda x, n: x[0] * 1)
    for n in (10**5000, np.float64("nan"), [1, [2]], (1, (2.0, None)), {1: 2}, object()):
        for _ in range(3):
            assert fused(np.ones(2, np.float16), n) == 1
