"""The first condition of a ``while`` loop that becomes one of the kernel is computed twice.

Each such loop cost another attempt to trace. What changes something of Python's, or calls what may,
still does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusejit.tracer.capture.entry as entry
from fusejit_testing.oracle import compare_outcomes, decorate, run


class Counter:
    """Whose attributes change when they are read."""

    def __init__(self) -> None:
        self.reads = 0
        self.log: list[int] = []

    @property
    def limit(self) -> int:
        self.reads += 1
        return 3

    def __getitem__(self, k: int) -> int:
        self.log.append(k)
        return 3

    def __len__(self) -> int:
        self.reads += 10
        return 3


def by_a_property(x: Any) -> Any:
    counter, k = Counter(), 0
    while x[k] < counter.limit:
        k += 1
    return k, counter.reads


def by_an_item(x: Any) -> Any:
    counter, k = Counter(), 0
    while x[k] < counter[k]:
        k += 1
    return k, len(counter.log)


def by_a_length(x: Any) -> Any:
    counter, k = Counter(), 0
    while x[k] < len(counter):
        k += 1
    return k, counter.reads


def by_an_iterator(x: Any) -> Any:
    k, items = 0, iter([x[0], x[1], x[2], x[3], x[4], x[5]])
    while next(items) < 3:
        k += 1
    return k, len([*items])


def by_a_list(x: Any) -> Any:
    stack = [0]
    while x[stack.pop()] < 3:
        stack.append(1)
        stack.append(len(stack) + 2)
    return stack


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function", [by_a_property, by_an_item, by_a_length, by_an_iterator, by_a_list]
)
def test_conditions_that_change_something(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for size in (6, 9):
        args = (np.arange(float(size)),)
        compare_outcomes(run(function, args), run(fused, args))


def three_loops(x: Any) -> Any:
    i = j = k = 0
    while i < len(x) and x[i] < 2:
        i += 1
    while x[j] + j < 9:
        j += 1
        while x[k] < x[j] - 1:
            k += 1
    return i, j, k


def four_types(x: Any) -> Any:
    best, where, sign, scale = -1, 0, 1, 2
    for k in range(len(x)):
        if x[k] > best:
            best, where, sign, scale = x[k], k / 2, np.sign(x[k]), np.float32(k)
    return best, where, sign, scale


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One item for each attempt to trace."""
    made = []
    trace_once = entry._trace_once

    def counted(*args: Any) -> Any:
        made.append(1)
        return trace_once(*args)

    monkeypatch.setattr(entry, "_trace_once", counted)
    return made


def test_one_attempt(attempts: list[int]) -> None:
    fused = decorate(three_loops, jit=False, fullgraph=True)
    args = (np.arange(12.0),)
    compare_outcomes(run(three_loops, args), run(fused, args))
    assert len(attempts) == 1


def test_the_types_of_all_names_widen_in_one_attempt(attempts: list[int]) -> None:
    fused = decorate(four_types, jit=False, fullgraph=True)
    args = (np.array([-3.0, 4.0, 2.0, 8.0]),)
    compare_outcomes(run(four_types, args), run(fused, args))
    assert len(attempts) <= 3  # the first iteration by itself, and the types
