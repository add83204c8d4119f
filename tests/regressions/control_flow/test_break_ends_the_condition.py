"""A `while` condition ran again after `break`, so it could raise or draw a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def found(x: Any, v: int, n: int) -> Any:
    i = 0
    while x[i] != v:
        x[i] += 1
        i += 1
        if i == n:
            break
    return i


def drawn(rng: Any, n: int) -> Any:
    count = 0
    while rng.random() < 0.9:
        count += 1
        if count > n:
            break
    return count


@pytest.mark.parametrize("jit", [False, True])
def test_an_index_that_only_break_keeps_inside(jit: bool) -> None:
    check(found, (np.arange(9), 4, 9), (np.arange(9), 12, 9), jit=jit)


def test_a_draw() -> None:
    rng = np.random.default_rng
    check(drawn, (rng(1), 3), (rng(2), 9))
