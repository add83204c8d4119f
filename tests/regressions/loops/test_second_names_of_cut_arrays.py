"""`old = z; z = z[keep]` in a loop was refused: `old` may grow and shrink.

The memory of ``old`` only needs room for all rows. Rows of a matrix under a mask (``x = x[keep]``)
were refused in loops, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check


def previous(z: Any, n: Any) -> Any:
    old = z
    while z.size > n:
        old = z
        z = z[z > z.min()]
    return old, z, old.max() - z.sum() * 0


def previous_of_a_copy(z: Any, n: Any) -> Any:
    z = z + 1
    old = z
    while z.size > n:
        old = z
        z = z[z > z.min()]
    return old.max(), z


def two_back(z: Any, n: Any) -> Any:
    older = old = z
    while z.size > n:
        older = old
        old = z
        z = z[z > z.min()]
    return older, old, z


def counted(z: Any, n: Any) -> Any:
    old = z
    for _ in range(n):
        old = z
        z = z[z > 0.1 * n]
        z = z - 0.05
    return old, z


def together(z: Any, n: Any) -> Any:
    w = z * 2
    old, old_w = z, w
    while z.size > n:
        keep = z > z.min()
        old, old_w = z, w
        z, w = z[keep], w[keep] + 1
    return old + old_w, z + w


def rows(z: Any, n: Any) -> Any:
    x = z.reshape(-1, 2)
    old = x
    while len(x) > n:
        old = x
        x = x[x[:, 0] > x[:, 0].min()]
    return old.max(axis=0), x


def with_a_store(z: Any, n: Any) -> Any:
    z = z + 1
    old = z
    while z.size > n:
        old = z
        z = z[z > z.min()]
        z[:1] += 1
    return old, z


FUNCTIONS = [previous, previous_of_a_copy, two_back, counted, together, rows, with_a_store]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_second_names(function: Any) -> None:
    calls = [(np.random.default_rng(n).uniform(size=12), n) for n in (5, 2, 9, 11, 12, 3)]
    check(function, *calls, variants=None)


def test_compiled() -> None:
    calls = [(np.random.default_rng(n).uniform(size=12), n) for n in (5, 12)]
    check(together, *calls, jit=True)


def rows_of_columns(x: Any, n: Any) -> Any:
    total = np.zeros(x.shape[1:])
    while len(x) > n:
        keep = x[:, 0] > x[:, 0].min()
        total += x[~keep].sum(axis=0)
        x = x[keep] * 0.5
    return x, total


def rows_with_weights(x: Any, n: Any) -> Any:
    w = x[:, 1] + 0
    for _ in range(n):
        keep = w < w.mean() + 1
        x, w = x[keep], w[keep] + 0.25
    return x.sum(axis=1), w


@pytest.mark.parametrize("function", [rows_of_columns, rows_with_weights])
def test_rows_under_a_mask(function: Any) -> None:
    x = np.random.default_rng(1).integers(0, 99, (9, 3)) / 4
    check(function, *((x, n) for n in (5, 2, 4)), bound=Bound(4))
