"""`np.fmax(x, np.arange(n) % 50)` kept NaN: LLVM is wrong beside an integer that is converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same

X = np.array([np.nan, 1, -np.inf, np.inf, 3.5, -0.0] * 5)


@pytest.mark.parametrize("function", [np.fmax, np.fmin, np.maximum, np.minimum])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_beside_integers(function: Callable[..., Any], dtype: Any) -> None:
    def left(x: Any) -> Any:
        return function((np.arange(x.size) % 50).astype(x.dtype), x)

    def right(x: Any) -> Any:
        return function(x, (np.arange(x.size) % 50).astype(x.dtype))

    x = X.astype(dtype)
    for f in (left, right):
        assert_same(f(x), fuse_jit(f)(x))
