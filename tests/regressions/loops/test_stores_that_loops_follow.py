"""Tracing never ended for a store before an in-place loop: a decision was kept at another line.

The decision was stored for the line of the first store and looked up at the line that made the
array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def loop(x: Any) -> Any:
    t = np.ones(x.shape[0])
    t[x > 2] *= -2.0
    for i in range(len(x) - 1):
        t[i] = t[i + 1] - t[i]
    return t


def branches(x: Any) -> Any:
    t = np.empty(x.shape)
    t[...] = 3
    if x[0] > 2:
        t += t
    else:
        t[...] = 1.5
    return t[::-1]


def several(x: Any) -> Any:
    t = x * 2
    t[x > 2] = 1
    t[...] = t[::-1]
    v = t.reshape(-1, 1)
    v *= 3
    for i in range(6):
        v[0] += i
    return t, v


def test_stores_in_front_of_loops_and_branches() -> None:
    for function in (loop, branches, several):
        check(function, (np.arange(5.0),), (np.arange(7.0)[::-1],), variants=None)
