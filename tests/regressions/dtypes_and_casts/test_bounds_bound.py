"""The test oracle's ulp bound accepted every number: its rule for infinities always applied."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.compare import Bound, assert_same


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bound_in_ulps(dtype: type) -> None:
    bound = Bound(ulps=4)
    one, largest = np.ones(3, dtype), np.full(3, np.finfo(dtype).max)
    assert_same(one, one + 3 * np.spacing(one), bound)
    with pytest.raises(AssertionError, match="3 of 3 elements differ"):
        assert_same(one, one + 5 * np.spacing(one), bound)
    with pytest.raises(AssertionError, match="3 of 3 elements differ"):
        assert_same(one, -one, bound)
    infinity, ulp = np.full(3, np.inf, dtype), largest - np.nextafter(largest, dtype(0))
    assert_same(largest, infinity, bound)  # an infinity beside the largest number
    assert_same(infinity, largest - ulp, bound)
    for other in (largest - 8 * ulp, one, -infinity):
        with pytest.raises(AssertionError, match="3 of 3 elements differ"):
            assert_same(infinity, other, bound)
    with pytest.raises(AssertionError, match="3 of 3 elements differ"):
        assert_same(largest, one, bound)
