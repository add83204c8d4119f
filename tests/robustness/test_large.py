"""Stores that overlap what they read, on arrays large enough for parallel kernels; jitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same, assert_same_aliasing, clone

LENGTH = 300_007
SIDE = 601


def one_axis(x: Any, y: Any) -> Any:
    x[1:] -= x[:-1]
    x[:-1] += x[1:] * 2
    x[:] = x[::-1]
    view = x[3:-2:2]
    y[: view.shape[0]] -= view[::-1]
    x[2:] = x[:-2] + x[1:-1]
    view *= 3
    x += x[::-1]
    x[x > 4] = -1
    x, y = y, x
    z = x + y
    z[1:-1] = z[:-2] - z[2:]
    y[::-1] += z
    return x, y[::2], z, view


def two_axes(x: Any, y: Any) -> Any:
    x += x.T
    y[1:, 1:] -= y[:-1, :-1]
    y[:, ::-1] += x.T
    x[:] = x.T[::-1] - y
    x -= x[0]
    x[:, 1:] += x[:, :1]
    y[x < y] = 2
    z = np.empty_like(x)
    z[::2] = x[::2]
    z[1::2] = y[1::2].T[: x.shape[0] // 2, : x.shape[1] // 2].max()
    x[0] = y[:, 0] * 1
    return z, x.T, y.sum(axis=0), y


@pytest.mark.parametrize(
    ("function", "dtype", "layout"),
    [(one_axis, np.float64, "C"), (two_axes, np.int32, "strided")],
)
def test_in_place(function: Any, dtype: Any, layout: str) -> None:
    fused = fuse_jit(fullgraph=True)(function)
    rng = np.random.default_rng(7)
    for size in (7, LENGTH if function is one_axis else SIDE, 2, 40):
        shape = (size,) if function is one_axis else (size, size)
        args = tuple(rng.integers(-5, 6, shape).astype(dtype) for _ in range(2))
        if layout == "strided":
            args = tuple(np.repeat(a, 2, axis=0)[::-2] for a in args)
        for _ in range(3 if size > 1000 else 1):
            ours, theirs = clone(args), clone(args)
            expected, actual = function(*theirs), fused(*ours)
            assert_same(expected, actual)
            assert_same(theirs, ours)
            assert_same_aliasing([expected, theirs], [actual, ours])
    assert len(fused.variants) <= 3
