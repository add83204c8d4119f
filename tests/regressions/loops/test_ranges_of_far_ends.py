"""`range(-2**63, 1)` ran no iteration: the distance of the two ends wrapped around.

``range(-2**63, 1)`` ran no iteration, and ``range(2**63 - 1, -2**63)``, which is empty, ran one, at
whatever place in memory.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError
from fusejit.ir.ops import Assert, walk
from fusejit_testing.oracle import check, compare_outcomes, run

LOWEST, HIGHEST = -(2**63), 2**63 - 1


def windows(x: Any, starts: Any) -> Any:
    y = x * 2
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1]):
            y[j] = y[j] + 1
    return y


def windows_in_place(x: Any, starts: Any) -> Any:
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1]):
            x[j] = 2 * x[j] + 1
    return x


def downwards(x: Any, starts: Any) -> Any:
    y = x * 2
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1], -1):
            y[j] = y[j] + 1
    return y


def by_threes(x: Any, starts: Any) -> Any:
    y = x * 2
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1], 3):
            y[j] = y[j] + 1
    return y


def by_elements(x: Any, starts: Any) -> Any:
    y = x * 2
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1], 1 + x[i]):
            y[j] = y[j] + 1
    return y


FAR = [[LOWEST, 1], [HIGHEST, LOWEST], [0, LOWEST], [1, LOWEST], [0, HIGHEST], [HIGHEST, 0]]
FUNCTIONS = [windows, downwards, by_threes, by_elements]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_far_ends(function: Any) -> None:
    fused = fuse_jit(function)
    x = np.arange(6)
    for starts in ([0, 3, 6, 2, 4], *FAR, [LOWEST, LOWEST + 1], [HIGHEST - 1, HIGHEST]):
        args = (x, np.array(starts))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            compare_outcomes(run(function, args), run(fused, args), where=str(starts))
    assert len(fused.variants) == 1


def test_behind_a_store_python_runs_the_call() -> None:
    fused = fuse_jit(windows_in_place)
    fused(np.arange(6), np.array([0, 3, 6]))
    strict = fuse_jit(windows_in_place, fullgraph=True)
    for starts in ([LOWEST, 1], [HIGHEST, LOWEST + 1]):
        args = (np.arange(6), np.array(starts))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            compare_outcomes(run(windows_in_place, args), run(fused, args), where=str(starts))
        with pytest.raises(UnsupportedError, match="64 bits"):
            strict(np.arange(6), np.array(starts))


def test_short_integers_are_not_checked() -> None:
    check(windows, (np.arange(6), np.array([0, 3, 6, 2, 4], np.int32)))
    traced = fuse_jit(windows).trace(np.arange(6), np.array([0, 3], np.int32))
    reasons = [op.reason for op in walk(traced.graph.block) if isinstance(op, Assert)]
    assert reasons
    assert not any("range" in reason for reason in reasons)
