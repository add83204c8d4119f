"""`while ..: v = y` lost the old `v`: a loop of no iterations was traced as if it ran.

A loop that may run no iteration and binds a name to an array made before it was traced as if
it ran: without an iteration the name held that array. Where branches choose among what branches and
loops inside them have chosen, results were copies. Found by random programs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

CALLS = [
    (np.arange(1.0, 5.0), np.arange(4.0) - 1, limit, n)
    for limit, n in ((-5.0, 3), (2.5, 4), (9.0, 1), (3.0, 0), (100.0, 7))
]


def another(x: Any, y: Any, limit: Any, n: Any) -> Any:
    v = x * y
    k = 0
    while k < n and x[1] < limit + k:
        v = y
        k += 1
    return v, y


def view_of_another(x: Any, y: Any, limit: Any, n: Any) -> Any:
    v = x - y
    k = 0
    while k < n and x[1] < limit + k:
        v = y[:]
        k += 1
    m = 0
    while m < n and x[1] < limit + m:
        y[2] = 7
        m += 1
    return y, v


def in_a_loop_inside(x: Any, y: Any, limit: Any, n: Any) -> Any:
    w = x + y
    for _ in range(n):
        k = 0
        while k < n and y[1] < limit + k:
            w = y
            k += 1
        if w[0] > limit:
            break
    return w, y


def with_a_store_elsewhere(x: Any, y: Any, limit: Any, n: Any) -> Any:
    w = x
    v = x * y
    k = 0
    while k < n and v[1] < limit + k:
        v = y
        w[1] = 0
        k += 1
    return v, w


def choice_of_choices(x: Any, y: Any, limit: Any, n: Any) -> Any:
    v = x
    w = y + x
    if w[0] < limit:
        if x[0] < limit:
            y = v * 0.5
        else:
            v = y + v
        x = v + x
    else:
        v = v * 0.5
        x = y
    return v, y, x


def held_in_a_branch(x: Any, y: Any, limit: Any, n: Any) -> Any:
    v = x * y
    if x[0] < limit:
        k = 0
        while k < n and x[1] < limit + k:
            x = v
            k += 1
    else:
        v = y * 0.5
    return v, x


FUNCTIONS = [
    another,
    view_of_another,
    in_a_loop_inside,
    with_a_store_elsewhere,
    choice_of_choices,
    held_in_a_branch,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_loops_that_may_not_run(function: Any) -> None:
    check(function, *CALLS, variants=None)
