"""NumPy ran comparisons of a kernel's Python int: the rule required a literal operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def by_trial(n: int) -> Any:
    count = 0
    for i in range(2, n):
        d, is_prime = np.int64(2), True
        while d * d <= i:
            if i % d == 0:
                is_prime = False
                break
            d += 1
        if is_prime:
            count += 1
    return count


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.uint64])
def test_counters_beside_elements(dtype: Callable[..., Any]) -> None:
    def smaller(x: Any, n: int) -> Any:
        found = np.zeros(n, np.int64)
        for i in range(n):
            k = i * 200 - 400
            for j in range(len(x)):
                found[i] += 8 * (k < x[j]) + 4 * (x[j] >= k) + 2 * (k == x[j]) + (x[j] != k)
        return found

    for n in (6, 9):
        check(smaller, (np.arange(20).astype(dtype) * 10, n), (np.zeros(3, dtype), n + 1))


def test_numbers_of_loops() -> None:
    check(by_trial, (50,), (99,), jit=True)
