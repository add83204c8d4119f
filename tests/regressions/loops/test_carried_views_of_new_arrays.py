"""NumPy ran loops that rebind a name to part of a new array: such views were refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

BOUND = Bound(ulps=64)


def row(p: Any, n: Any) -> Any:
    for k in range(n):
        table = np.zeros((4, len(p)))
        table[1] = p * 0.5
        table[2:] = p + k
        p = table[2]
    return p


def one_of_two_rows(p: Any, n: Any) -> Any:
    for k in range(n):
        table = np.outer(p, p) * 0.5 + k
        p = table[k % 2]
    return p


def two_rows(p: Any, n: Any) -> Any:
    q = p * 2
    for k in range(n):
        table = np.outer(p, q) * 0.5 + k
        p, q = table[0], table[1]
    return p, q


def first_half(p: Any, n: Any) -> Any:
    for _ in range(n):
        p = np.concatenate([p, 2 * p])[: len(p)] * 1.0
        p = np.concatenate([p, 2 * p])[len(p) :]
    return p


def changed_behind(p: Any, n: Any) -> Any:
    for k in range(n):
        table = np.outer(p, p) * 0.5 + k
        p = table[0]
        p += 1
        table[0, 0] = 7
    return p


@pytest.mark.parametrize("function", [row, one_of_two_rows, two_rows, first_half, changed_behind])
def test_rows(function: Callable[..., Any]) -> None:
    """They were left to NumPy: "returns a view that a loop carries"."""
    p = np.array([1.0, -0.5, 2.0])
    calls = [(p, 4), (p, 1), (p[:2].copy(), 0)]
    decorated = check(function, *calls, bound=BOUND, inner_bound=BOUND, jit=True, variants=None)
    assert not decorated.variants.fallbacks


def part_and_all(p: Any, n: Any) -> Any:
    table = np.zeros((len(p), len(p)))
    for k in range(n):
        table = np.outer(p, p) * 0.5 + k
        p = table[0]
    return p, table


def two_names(p: Any, n: Any) -> Any:
    q = p * 1
    for k in range(n):
        table = np.outer(p, q) * 0.5 + k
        p = table[0]
        q = p
    return p, q


def column(p: Any, n: Any) -> Any:
    for k in range(n):
        p = (np.outer(p, p) * 0.5 + k)[:, 0]
    return p


@pytest.mark.parametrize("function", [part_and_all, two_names, column])
@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy")
def test_what_shares_memory_or_has_gaps(function: Callable[..., Any], n: int) -> None:
    args = (np.array([1.0, -0.5, 2.0]), n)
    actual = run(decorate(function, jit=False), args)
    if actual.error is None:
        compare_outcomes(run(function, args), actual, BOUND)
    else:
        assert "one array after an iteration" in str(actual.error)
