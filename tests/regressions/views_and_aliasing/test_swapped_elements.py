"""`x[j], x[i] = x[i], x[j]` failed to compile: `x[j]` was loaded before `j = index[i]` is known.

``x[j], x[i] = x[i], x[j]`` with ``j = index[i]`` loads all of ``x`` once; the part at ``j`` was
loaded before the place where ``j`` is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.arange(8.0) ** 2
INDEX = np.array([1, 0, 3, 7, 5, 4, 2, -2])


def swaps(x: Any, index: Any) -> Any:
    for i in range(len(index)):
        x[index[i]], x[i] = x[i], x[index[i]]
    return x


def the_other_way(x: Any, index: Any) -> Any:
    for i in range(len(index)):
        x[i], x[index[i]] = x[index[i]], x[i] + i
    return x


def stores_in_between(x: Any, index: Any) -> Any:
    for i in range(len(index)):
        a = x[i]
        x[i] = 0.5
        b = x[index[i]]
        x[index[i]] = a
        x[i] = b + a
    return x


@pytest.mark.parametrize("function", [swaps, the_other_way, stores_in_between])
def test_swaps(function: Any) -> None:
    check(function, (X, INDEX), (X[:4], INDEX[:3]), variants=None)


def test_jitted() -> None:
    check(swaps, (X, INDEX), jit=True)
