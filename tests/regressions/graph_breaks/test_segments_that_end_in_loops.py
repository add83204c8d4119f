"""A name was 0 after a segment's last loop of no iterations: reads were compared by line.

What is returned from a segment stands at the line of its last statement, and reads were compared
with a loop by their lines: the name counted as read nowhere after the loop, so that it was 0 where
the loop had no iteration. SciPy's ``lognorm.fit`` failed in its root finding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def pythons(x: Any) -> Any:
    return eval("x")


def behind_while(data: Any, limit: float) -> Any:
    k = pythons(np.min(data))
    r = k - 1.0
    d = r * 2
    while d < limit:
        r = d - 2.0
        d += 1
    return r, pythons(r)


def behind_for(data: Any, n: int) -> Any:
    k = pythons(np.min(data))
    last, total = k * 2.0, np.sum(data)
    for i in range(n):
        last = data[i] + 1.0
    return pythons(last) + total


def of_an_array(data: Any, n: int) -> Any:
    k = pythons(np.min(data))
    row = data * k
    for i in range(n):
        row = data + i
    return pythons(row) + 1


@pytest.mark.parametrize("function", [behind_while, behind_for, of_an_array])
def test_names_that_a_loop_gives_first(function: Any) -> None:
    calls = [(np.arange(5.0) + 3, n) for n in (0, 0, 5, 0, 2)]
    check(function, *calls, variants=None)
