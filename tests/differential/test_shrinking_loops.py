"""Arrays that lose rows in a loop, as many as their elements decide: ``x = x[keep]``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def numbers(n: int) -> Any:
    return np.random.default_rng(n).integers(0, 40, n).astype(float)


def cut_together(x: Any, steps: int) -> Any:
    """Two arrays under one mask, and their sums; what is left of both is handed out."""
    at = np.arange(len(x))
    total = 0.0
    for k in range(steps):
        keep = x > k
        x, at = x[keep] - 0.5, at[keep]
        total += x.sum() + at.sum()
    return total, x, at, len(x)


def stops_first(x: Any, steps: int) -> Any:
    count = np.zeros(len(x), np.int64)
    at = np.arange(len(x))
    x = x.copy()
    for k in range(steps):
        if not len(at):
            break
        x = x - 7.0
        gone = x < 0
        count[at[gone]] = k + 1
        x, at = x[~gone], at[~gone]
    return count


def stops_last(x: Any, steps: int) -> Any:
    y = x * 2
    for k in range(steps):
        y = y[y > 3.0 * k] - 1.0
        if y.size == 0:
            break
    return y, k


def cut_in_a_branch(x: Any, steps: int) -> Any:
    y = x + 1.0
    sizes = np.zeros(steps)
    for k in range(steps):
        if y.sum() > 100.0:
            y = y[y > k]
        sizes[k] = len(y)
    return y, sizes


def cut_in_either_branch(x: Any, steps: int) -> Any:
    y, z = x + 1.0, x * 2
    for k in range(steps):
        if y.sum() > 100.0:
            y = y[y > k]
        else:
            z = z[z > k]
            y = y[y > 2 * k]
        y += 0.25
    return y, z


def cut_apart(x: Any, steps: int) -> Any:
    """Lengths that nobody knows to be equal or not."""
    y, z = x + 1.0, x - 1.0
    for k in range(steps):
        y = y[y > k]
        z = z[z < 40 - k]
    return y, z, y.sum() + z.sum()


def changed_in_place(x: Any, steps: int) -> Any:
    y = x.copy()
    for k in range(steps):
        y = y[y > k]
        y *= 0.75
        y[:2] = k
    return y


def older_names(x: Any, steps: int) -> Any:
    """What other names hold keeps its rows."""
    y = x.copy()
    total = 0.0
    for k in range(steps):
        before = y
        y = y[y > k]
        total += before.sum() - y.sum() + len(before)
    return y, total


def nested(x: Any, steps: int) -> Any:
    out = np.zeros(steps)
    for i in range(steps):
        y = x + i
        for k in range(i, 3 * steps):
            y = y[y > k]
        out[i] = len(y) + y.sum()
    return out


def rows_are_left(x: Any, steps: int) -> Any:
    y = x[: len(x) // 2 * 2].reshape(-1, 2).copy()
    for k in range(steps):
        y = y[np.flatnonzero(y[:, 0] > k)]
    return y


def until_none_is_left(x: Any, steps: int) -> Any:
    at = np.arange(len(x))
    out = np.zeros(len(x), np.int64)
    rounds = 0
    while len(at):
        x = x - steps
        keep = x > 0
        out[at[~keep]] = rounds
        x, at = x[keep], at[keep]
        rounds += 1
    return out, rounds


def sieves(x: Any, steps: int) -> Any:
    """The first of what is left; there is one whenever it is read."""
    y = np.arange(2, 10 * steps)
    found = 0
    while y.size:
        found += y[0]
        y = y[y % y[0] != 0]
    return found


ALL = [
    until_none_is_left,
    sieves,
    cut_together,
    stops_first,
    stops_last,
    cut_in_a_branch,
    cut_in_either_branch,
    cut_apart,
    changed_in_place,
    older_names,
    nested,
]


@pytest.mark.parametrize("function", ALL)
def test_like_numpy(function: Any) -> None:
    check(function, (numbers(11), 6), (numbers(30), 9), variants=1)


@pytest.mark.parametrize(
    "function", [sieves, stops_first, until_none_is_left, cut_in_a_branch, changed_in_place]
)
def test_jitted(function: Any) -> None:
    check(function, (numbers(11), 6), (numbers(300), 9), jit=True)


@pytest.mark.parametrize("function", ALL)
def test_nothing_is_left(function: Any) -> None:
    check(function, (np.full(6, -50.0), 8))


def test_rows() -> None:
    check(rows_are_left, (numbers(12), 6), variants=None)


def test_one_kernel_and_one_loop() -> None:
    """The number of rows is carried once for arrays that are cut together."""
    graph = str(fuse_jit(stops_first).trace(numbers(12), 9))
    assert "host_call" not in graph
    carried = graph[graph.index("while carry (") :].split("\n")[0]
    assert carried.count("rows_of") == 1
