"""Casts of floats to integers that do not hold them, in all places of an array."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import decorate

SPECIAL = (
    *(np.nan, np.inf, -np.inf, -1.0, -1.5, 300.0, -300.0, 7e4, 2.0**31, 2.0**32 + 4096, 3e9, -3e9),
    *(1e10, -1e10, 2.0**63, -(2.0**63), 2.0**64, 1e19, -1e19, 1e30, 9.3e18, -(2.0**31) - 1),
)
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="NumPy's casts are the machine's")
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", ["f4", "f8"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_casts_are_those_of_one_element(source: str, target: str) -> None:
    """NumPy's casts to uint32 differ between vectors and the rest; the others do not."""

    def cast(x: Any) -> Any:
        return x.astype(target)

    fused = decorate(cast, jit=True)
    for number in SPECIAL:
        x = np.full(130, number, source)
        one = x[:1].astype(target)
        for size in (1, 2, 3, 4, 5, 8, 15, 31, 64):
            for part in (x[:size], x[: 2 * size : 2], x[:size][::-1]):
                assert (fused(part) == one).all()
                is_in_vectors = target == "u4" and part.strides == x.strides
                assert is_in_vectors or (cast(part) == one).all()
