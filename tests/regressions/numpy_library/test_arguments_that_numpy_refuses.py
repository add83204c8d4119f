"""`np.argmax(a, axis=True)`, places into floats, and `device="gpu"` gave results: NumPy raises.

Handlers did not ask for what NumPy's C code asks. Python runs such calls, and NumPy raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

A = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.argmax(a, axis=True),
        lambda a: np.argmin(a, axis=False),
        lambda a: np.cumsum(a, axis=True),
        lambda a: np.cumprod(a, axis=True),
        lambda a: np.zeros_like(a, device="gpu"),
        lambda a: np.ones_like(a, device="gpu"),
        lambda a: np.empty_like(a, device="gpu"),
        lambda a: np.full_like(a, 1, device="gpu"),
        lambda a: np.asarray(a, device="gpu"),
        lambda a: np.astype(a, int, device="gpu"),
        lambda a: np.zeros_like(a, device="cpu"),
        lambda a: np.zeros(a.shape, device="cpu", like=a),
        lambda a: np.zeros(a.shape, device="gpu"),
        lambda a: np.ones(a.shape, device="gpu"),
        lambda a: np.empty(a.shape, device="gpu"),
        lambda a: np.full(a.shape, 2.0, device="gpu"),
        lambda a: a + np.zeros(a.shape, zz=1),
        lambda a: np.isposinf(a, zz=1),
    ],
)
def test_arguments_that_numpy_does_not_take(function: Callable[..., Any]) -> None:
    check(function, (A,), variants=None)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, out: np.argmax(a, 0, out),
        lambda a, out: np.argmin(a, axis=0, out=out),
        lambda a, out: np.ptp(a, out=out),
        lambda a, out: np.ptp(a, axis=0, out=out),
    ],
)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64, np.bool_, np.float64])
def test_out_that_numpy_does_not_take(function: Callable[..., Any], dtype: Any) -> None:
    check(function, (A, np.zeros(4, dtype)), variants=None)
