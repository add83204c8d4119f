"""Functions that are given lists in some calls, and arrays in others.

Regression: Where a call with a list had to run in Python, calls with arrays did so ever after, and
calls that took long were looked at as seldom as short ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.dispatch.postponed_traces import PostponedTraces
from fusejit.support.budget import Speculation
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import compare_outcomes, decorate, run, without_warm_up

SIZE = 40


def lowered(p: Any) -> Any:
    total = 0
    for i in range(len(p)):
        if p[i] > 0:
            p[i] = p[i] - 1
        total += p[i]
    return total


def root(p: Any, i: Any) -> Any:
    while p[i] != i:
        p[i] = p[p[i]]
        i = p[i]
    return i


def counted(p: Any, q: Any) -> Any:
    for i in range(len(p)):
        q[p[i] % 3] += 1
    return q[0] - q[1]


def zeros(n: int) -> list[int]:
    return [max(0, k - 1) for k in range(n)]


Args = tuple[Any, ...]
CASES: list[tuple[Callable[..., Any], Args, Args]] = [
    (lowered, (zeros(SIZE),), (np.array(zeros(SIZE)),)),
    (root, (zeros(SIZE), SIZE - 1), (np.array(zeros(SIZE)), SIZE - 1)),
    (counted, (zeros(SIZE), {0: 0, 1: 0, 2: 0}), (np.array(zeros(SIZE)), np.zeros(3, int))),
    (counted, (zeros(SIZE), [0, 0, 0]), (np.array(zeros(SIZE)), np.zeros(3, int))),
]


def copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arg.copy() if hasattr(arg, "copy") else arg for arg in args)


@pytest.mark.parametrize("tiering", [False, True])
@pytest.mark.parametrize(("program", "of_lists", "of_arrays"), CASES)
def test_arrays_are_compiled_after_lists(
    program: Callable[..., Any],
    of_lists: tuple[Any, ...],
    of_arrays: tuple[Any, ...],
    tiering: bool,
) -> None:
    fused = without_warm_up(decorate(program, jit=False, tiering=tiering))
    for args in [*[of_lists] * 3, *[of_arrays] * 2, of_lists, of_arrays, of_lists]:
        ours, numpys = copies(args), copies(args)
        compare_outcomes(run(program, numpys), run(fused, ours))
        assert_same(ours, numpys)
    state = fused.__fusejit_state__
    assert state.variants.compiled or state.dispatcher.tiering.interpreted is not None
    assert state.variants.segmented is None


def test_mixtures_and_aliases() -> None:
    """Lists may come for any of several parameters, and one for two."""
    fused = without_warm_up(decorate(counted, jit=False))
    p, q = zeros(SIZE), [0, 0, 0]
    of_p, of_q = np.array(p), np.array(q)
    kinds: list[Args] = [(p, q), (of_p, q), (p, of_q), (of_p, of_q), (q, q), (tuple(p), q)]
    kinds += [(p, dict(enumerate(q))), (of_p, of_q), (set(p), q), (p, q)]
    for args in kinds * 2:
        same = args[0] is args[1]
        ours, numpys = copies(args), copies(args)
        if same:
            ours, numpys = (ours[0], ours[0]), (numpys[0], numpys[0])
        compare_outcomes(run(counted, numpys), run(fused, ours))
        assert_same(ours, numpys)


@pytest.mark.filterwarnings("ignore:root runs as plain NumPy")
def test_objects_that_come_instead_of_a_list_are_not_asked() -> None:
    class Secret:
        def __len__(self) -> int:
            return 1

        def __getitem__(self, at: int) -> int:
            return at

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    fused = without_warm_up(decorate(root, jit=False))
    for _ in range(3):
        assert fused(zeros(SIZE), SIZE - 1) == 0
        assert fused(Secret(), 0) == 0


def test_calls_that_take_long_are_all_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of short ones one of many is, until a trace may be afforded."""
    monkeypatch.setattr(Speculation, "affords", lambda self, seconds=0.0: False)
    seen = []
    original = PostponedTraces.look_at
    monkeypatch.setattr(
        PostponedTraces, "look_at", lambda self, args: (seen.append(args), original(self, args))[1]
    )

    def slow(seconds: float) -> float:
        for _ in range(3):
            time.sleep(seconds)
        return seconds

    fused = without_warm_up(decorate(slow, jit=False, tiering=True))
    fused.__fusejit_state__.allowance.is_speculative = True
    for _ in range(6):
        assert fused(0.02) == 0.02
    assert len(seen) == 6
    for _ in range(100):
        fused(0.0)
    assert len(seen) < 60
