"""`np.empty` filled in a loop failed an assertion: the array had no memory before the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check


def iterated(P: Any, n: Any) -> Any:
    x, y = np.ones(len(P)), np.empty(len(P))
    for _ in range(n):
        y[:] = P[0] + x
        x[:] = y / 2
    return x


def with_out(P: Any, n: Any) -> Any:
    x, y = np.ones(len(P)), np.empty(len(P))
    for _ in range(n):
        np.multiply(P[0], x, out=y)
        x[...] = np.add(y, 1, out=y)
    return x


def in_a_branch(P: Any, n: Any) -> Any:
    y = np.empty_like(P)
    if P[0, 0] > n:
        y[...] = P * 2
    else:
        y[...] = -P
    return y


def while_it_changes(P: Any, n: Any) -> Any:
    x, y = P[0].copy(), np.empty(len(P))
    while n > 0 and x[0] < 100:
        y[:] = x
        x += 1 + y
        n -= 1
    return x


@pytest.mark.parametrize("function", [iterated, with_out, in_a_branch, while_it_changes])
def test_it_is_memory_from_the_start(function: Callable[..., Any]) -> None:
    """An assertion of the tracer failed, and NumPy ran the call."""
    P = np.arange(9.0).reshape(3, 3) + 1
    decorated = check(
        function, (P, 7), (P[:2, :2].copy(), 0), variants=None, jit=True, bound=Bound(ulps=4)
    )
    assert not decorated.variants.fallbacks
