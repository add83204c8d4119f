"""An array whose size only one branch knows, under a name that is bound again before it is read.

Regression: The conditional joined it with zeros of that size, which the other branch does not know:
an internal error, in the membership functions of a public package of fuzzy logic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def triangle(x: Any, corners: Any) -> Any:
    a, b, c = corners[0], corners[1], corners[2]
    y = np.zeros(len(x))
    if a != b:
        at = np.nonzero(np.logical_and(a < x, x < b))[0]
        y[at] = (x[at] - a) / float(b - a)
    if b != c:
        at = np.nonzero(np.logical_and(b < x, x < c))[0]
        y[at] = (c - x[at]) / float(c - b)
    at = np.nonzero(x == b)
    y[at] = 1
    return y


def in_the_second_branch(x: Any, corners: Any) -> Any:
    total = 0.0
    if corners[0] > 0:
        total = 1.0
    else:
        chosen = np.unique(x)
        total += chosen.sum()
    chosen = x[x > 1]
    return total, chosen


@pytest.mark.parametrize("function", [triangle, in_the_second_branch])
@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_a_size_of_one_branch(function: Callable[..., Any], jit: bool) -> None:
    x = np.arange(11.0)
    calls = [(x, np.array(corners)) for corners in ([0, 2, 4], [0, 0, 4], [3, 9, 9], [5, 5, 5])]
    check(function, *calls, jit=jit)
