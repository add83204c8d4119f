"""``out=`` of ``np.dot`` and ``np.take``, which ask more of it than ufuncs do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
X, I = np.arange(5, dtype=np.int32), np.array([1, -2])  # noqa: E741


def product(a: Any, b: Any, out: Any) -> Any:
    return np.dot(a, b, out=out) is out


def taken(x: Any, i: Any, out: Any) -> Any:
    return np.take(x, i, out=out)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((2, 4)),
        np.zeros((4, 4))[:2],
        np.zeros((4, 2)).T,
        np.zeros((4, 8))[:2, ::2],
        np.zeros((2, 4), np.float32),
        np.zeros((2, 5)),
        np.zeros(8),
    ],
    ids=["dense", "rows", "transposed", "strided", "float32", "wide", "flat"],
)
@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy")
def test_dot(out: Any) -> None:
    """It was refused."""
    check(product, (A, B, out), variants=None)


@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy")
def test_of_rank_0() -> None:
    """NumPy stores into it and returns a scalar."""
    check(product, (A[0], B[:, 1], np.zeros(())), variants=None)
    check(taken, (X, np.int64(1), np.zeros((), np.int32)), variants=None)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(2, np.int32),
        np.zeros(4, np.int32)[::2],
        np.zeros(2, np.int8),
        np.zeros(2, np.int64),
        np.zeros(2),
        np.zeros(3, np.int32),
        np.zeros((1, 2), np.int32),
    ],
    ids=["dense", "strided", "int8", "int64", "float64", "long", "matrix"],
)
def test_take(out: Any) -> None:
    """It was refused."""
    decorated = decorate(taken, jit=False)
    compare_outcomes(run(taken, (X, I, out)), run(decorated, (X, I, out)))


def automaton(grid: Any, table: Any) -> None:
    for t in range(len(grid) - 1):
        row = grid[t]
        np.take(table, 2 * np.roll(row, 1) + row, out=grid[t + 1])
        table.take(grid[t + 1], out=grid[t + 1])


def steps(P: Any, n: Any) -> Any:
    x, y = np.ones(len(P)), np.empty(len(P))
    for _ in range(n):
        np.dot(P, x, out=y)
        x[:] = y / y.sum()
    return x


def test_in_loops() -> None:
    grid = np.zeros((5, 7), np.uint8)
    grid[0, 3] = 1
    check(automaton, (grid, np.array([0, 1, 3, 2], np.uint8)), jit=True)
    check(steps, (A @ A.T + 1, 3), (np.eye(4), 7), jit=True, bound=Bound(ulps=64))
