"""`np.round` of broadcast integers had another order: it was traced as `np.positive`.

SciPy's ``_isintegral`` computes ``x == np.round(x)``. The result is now a copy in the order of the
strides.
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
