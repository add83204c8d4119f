"""`low < x[i] <= high` was refused: the trace asked for the truth value of an inner comparison."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import check


def in_if(a, b):
    if -2 < a[0] <= 2:
        b += 1
    return b


def in_while(a, b):
    n = 0
    while 0 <= a.sum() < 20 != n:
        a += 1
        n += 1
    return n + b


def middle_is_computed_once(a, b):
    def middle():
        b[0] += 1
        return b[0]

    return b + 1 if a[0] < middle() < 3 else b * 2


def known_in_the_middle(a, b):
    return (b if 0 < len(a) < a[1] < 7 else -b) + 1


def of_loop_variables(a, b):
    for i in range(a.shape[0]):
        if 0 < i < a.shape[0] - 1 <= 9:
            b[i] = a[i - 1] + a[i + 1]
    return b


@pytest.mark.parametrize(
    "function",
    [in_if, in_while, middle_is_computed_once, known_in_the_middle, of_loop_variables],
)
def test_chains_of_elements(function) -> None:
    for first in (-3.0, 0.0, 2.0, 5.0):
        a = np.array([first, 4.0, 1.0, 2.0])
        check(function, (a, np.arange(4.0)), variants=None)
