"""Totals of few numbers inside compiled loops: the same bits as anywhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, decorate

LENGTHS = (0, 1, 2, 3, 7, 8, 31, 127, 128, 129, 1023, 1024, 1025, 2500)
NEAR = Bound(ulps=64, absolute=1e-12)


def totals(x: Any, steps: int) -> Any:
    out = np.zeros(steps)
    for i in range(steps):
        out[i] = (x * i).sum() + x.sum() * 2
    return out


def extremes(x: Any, steps: int) -> Any:
    total = 0.0
    for i in range(steps):
        total += np.max(x - i) * 2 + np.min(x * i)
    return total


def counts(x: Any, i: Any, steps: int) -> Any:
    found = np.zeros((steps, 5))
    for k in range(steps):
        found[k, 0] = (x > k).sum()
        found[k, 1] = (i * k).sum()
        found[k, 2] = np.any(x > k)
        found[k, 3] = np.all(i < k)
        found[k, 4] = np.count_nonzero(i == k)
    return found


def arguments(dtype: str) -> list[tuple[np.ndarray, int]]:
    rng = np.random.default_rng(0)
    return [((rng.standard_normal(n) * 3).astype(dtype), 5) for n in LENGTHS]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_have_the_written_out_order(dtype: str) -> None:
    """The interpreter, the unjitted source and the kernel agree to the bit."""
    bound = Bound(absolute=1e-3 if dtype == "f4" else 1e-10)
    check(totals, *arguments(dtype), jit=True, bound=bound, variants=None)

    def total(x: Any, steps: int) -> Any:
        out = np.zeros(steps, x.dtype)
        for i in range(steps):
            out[i] = x[i:].sum()
        return out

    fused = decorate(total, jit=True, fullgraph=True)
    for x, steps in arguments(dtype):
        if len(x) > steps:
            expected = [np.sum(x[i:]) for i in range(steps)]
            np.testing.assert_array_equal(fused(x, steps), expected)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_extrema(dtype: str) -> None:
    calls = [call for call in arguments(dtype) if len(call[0])]
    check(extremes, *calls, jit=True, variants=None)
    with_nan = (np.array([1.0, np.nan, -2.0]), 3)
    if dtype == "f8":
        check(extremes, with_nan, (-np.zeros(3), 3), jit=True, bound=Bound(zero_sign=False))


def test_integers() -> None:
    rng = np.random.default_rng(1)
    calls = [(rng.standard_normal(n) * 3, rng.integers(-5, 5, n), 6) for n in LENGTHS]
    check(counts, *calls, jit=True, variants=None)


def test_two_totals_of_one_array_and_functions() -> None:
    def f(x: Any, steps: int) -> Any:
        out = np.zeros((steps, 3))
        for i in range(steps):
            e = np.exp(-x * i)
            out[i] = e.sum(), np.sqrt(e * e).sum(), e.max()
            x = x * (e.sum() > 0)
        return out

    calls = [(np.linspace(0, 2, n), 5) for n in (2, 9, 64, 200)]
    check(f, *calls, jit=True, bound=NEAR, inner_bound=NEAR)
