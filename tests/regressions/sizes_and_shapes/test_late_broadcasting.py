"""ValueError for a late length of 1: lengths known late were assumed equal.

Where one of two unequal lengths is 1, NumPy broadcasts. The kernel's stores are now undone, and
NumPy runs the call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def windows(x: Any, y: Any) -> Any:
    for w in range(x.shape[0]):
        x[w : w + 2] -= y[w : w + 2]
    return x * 2


def rows(x: Any, y: Any) -> Any:
    for k in range(1, x.shape[0]):
        x[k] += 1
        v = y[:k]
        x[k - 1 : 0 : -1] = v * v[:-1]
    return x


def squares(x: Any, y: Any) -> Any:
    for k in range(x.shape[0]):
        y[k] += x[0]
        x[:] = np.square(x[k::2])


CALLS = [(np.arange(n + 0.0), np.arange(m + 1.0)) for n, m in ((6, 6), (5, 4), (2, 2), (6, 3))]


@pytest.mark.filterwarnings("ignore:.* runs as plain NumPy")
@pytest.mark.parametrize("function", [windows, rows, squares])
def test_extents_of_1(function: Any) -> None:
    check(function, *CALLS, variants=None)


@pytest.mark.filterwarnings("ignore:.* runs as plain NumPy")
def test_views_and_jitted_kernels() -> None:
    x, y = np.arange(20.0).reshape(10, 2)[::-2, 1], np.arange(12.0)[::3]
    check(windows, (x, x * 1), (x, y), jit=True, variants=None)


def test_equal_extents_are_compiled() -> None:
    function = fuse_jit(windows)
    for n in (6, 9):
        function(np.arange(n + 0.0), np.ones(n))
    assert len(function.variants) == 1
    assert not function.variants.fallbacks
