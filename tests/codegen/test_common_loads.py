"""Elements that both branches of a conditional load: before it where that is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def largest_sum(x, y, k):
    best = current = x[0]
    for i in range(1, len(x)):
        if current < 0:
            current = x[i]
        else:
            current = current + x[i]
        best = max(best, current)
    return best


def in_both_depths(x, y, k):
    total = 0.0
    for i in range(len(x)):
        if y[i] > 0:
            if x[i] > 1:
                total += x[i] * 2
            else:
                total -= x[i]
        else:
            total += x[i] * y[i]
    return total


def stored_before(x, y, k):
    total = 0.0
    for i in range(len(x)):
        if y[i] > 0:
            x[i] = y[i] * 3
            total += x[i]
        else:
            total -= x[i]
    return total


def at_other_places(x, y, k):
    total = 0.0
    for i in range(1, len(x)):
        if y[i] > 0:
            total += x[i]
        else:
            total -= x[i - 1]
    return total


def in_one_branch(x, y, k):
    total = 0.0
    for i in range(len(x)):
        if k[i] < len(y):
            total += y[k[i]]
        else:
            total -= x[i]
    return total


def behind_a_check(x, y, k):
    total = 0.0
    for i in range(len(x)):
        if i < k[0]:
            total += x[k[i]] + y[i]
        else:
            total -= x[k[i]] * y[i]
    return total


def arguments(seed: int, size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((2, size)) * 2
    return numbers[0], numbers[1], rng.integers(0, size, size)


CASES = {
    largest_sum: True,
    in_both_depths: True,
    stored_before: False,
    at_other_places: False,
    in_one_branch: False,
    behind_a_check: True,  # of k; the elements of x stay after the checks of their indices
}


@pytest.mark.parametrize("program", CASES, ids=lambda f: f.__name__)
def test_what_stands_in_front(program):
    source = fuse_jit(program).trace(*arguments(0, 9)).fuse().lower().source
    lines = [line.strip() for line in source.splitlines()]
    loads = [line for line in lines if line.startswith("both")]
    assert bool(loads) is CASES[program]
    if program is behind_a_check:
        assert all("get(p_a2, " in load for load in loads)


@pytest.mark.parametrize("program", CASES, ids=lambda f: f.__name__)
def test_results_are_numpys(program):
    check(program, *(arguments(seed, size) for seed, size in [(1, 5), (2, 40), (3, 7)]))
