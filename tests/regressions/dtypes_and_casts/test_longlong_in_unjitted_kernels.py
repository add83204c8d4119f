"""TypeError for `longlong` in an unjitted kernel: it compared scalar types, not their widths.

The message was ``put: longlong into memory of int64``. The kernel now views the memory as the dtype
it was made for.
"""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import decorate


@pytest.mark.parametrize("char", ["q", "Q"])
def test_longlong_arrays(char: str) -> None:
    def joined(x: np.ndarray) -> np.ndarray:
        y = x + 1
        y[0] = 3
        return np.concatenate((y, x))

    x = np.arange(4, dtype=char)
    fused = decorate(joined, jit=False)
    assert fused(x).tolist() == [3, 2, 3, 4, 0, 1, 2, 3]
    assert fused(x[::-1]).tolist() == [3, 3, 2, 1, 3, 2, 1, 0]
    assert fused(x).dtype == joined(x).dtype
