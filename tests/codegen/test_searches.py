"""First places where something holds: blocks are asked before they are searched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def largest(x: Any) -> Any:
    return x.argmax()


def smallest_of_squares(x: Any) -> Any:
    return np.argmin(x * x)


def of_two_axes(x: Any) -> Any:
    return x.argmax(), np.argmin(x.T), x.argmax(axis=1)


def in_a_loop(x: Any, n: Any) -> Any:
    places = np.zeros(n, np.int64)
    for k in range(n):
        places[k] = np.argmax(x[k:] % (k + 2))
    return places


SIZES = [1, 4095, 4096, 4097, 300_001]  # of one block, of some, and in parallel


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
@pytest.mark.parametrize("function", [largest, smallest_of_squares])
def test_places_in_every_block(function: Any, dtype: str) -> None:
    fused = fuse_jit(function)
    for size in SIZES:
        for at in {0, size // 3, size - 1, min(size - 1, 4096)}:
            x = (np.arange(size) % 5 + 2).astype(dtype)
            x[at] = 100 if function is largest else 0
            for y in (x, np.concatenate([x, x])):
                assert fused(y) == function(y)


@pytest.mark.parametrize("size", SIZES)
def test_nan_comes_first(size: int) -> None:
    fused = fuse_jit(largest)
    x = np.arange(float(size))
    for at in {0, size // 2, size - 1}:
        y = x.copy()
        y[at:] = np.nan
        for z in (y, -y, np.zeros(size), np.full(size, -np.inf)):
            assert fused(z) == largest(z)


def test_of_matrices_and_in_loops() -> None:
    rng = np.random.default_rng(5)
    for shape in [(1, 1), (80, 70), (3, 5000)]:
        check(of_two_axes, (rng.integers(0, 9, shape),))
    check(in_a_loop, *((rng.integers(0, 50, size), 7) for size in (8, 100, 5000)), variants=None)


def test_blocks_are_asked_first() -> None:
    source = fuse_jit(largest).trace(np.ones(9)).fuse().lower().source
    ask, search = source.split("if not met_2:")[1].split("if met_2:")
    assert "minimum(" not in ask
    assert "minimum(" in search
