"""A flattened array was unreadable after a loop: its second name was made in the loop body."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def test_flattened_array_in_two_loops() -> None:
    def f(image: Any) -> Any:
        x = image.ravel()
        counts = np.zeros(4, np.int64)
        for i in range(len(x) // 2):
            counts[x[2 * i]] += 1
        for i in range(len(x) // 2 * 2, len(x)):
            counts[x[i]] += 1
        return counts

    rng = np.random.default_rng(0)
    check(f, (rng.integers(0, 4, (5, 7)),), (rng.integers(0, 4, (9, 3)),))


def test_a_reshape_that_a_loop_leaves_is_a_view() -> None:
    """It was an array of its own, which a store into the argument did not change."""

    def left(z: Any, n: int) -> Any:
        for k in range(n):
            q = z.reshape(2, -1)
            q[0] = k
        return z.reshape(-1, 2), q

    check(left, (np.arange(16.0), 5), (np.arange(12.0), 3), variants=None)
