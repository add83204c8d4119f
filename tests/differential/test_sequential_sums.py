"""Short sums, of fewer than 8 numbers one after the other, have NumPy's bits.

Regression: Sums, means and variances of fewer than 8 numbers differed in the last bits: they were
added in a tree (SciPy's ``multinomial`` test).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit.ir.interpreter.summation import ACCUMULATORS
from fusejit_testing.oracle import decorate


def totals(x: Any) -> Any:
    return x.sum(), x.mean(), np.sum(x * x), np.nansum(x)


def spreads(x: Any) -> Any:
    return x.var(), x.std(), x.var(ddof=1), (x - 1).std()


def of_columns(x: Any) -> Any:
    x = x.T
    return x.sum(axis=0), x.mean(axis=0), (x * x).sum(0), x.var(0), x.std(axis=0)


def spreads_of_columns(x: Any) -> Any:
    x = np.ascontiguousarray(x.T)
    return x.var(axis=0), x.std(axis=0), (x * x).sum(axis=0)


def of_rows(x: Any) -> Any:
    return x.sum(axis=1), x.mean(axis=1), (x * x).sum(1), x.var(1), x.std(axis=1)


def in_a_loop(x: Any) -> Any:
    total = np.zeros(x.shape[0], x.dtype)
    for i in range(x.shape[0]):
        total[i] = x[i].sum() + x[i].var()
    return total


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("function", [totals, spreads])
def test_of_one_row(function: Any, dtype: str, jit: bool) -> None:
    same_bits(function, [row for rows in tables(dtype) for row in rows[:9]], jit)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("function", [of_columns, spreads_of_columns, of_rows, in_a_loop])
def test_of_tables(function: Any, dtype: str, jit: bool) -> None:
    same_bits(function, tables(dtype), jit)


def tables(dtype: str) -> list[np.ndarray]:
    """Numbers of different magnitudes, so that the order of adding shows in most of them."""
    rng = np.random.default_rng(5)
    shapes = [(60, n) for n in (*range(1, ACCUMULATORS + 2), 23, 130)]
    return [(rng.normal(size=s) * 10.0 ** rng.integers(-2, 2, s)).astype(dtype) for s in shapes]


@np.errstate(all="ignore")
def same_bits(function: Any, arguments: list[np.ndarray], jit: bool) -> None:
    fused = decorate(function, jit=jit, fullgraph=True)
    for x in arguments:
        if x.size > 1 or function is not spreads:
            np.testing.assert_array_equal(fused(x), function(x))


def test_in_another_order_they_differ() -> None:
    """Else the tests above would show nothing."""
    pairs = [(x[0] + x[2]) + x[1] != x.sum() for x in tables("f8")[2]]
    assert 10 < sum(pairs) < 50
