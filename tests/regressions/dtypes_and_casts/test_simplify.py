"""`abs(-x)` became `abs(x)` for unsigned integers, where this is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import check


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i4", "i8", "f4", "f8"])
def test_absolute_of_negative(dtype: str) -> None:
    values = np.array([0, 1, 33, 100, 127], dtype)
    low = values if dtype[0] == "u" else np.append(values, np.array([-1, -127], dtype))
    check(lambda x: np.abs(-x), (low,))


def test_power_of_a_scalar_is_pow_in_every_form() -> None:
    x = np.array(-np.inf, "f4")
    with np.errstate(all="ignore"):
        check(lambda x: (x + 0) ** 0.5, (x,))
