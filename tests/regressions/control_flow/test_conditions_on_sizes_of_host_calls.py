"""NumPy ran loops that test a host result's length: one answer was assumed for all iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def counted(x: Any, least: Any) -> Any:
    found = 0
    for i in range(len(x)):
        near = np.flatnonzero(np.abs(x - x[i]) < 2)
        if len(near) < least:
            continue
        found += near[0] + 1
    return found


def queued(x: Any, least: Any) -> Any:
    queue = np.zeros(len(x) ** 2, int)
    tail = 0
    for i in range(len(x)):
        near = np.flatnonzero(np.abs(x - x[i]) < 2)
        if len(near) >= least:
            queue[tail : tail + len(near)] = near
            tail += len(near)
    return queue, tail


def first_or_none(x: Any, v: Any) -> Any:
    at = np.flatnonzero(x == v)
    if at.size == 0:
        return -1
    return at[0]


def firsts(x: Any, least: Any) -> Any:
    out = np.zeros(10, int)
    for v in range(10):
        out[v] = first_or_none(x, v) if least else 0
    return out


@pytest.mark.parametrize("function", [counted, queued, firsts])
def test_the_condition_is_asked_each_time(function: Callable[..., Any]) -> None:
    """One answer was assumed for all iterations, and NumPy ran the call where it differed."""
    x = np.array([0, 1, 2, 5, 9, 9, 7, 3])
    check(function, (x, 3), (x[::2].copy(), 2), (x[:4], 9), jit=True)
