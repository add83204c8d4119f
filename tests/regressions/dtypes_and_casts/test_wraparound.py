"""`z * 4 == 0` became `z == 0`: Numba's `nsw` flags tell LLVM that integers never overflow.

Numba's operators carry ``nsw``; LLVM then answered ``z * 4 == 0`` by ``z == 0``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

PROGRAMS: list[Callable[[Any], Any]] = [
    lambda z: z * 4 == 0,
    lambda z: np.logical_not(np.sqrt(abs(z * 4))),
    lambda z: (z * 4).astype(float) != 0,
    lambda z: (z * 8) // 8,
    lambda z: (z * 8) >> 3,
    lambda z: z + 1 > z,
    lambda z: z - 1 < z,
    lambda z: -z > 0,
    lambda z: z * z >= 0,
    lambda z: (z * 3).sum() > z.sum(),
    lambda z: z**3 // z,
]


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "u2", "u4", "u8"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wrapped_numbers_are_numbers(dtype: str) -> None:
    info = np.iinfo(dtype)
    z = np.array([info.min, info.max, info.max // 2 + 1, info.min // 2, 3, 1, 2], dtype)

    def program(z: Any) -> Any:
        return tuple(f(z) for f in PROGRAMS)

    for jit in (False, True):
        assert_same(program(z), decorate(program, jit=jit, fullgraph=True)(z))
