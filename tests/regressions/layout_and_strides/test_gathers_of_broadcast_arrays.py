"""Gathers from a broadcast array had other strides: axes were not sorted with stride 0 last.

NumPy sorts the axes beside the integers by their strides, and a stride of 0 is the smallest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

ROWS = np.broadcast_to(np.arange(5.0), (4, 5))


def first(x: Any, at: Any) -> Any:
    return x[at]


def middle(x: Any, at: Any) -> Any:
    return x[:, at], x[1:, at, ::-1]


def last(x: Any, at: Any) -> Any:
    return x[..., at], np.take(x, at, axis=0)


@pytest.mark.parametrize("function", [first, middle, last])
@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_order_of_axes(function: Any, axes: tuple[int, ...]) -> None:
    for x in (ROWS[None], np.broadcast_to(ROWS.T, (3, 5, 4)), np.ones((2, 3, 4))[:, ::2]):
        check(function, (x.transpose(axes), np.array([0, -1, 0])), variants=None)
