"""`len(y) > 0` was assumed true: an index bound in a skipped loop counted as proof after it.

``y[j]`` binds a symbol within ``[0, len(y) - 1]``. In a block that does not run there is no such
number, so after the block nothing follows from it: ``len(y) > 0`` was decided to be true, and the
``y[0]`` under it was out of bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def test_index_in_a_loop_that_does_not_run() -> None:
    def f(x: Any, half: int) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            y = x[max(0, i - half) : i + half]
            total, j = 0.0, len(y) - 1
            while j >= 0:
                total += y[j]
                j -= 1
            if len(y) > 0:
                total += y[0]
            out[i] = total
        return out

    check(f, (np.arange(9.0), 2))
    check(f, (np.arange(9.0), 0))
