"""NumPy ran decisions on a host result's size after a store: stores were not undone.

The launcher now restores what was written before NumPy runs the call.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import compare_outcomes, run


def first(x: Any, v: Any) -> Any:
    x[0] = 1
    y = x[x > 2]
    return y[0] + y[-1]


def stored(x: Any, v: Any) -> Any:
    x[0] = 1
    y = x[x > 2]
    y[1] = 7
    x[:2] = y[:2]
    return y


def two_sizes(x: Any, v: Any) -> Any:
    x[-1] = 1
    x[0] += 1
    return x[x > 2] + v[v > 0]


def largest(x: Any, v: Any) -> Any:
    x[0] += 1
    u = np.unique(x)
    return u / u.max()


def differences(x: Any, v: Any) -> Any:
    x[x > 3] = 3
    u = np.unique(x)
    x[: len(u)] = u
    return u[1:] - u[:-1]


def until(x: Any, v: Any) -> Any:
    x[1] += 1
    w = x
    while w[0] < v[0]:
        w = w + 1
    w[2] = 9
    return w[1:]


ARGUMENTS = [
    ([0.0, 1, 2, 3, 4, 5], [1.0, -1, 2, -3, 4, 0]),
    ([0.0, 1, 2, 3, 4, 5], [1.0, -1, -2, -3, -4, 0]),  # one extent of 1
    ([0.0, 1, 2, 0, 0, 0], [-1.0, -1, -2, -3, -4, 0]),  # no extent at all
    ([9.0, 9, 9, 9, 9, 9], [1.0, 1, 1, 0, 0, 0]),
    ([0.0, 9, 9, 9, 9, 9], [1.0, 1, 1, 1, 1, 0]),
    ([0.0, 0, 0, 9, 0, 0], [1.0, -1, 2, -3, 4, 0]),
]
FUNCTIONS = [first, stored, two_sizes, largest, differences, until]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("begin", range(len(ARGUMENTS)))
def test_sizes_behind_stores(function: Any, begin: int) -> None:
    fused = fuse_jit(function)
    for lists in ARGUMENTS[begin:] + ARGUMENTS[:begin]:
        args = tuple(map(np.array, lists))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            compare_outcomes(run(function, args), run(fused, args), Bound(2), str(lists))
    causes = [c for c in fused.variants.fallbacks if "behind" in c or "after a store" in c]
    assert not causes
    assert len(fused.variants) >= 1
