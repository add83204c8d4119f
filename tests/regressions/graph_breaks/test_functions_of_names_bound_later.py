"""A function that reads a name bound later had an empty cell: each segment makes its own.

Python now runs such a function and binds its names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same


def made_first(x: Any, log: Any) -> Any:
    def shifted(y: Any) -> Any:
        return y + offset

    offset = x.sum()
    log.append(1)
    return shifted(x) * 2


def in_a_tuple(x: Any, log: Any) -> Any:
    def distance(p: Any) -> Any:
        return abs(goal - p) + width

    width, goal = x[0], x[1]
    queue = [distance(x[2])]
    while queue:
        log.append(queue.pop())
    return distance(x)


def two_that_call_each_other(x: Any, log: Any) -> Any:
    def even(n: int) -> bool:
        return True if n == 0 else odd(n - 1)

    def odd(n: int) -> bool:
        return False if n == 0 else even(n - 1)

    log.append(even(4))
    return x * odd(3)


def of_itself(x: Any, log: Any) -> Any:
    def power(n: int) -> Any:
        return x if n == 1 else x * power(n - 1)

    log.append(0)
    return power(3)


def in_a_loop(x: Any, log: Any) -> Any:
    made = []
    for i in range(3):
        made.append(lambda y: y * scale)  # noqa: B023
        scale = i + 1.0
        log.append(i)
    return [f(x) for f in made]


@pytest.mark.parametrize(
    "function", [made_first, in_a_tuple, two_that_call_each_other, of_itself, in_a_loop]
)
def test_values(function: Callable[..., Any]) -> None:
    fused = fuse_jit(function)
    x = np.arange(4.0)
    for _ in range(2):
        ours: list[Any] = []
        theirs: list[Any] = []
        assert_same(function(x, theirs), fused(x, ours))
        assert_same(theirs, ours)
