"""An unrolled search returned its last match: iterations after `break` on an element still ran."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def first_large(x: Any, limit: float) -> Any:
    for i in range(3):
        if x[i] > limit:
            return i
    return -1


def breaks(x: Any, limit: float) -> Any:
    found = -1
    for i in range(4):
        if x[i] > limit:
            found = i
            break
    return found


@pytest.mark.parametrize("function", [first_large, breaks])
def test_the_first_match_wins(function: Any) -> None:
    x = np.array([0.1, 0.8, 0.9, 0.3])
    check(function, (x, 0.5), (x[::-1].copy(), 0.5), (x, 2.0), (x, 0.0))


def test_items_that_only_python_has() -> None:
    def listed(x: Any) -> Any:
        found = -1
        for i in [2, 0, 1]:
            if x[i] > 0.5:
                found = i
                break
        return found

    check(listed, (np.array([0.9, 0.8, 0.7]),), (np.array([0.9, 0.8, 0.2]),), (np.zeros(3),))
