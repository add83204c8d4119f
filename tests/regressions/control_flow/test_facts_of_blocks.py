"""`y[1:]` of an empty array had -1 elements: facts from a skipped loop counted after it.

``x[i]`` in the body says ``0 <= i <= n - 1``, so that ``n >= 1`` was proved for good: after a loop
without iterations ``y[1:]`` of an empty array had -1 elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def loop(x: Any, y: Any) -> Any:
    y[...] = x
    i = 0
    while i < x.shape[0]:
        x[i] += 1
        i += 1
    return y[1:]


def branch(x: Any, y: Any, flags: Any) -> Any:
    y[...] = x
    k = int(flags.sum())
    if flags[0] > 1:
        x[k] += 1
    return y[1:]


def nested(x: Any, y: Any) -> Any:
    y[...] = x
    for i in range(3):
        for j in range(x.shape[0] - i):
            x[i + j] += 1
    return y[2:]


def test_behind_a_loop_without_iterations() -> None:
    for function in (loop, nested):
        check(function, (np.zeros(0), np.zeros(0)), (np.zeros(5), np.zeros(5)), variants=None)
        check(function, (np.zeros(5), np.zeros(5)), (np.zeros(0), np.zeros(0)), variants=None)


def test_behind_a_branch_that_was_not_taken() -> None:
    empty, few = (np.zeros(0), np.zeros(0)), (np.zeros(3), np.zeros(3))
    not_taken, taken = np.array([0, 1]), np.array([2, 0])
    check(branch, (*empty, not_taken), (*few, taken), (*few, not_taken), variants=None)
