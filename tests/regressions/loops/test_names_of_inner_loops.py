"""Programs with a name that only an inner loop uses were refused: its later value was required.

``a`` of the first loop had a number after the inner one, or none where that did not run, and the
program was refused. Results after an inner function that returns something had the wrong form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check

EDGES = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [1, 3], [0, 3]])


def degrees(edges: Any, n: int) -> Any:
    count = np.zeros(n, int)
    for a, b in edges:
        count[b] += 1
        count[a] += 2
    head = 0
    while head < n:
        for a, b in edges:
            if a == head:
                count[b] -= 1
        head += 1
    return count


def pairs(x: Any) -> Any:
    def negative(v: Any) -> Any:
        return -v

    if x.min() > 0:
        return negative(x.sum()), 1.5
    return negative(x.max()), 2.5


def masked_with_initial(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += x[x > x[i]].max(initial=0) + x[x < x[i]].sum(initial=1)
    return s, x[x > 0].max(initial=0), np.min(x[x > 5], initial=3.0)


def test_names_of_inner_loops() -> None:
    check(degrees, (EDGES, 4), (EDGES[:5], 6), (EDGES[:0], 3), variants=None)


def test_results_behind_inner_functions() -> None:
    check(pairs, (np.arange(6.0),), (np.arange(1.0, 7.0),))


def test_reductions_under_a_mask_with_initial() -> None:
    check(masked_with_initial, (np.arange(-3.0, 6.0),), (np.arange(7.0, 0.0, -1),), variants=None)
