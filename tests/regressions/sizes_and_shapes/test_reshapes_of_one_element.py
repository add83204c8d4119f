"""Reshapes of one element to given sizes failed: the plan looked for an axis to split.

``x.reshape(shape)`` with the shape as an argument: after the axes of length 1 are dropped no axis
is left to split, and the plan of the view asked for the first one (`np.ma.reshape` of a field).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from fusejit_testing.oracle import check

SHAPES = [(1, 1), (1,), (1, 1, 1), ()]


@pytest.mark.parametrize("strides", [(0, 0), (40, 24), (8, 8), (-8, 8)])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_element(strides: tuple[int, ...], shape: tuple[int, ...]) -> None:
    def reshaped(x: Any, shape: Any) -> Any:
        return x.reshape(shape), x.reshape(shape) + 1, np.reshape(x, shape).T

    x = as_strided(np.arange(9.0)[4:], (1, 1), strides)
    check(reshaped, (x, shape), variants=None)


def test_a_field() -> None:
    x = np.ones((1,), np.dtype([("a", "?", (1, 1)), ("b", "i4")]))["a"][0]
    check(lambda x, shape: x.reshape(shape), (x, (1, 1)), variants=None)
