"""KeyError for memory of a loop body: it was looked up among the launcher's blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def test_memory_made_in_the_body_is_no_array_of_the_launcher() -> None:
    """KeyError while lowering: the buffer was looked up among those of the launcher's blocks."""

    def f(x: Any, steps: int) -> Any:
        total = x
        for _ in range(steps):
            t = total + x
            t[0] += 1
            total = t
        return total

    check(f, (np.arange(5.0), 6))
