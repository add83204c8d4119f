"""A flattened array that was first read inside a loop could not be read behind it.

The second name for its memory was made where it was needed first, in the body of the loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.testing.oracle import check


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
