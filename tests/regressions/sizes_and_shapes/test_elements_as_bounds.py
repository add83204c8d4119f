"""A function with `np.linspace(0, 1, v[0])` was plain NumPy: the refusal had no location.

A number of points that is an element made the whole function plain NumPy, with a warning about
iterations in a function without a loop.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import NeedsPython
from fusejit_testing.programs.segments_check import check_segments

X = np.linspace(1.0, 2.0, 40)
BOUNDS = (np.array([2, 7, 3]), np.array([3, 9, 2]), np.array([4, 9, 5]))


def between(v: Any, x: Any) -> Any:
    y = np.arange(1 - v[1], v[1], 2)
    return np.sqrt(y * y + x[0])


def with_a_step(v: Any, x: Any) -> Any:
    y = x * x + 1
    return np.arange(v[0], v[1] * 4, v[2]) + y[0], np.sqrt(y)


def points(v: Any, x: Any) -> Any:
    y = x * x + 1
    z = np.linspace(v[0], v[1], v[2])
    return z * 2 + y[0], np.sqrt(y)


def points_of_a_sum(v: Any, x: Any) -> Any:
    return np.linspace(0, 1, int(v[1]) * 2 + 1) * 3 + x[0], x * x


def powers(v: Any, x: Any) -> Any:
    return np.logspace(0, 1, v[0]) + x[0], x * x + 2


def rows(v: Any, x: Any) -> Any:
    return x.reshape(v[0] * 0 + 4, -1) + x[0], x * x + 2


def frequencies(v: Any, x: Any) -> Any:
    y = x * x
    return np.fft.rfft(y, v[1]).real * 2, y + 1


def in_a_loop(v: Any, x: Any) -> Any:
    out = []
    for k in range(3):
        out.append(np.linspace(0, 1, v[k] + 1) * 2 + x[k])
    return out


SEGMENTS = [with_a_step, points, points_of_a_sum, powers, rows, frequencies, in_a_loop]


@pytest.mark.parametrize("function", SEGMENTS, ids=lambda f: f.__name__)
def test_python_runs_one_statement(function: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fused = check_segments(function, *((v, X) for v in BOUNDS))
    assert fused.variants.segmented.segments
    assert not fused.variants.fallbacks


def test_what_kernels_can_take_is_whole() -> None:
    fused = check_segments(between, *((v, X) for v in BOUNDS), may_be_whole=True)
    assert len(fused.variants) == 1


def test_the_reason_names_line_and_remedy() -> None:
    line = points.__code__.co_firstlineno + 2
    with pytest.raises(NeedsPython, match=f":{line}, in points: .*an element.*of its own"):
        fuse_jit(fullgraph=True)(points)(BOUNDS[0], X)
