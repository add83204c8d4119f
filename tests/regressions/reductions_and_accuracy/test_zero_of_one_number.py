"""The minimum of -0.0 was 0.0: a reduction of one number must return it unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def smallest(x: Any) -> Any:
    return np.min(x, axis=None), np.max(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_negative_zero_without_an_axis(dtype: type) -> None:
    check(smallest, (np.array(-0.0, dtype),))
