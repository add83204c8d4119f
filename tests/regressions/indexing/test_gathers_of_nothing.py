"""`x[2]` of an empty array was read out of bounds: the load was moved before an empty loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def same_place(x: Any, y: Any) -> Any:
    places = np.full(y.shape, 2, dtype=np.int64)
    y += x[places]
    return y


def same_row(x: Any, y: Any) -> Any:
    rows = np.full(y.shape[0], 3, dtype=np.int64)
    return x[rows] + y


def test_no_points() -> None:
    check(same_place, (np.zeros(0), np.zeros(0)), (np.arange(4.0), np.ones(5)), jit=True)
    check(same_row, (np.zeros((0, 3)), np.zeros((0, 3))), (np.ones((4, 3)), np.ones((2, 3))))
    check(same_row, (np.ones((4, 0)), np.ones((2, 0))), (np.ones((4, 3)), np.ones((0, 3))))


def test_a_place_that_is_not_there() -> None:
    check(same_place, (np.zeros(2), np.zeros(3)), variants=None)
