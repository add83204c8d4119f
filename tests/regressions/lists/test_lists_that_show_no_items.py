"""ValueError: a list that was read before it had items was taken for one with another number.

Of one list the tracer had guessed what its items are, of the other one it had not.
"""
# mypy: disable-error-code="var-annotated, name-defined"

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python
from fusejit_testing.oracle import compare_outcomes, decorate, run


def run_over(x: Any) -> Any:
    a = [2 * k for k in range(len(x))]
    for _ in a[:]:
        a = [5]
    return a


def copied(x: Any) -> Any:
    a = []
    b = a.copy()
    for _ in range(len(x)):
        b = a[:]
        a.clear()
    return a, b


@pytest.mark.parametrize("function", [run_over, copied])
def test_no_items(function: Callable[..., Any]) -> None:
    check_against_python(function, [(np.zeros(0),), (np.ones(2),)])
    check_against_python(function, [(np.ones(2),), (np.zeros(0),)])


def last_is_itself(items: Any, n: Any) -> Any:
    rows = []
    for _ in items[:12]:
        if rows[-1] == rows[-1]:
            n += 1
    return missing  # noqa: F821


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_guesses_come_to_an_end() -> None:
    """Lists of lists of lists .. were guessed: compiling did not come to an end."""
    fused, args = decorate(last_is_itself, jit=False), ([7, -4, 5, 7, 8], 6)
    compare_outcomes(run(last_is_itself, args), run(fused, args))
    reasons = {boundary.reason for boundary in fused.variants.newest_segmented.boundaries}
    assert any("reads items of a list that has none" in reason for reason in reasons), reasons


def rooms_and_spans(meetings: Any) -> Any:
    busy = []
    rooms = 0
    for k in range(len(meetings)):
        start, end = meetings[k]
        while busy and busy[0][0] <= start:
            heapq.heappop(busy)
            rooms -= 1
        heapq.heappush(busy, (end, k))
        rooms += 1
    merged = []
    for start, end in sorted(meetings):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return rooms, merged


def test_two_lists_are_guessed() -> None:
    """Other items of the first list were guessed when those of the second one were wrong."""
    rng = np.random.default_rng(5)
    starts = np.sort(rng.integers(0, 200, 40)).tolist()
    meetings = [(start, start + k % 9 + 1) for k, start in enumerate(starts)]
    fused = decorate(rooms_and_spans, jit=False, tiering=False)
    compare_outcomes(run(rooms_and_spans, (meetings,)), run(fused, (meetings,)))
    assert fused.variants.newest_segmented is None
    assert not fused.variants.fallbacks
