"""Remainders of sums are tried without a division, and are Python's whatever the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def walk(x: Any, rows: int, at: int) -> Any:
    total = 0
    for i in range(len(x)):
        at = (at + int(x[i])) % rows
        total += at * i
    return total, at


def ring(x: Any, n: int) -> Any:
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[(i + 1) % n] - x[(i - 1) % n]
    return out


def generator(seed: int, n: int) -> Any:
    total = 0
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2147483647
        total += seed % 3
    return total


STEPS = np.array([1, -1, 5, -7, 2**40, -(2**40), 3, 0, -1, -1])


@pytest.mark.parametrize("jit", [False, True])
def test_equals_python(jit: bool) -> None:
    check(walk, *((STEPS, rows, at) for rows in (7, 1, -5) for at in (0, -9, 100)), jit=jit)
    check(ring, *((np.arange(n) ** 2.0, n) for n in (9, 2, 30)), jit=jit)
    check(generator, (1, 50), (2**31, 9), jit=jit)


def test_sums_only() -> None:
    def source(function: Any, *args: Any) -> str:
        return str(fuse_jit(function).trace(*args).fuse().lower().source)

    assert "near_mod(" in source(walk, STEPS, 7, 0)
    assert source(ring, np.ones(9), 9).count("near_mod(") == 2
    assert "near_mod(" not in source(generator, 1, 50)
