"""``np.round`` of integers is a copy in the order of their strides, also of a broadcast array.

It was what ``np.positive`` makes, so what was computed of it lay in another order (SciPy's
``_isintegral``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

WIDE = np.broadcast_to(np.array([7, 8, 9]), (2, 3))
CUBE = np.arange(24).reshape(2, 3, 4)


def is_integral(x: Any) -> Any:
    return x == np.round(x)


def rounded(x: Any) -> Any:
    return np.round(x), x.round() * 2


@pytest.mark.parametrize("function", [is_integral, rounded])
@pytest.mark.parametrize(
    "x", [WIDE, WIDE.T, CUBE.transpose(1, 0, 2), CUBE[:, :, ::2].T, np.array(3), np.int64(3)]
)
def test_orders(function: Any, x: Any) -> None:
    check(function, (x,))
