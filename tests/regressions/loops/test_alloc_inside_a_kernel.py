"""KeyError for an array rebound in a compiled loop: only the launcher's blocks were searched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.arange(7.0)


def rebound_and_stored(x: Any, n: Any) -> Any:
    y = x
    for _ in range(n):
        y = y + 1
        y[0] = 5
    return y, x


def rolled(x: Any, n: Any) -> Any:
    for i in range(n):
        x = np.roll(x, 1)
        x[0] = i
    return x


@pytest.mark.parametrize("function", [rebound_and_stored, rolled])
def test_memory_of_a_loop(function: Any) -> None:
    check(function, (X, 0), (X, 1), (X, 6), variants=None)
