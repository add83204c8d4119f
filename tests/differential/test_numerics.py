"""Accuracy of sums and means against math.fsum, and the same bits whatever the machine does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fusejit.codegen.machine.pool import set_num_threads
from fusejit_testing.compare import assert_same, sum_bound
from fusejit_testing.oracle import check, decorate

ARRAYS = 1000


@pytest.fixture(scope="module")
def row_sums() -> Any:
    """Jitted sums and means of the rows of a matrix."""
    return decorate(lambda x: (np.sum(x, axis=1), np.mean(x, axis=1)), jit=True)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [10, 100, 1000, 10_000])
@pytest.mark.parametrize("shift", [0.0, 1.0], ids=["centred", "positive"])
def test_root_mean_square_error(row_sums: Any, dtype: str, n: int, shift: float) -> None:
    """At most 1.1 times NumPy's own error over 1,000 random arrays."""
    limit = 1.1
    rng = np.random.default_rng(n)
    x = (rng.normal(size=(ARRAYS, n)) + shift).astype(dtype)
    exact = np.array([math.fsum(row) for row in x.tolist()])
    for ours, theirs, true in zip(
        row_sums(x), (x.sum(axis=1), x.mean(axis=1)), (exact, exact / n), strict=True
    ):
        assert root_mean_square(ours - true) <= limit * root_mean_square(theirs - true)
    assert np.all(np.abs(row_sums(x)[0] - exact) <= sum_bound(x, 1))


def root_mean_square(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(errors.astype(np.float64)))))


def test_the_bound_of_sums_holds() -> None:
    rng = np.random.default_rng(5)
    for n in (1, 7, 64, 65, 1024, 1025, 5000):
        x = rng.normal(size=n).astype(np.float32)
        bound = sum_bound(x)
        assert abs(float(x.sum()) - math.fsum(x.tolist())) <= bound


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_same_bits_with_one_and_two_threads(axis: Any) -> None:
    """Large enough that threads are used: NumPy's bits."""
    x = np.random.default_rng(1).normal(size=(700, 1300))
    f = decorate(lambda x: (np.sum(x * x, axis=axis), np.max(x, axis=axis), x * 2), jit=True)
    results = []
    for threads in (1, 2):
        set_num_threads(threads)
        results.append(f(x))
    set_num_threads(1)
    results.append(f(x))
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])
    assert_same(np.sum(x * x, axis=axis), results[0][0])


def test_the_bits_of_numpy_in_every_layout() -> None:
    """C, F, strided, reversed memory: NumPy's order, and so the sum, depends on it."""
    x = np.random.default_rng(2).normal(size=(130, 150)).astype(np.float32)
    wide = np.zeros((260, 300), np.float32)
    wide[::2, ::2] = x

    def sums(x):
        return np.sum(x), np.sum(x, axis=0), np.sum(x * 2, axis=1), x.mean(dtype=np.float64)

    views = [np.asfortranarray(x), wide[::2, ::2], np.ascontiguousarray(x[::-1])[::-1], x[:, 3:]]
    for view in (x, *views):
        check(sums, (view,))
        check(sums, (view,), jit=True)


def test_fusion_does_not_change_a_sum() -> None:
    x = np.random.default_rng(3).normal(size=3000)
    fused = decorate(lambda x: np.sum(x * 2 + 1), jit=True)(x)
    assert_same(np.sum(x * 2 + 1), fused)
