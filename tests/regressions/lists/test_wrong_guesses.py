"""An exception in a trace that Python does not raise: a list was assumed to hold something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def sorted_before_it_has_items(x: Any) -> Any:
    k = 0
    rows = []
    for _ in range(len(x)):
        k += 3
        rows.sort(key=len)
    if rows:
        rows[-1].append(x[1])
    return k, rows


@dataclass
class Trade:
    side: str
    profit: float = 0.0


def objects_in_a_list(x: Any) -> Any:
    trades = []
    position = None
    for i in range(len(x)):
        if position is not None:
            if x[i] < 2:
                position.profit = float(x[i])
                trades.append(position)
                position = None
        elif x[i] > 3:
            position = Trade("long")
    return sum(t.profit for t in trades), [t.side for t in trades]


def two_sequences_in_one_loop(x: Any) -> Any:
    total = 0
    for items in (
        [3, 1, 2, 5, 4, 6, 7, 9, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18],
        reversed([1, 2]),
    ):
        for item in items:
            total = total * 3 % 1000 + item * int(x[0])
    return total


def none_until_the_second_iteration(x: Any) -> Any:
    before = None
    total = 0
    for i in range(len(x)):
        if i > 1 and x[i] > 2:
            total += before[i]
        before = [i] * len(x)
    return total


@pytest.mark.parametrize(
    "function",
    [
        sorted_before_it_has_items,
        objects_in_a_list,
        two_sequences_in_one_loop,
    ],
)
def test_no_exception_that_python_does_not_raise(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)  # a fault of fusejit is a warning, which is an error
    for x in (np.array([2, 5, 1, 4, 0, 7, 1]), np.array([5, 5, 5])):
        compare_outcomes(run(function, (x,)), run(fused, (x,)))


def test_none_is_asked_for_an_item() -> None:
    """In a branch that the call does not take: it is no fault, and says so."""
    fused = decorate(none_until_the_second_iteration, jit=False)
    args = (np.array([2, 5, 1, 4, 0, 7, 1]),)
    with pytest.warns(match="raises TypeError under a condition"):
        assert fused(*args) == none_until_the_second_iteration(*args)
