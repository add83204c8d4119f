"""`chosen = x[mask]; chosen += 1` changed one name only: other names kept the old elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def another_name(x: Any) -> Any:
    mask = x > 0
    chosen = x[mask]
    same = chosen
    chosen += 1
    x[mask] = same
    return x


def double(values: Any) -> None:
    values *= 2


def in_a_function(x: Any) -> Any:
    mask = x > 0
    chosen = x[mask]
    double(chosen)
    x[mask] = chosen
    return x


def a_copy_stays(x: Any) -> Any:
    mask = x > 0
    chosen = x[mask]
    before = chosen.copy()
    twice = chosen + chosen
    chosen -= 1
    x[mask] = before * 10 + twice - chosen
    return x


@pytest.mark.parametrize("function", [another_name, in_a_function, a_copy_stays])
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_in_place(function: Any, dtype: type) -> None:
    check(function, (np.array([1, -2, 3, 0], dtype),))
