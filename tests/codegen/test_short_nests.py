"""Nests of changing extent are written twice: source, and answers around the limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.loop_nests.short_nests import FEW
from fusejit_testing.oracle import check


def runs(x: Any, counts: Any) -> Any:
    out = np.empty_like(x)
    position = 0
    for value in range(len(counts)):
        out[position : position + counts[value]] = value
        position += counts[value]
    return out


def prefixes(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        x[:i] = x[:i] * 0.5 + y[i]
        y[:i] -= np.sqrt(np.abs(x[:i]))
    return x, y


def whole(x: Any, n: Any) -> Any:
    for i in range(n):
        x[:] = x * 0.5 + i
        x[0] = 1
    return x


def source(function: Any, *args: Any) -> str:
    return fuse_jit(function).trace(*args).fuse().lower().source


def test_both_forms_are_there() -> None:
    text = source(runs, np.zeros(9, dtype=np.int64), np.array([4, 0, 5]))
    short, chunk = text.split(f" <= {FEW}:")[1].split("else:")
    assert "for short0 in range(" in short
    assert "parallel_for(" not in short
    assert "parallel_for(" in chunk


def test_an_extent_that_stays_has_one_form() -> None:
    assert f" <= {FEW}:" not in source(whole, np.zeros(3), 4)


@pytest.mark.parametrize("jit", [False, True])
def test_runs(jit: bool) -> None:
    sizes = [0, 1, FEW - 1, FEW, FEW + 1, 3 * FEW, 0, 2]
    counts = np.array(sizes)
    check(runs, (np.zeros(sum(sizes), dtype=np.int64), counts), jit=jit)


@pytest.mark.parametrize("jit", [False, True])
def test_triangles(jit: bool) -> None:
    rng = np.random.default_rng(5)
    check(prefixes, (rng.random(3 * FEW), rng.random(3 * FEW)), jit=jit)
