"""Medians and sorted rows inside loops: kernels put short rows in order themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit import fuse_jit
from fusejit.tracer.np.reductions.order_statistics import (
    MAX_EXCHANGED,
    MAX_SELECTED,
    MAX_SORTED,
    _network,
)
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import check, decorate, run


def windows(x: Any, half: int) -> Any:
    y = np.zeros(len(x))
    for i in range(half, len(x) - half):
        y[i] = np.median(x[i - half : i + half + 1])
    return y


def even_windows(x: Any, half: int) -> Any:
    y = np.zeros(len(x))
    for i in range(half, len(x) - half):
        y[i] = np.median(x[i - half : i + half])
    return y


def clamped_windows(x: Any, half: int) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.median(x[max(0, i - half) : i + half])
    return y


def sorted_windows(x: Any, half: int) -> Any:
    y = np.zeros((len(x) - 2 * half, 2 * half + 1))
    for i in range(len(x) - 2 * half):
        y[i] = np.sort(x[i : i + 2 * half + 1])[::-1]
    return y


def sorts_in_place(x: Any, width: int) -> None:
    for i in range(len(x) - width):
        x[i : i + width].sort()


def agrees(function: Any, *calls: Any) -> None:
    """The jitted function equals NumPy; the graph is not interpreted, which takes long."""
    decorated = decorate(function, jit=True)
    for args in calls:
        assert_same(run(function, args).result, run(decorated, args).result)
    assert not decorated.variants.fallbacks


def numbers(n: int, dtype: str) -> Any:
    """Small whole numbers, each several times, and what has a place of its own."""
    rng = np.random.default_rng(n)
    x = rng.integers(0 if dtype[0] == "u" else -9, 9, n).astype(dtype)
    if dtype[0] == "f":
        x[:4] = np.inf, -np.inf, np.inf, 0.5
    return x


@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i8"])
@pytest.mark.parametrize("function", [windows, even_windows, sorted_windows])
def test_rows_in_loops(function: Any, dtype: str) -> None:
    decorated = check(function, (numbers(9, dtype), 2), (numbers(12, dtype), 3))
    assert "host_call" not in str(fuse_jit(function).trace(numbers(14, dtype), 2))
    assert len(decorated.variants) == 1


@pytest.mark.parametrize("function", [windows, sorted_windows, sorts_in_place])
def test_jitted(function: Any) -> None:
    agrees(function, (numbers(14, "f8"), 2), (numbers(90, "f8"), 7), (numbers(140, "f8"), 25))


@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_lengths_that_differ_between_iterations(dtype: str) -> None:
    """One variant holds both ways of finding a median, and windows without elements."""
    calls = [(numbers(n, dtype), h) for n, h in ((14, 2), (17, 3), (9, 0))]
    check(clamped_windows, *calls[:2])
    check(clamped_windows, calls[2])


@pytest.mark.parametrize("half", [2, 20])
def test_nan(half: int) -> None:
    x = numbers(2 * half + 9, "f8")
    x[7] = np.nan
    for function in (windows, even_windows, clamped_windows, sorted_windows):
        agrees(function, (x, half))


JITTED = decorate(windows, jit=True)


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=True), min_size=35, max_size=90), st.integers(16, 40))
def test_quickselect(values: list[float], half: int) -> None:
    """Rows that are sorted, reversed, constant, or full of infinities and NaN."""
    x = np.array(values) + 0.0  # no -0.0, which NumPy puts before or behind 0.0
    for row in (x, np.sort(x), np.sort(x)[::-1].copy(), np.full_like(x, x[0])):
        assert_same(windows(row, half), JITTED(row, half))


def test_long_rows_are_left_to_numpy() -> None:
    for function, most in ((windows, MAX_SELECTED), (sorted_windows, MAX_SORTED)):
        half = most // 2
        assert "host_call" in str(fuse_jit(function).trace(numbers(2 * half + 4, "f8"), half))
        assert "host_call" not in str(fuse_jit(function).trace(numbers(2 * half, "f8"), half - 1))


def test_networks_sort() -> None:
    """Whatever sorts all zeros and ones sorts everything (Knuth, 5.3.4, Theorem Z)."""
    for count in range(2, MAX_EXCHANGED + 1):
        numbers_in_columns = (np.arange(2**count) >> np.arange(count)[:, None]) & 1
        for i, j in _network(count):
            x, y = numbers_in_columns[[i, j]]
            numbers_in_columns[[i, j]] = np.minimum(x, y), np.maximum(x, y)
        assert (np.diff(numbers_in_columns, axis=0) >= 0).all()


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_few_elements_along_an_axis(dtype: str) -> None:
    def neighbours(a: Any) -> Any:
        s = np.stack([a[:-2], a[1:-1], a[2:], a[:-2]])
        return np.sort(s, axis=0), np.median(s, axis=0), np.median(s[:3], axis=0)

    def last_axis(a: Any) -> Any:
        s = np.stack([a, a[::-1], a], axis=-1)
        return np.sort(s), np.median(s, axis=1), np.sort(s.T, 0, kind="stable")[1]

    def transposed(a: Any) -> Any:
        s = np.stack([a, a * 2, a[::-1]])
        return np.sort(s.T, axis=-1), np.median(s.transpose(2, 0, 1), axis=1)

    calls = [(numbers(rows * 5, dtype).reshape(rows, 5),) for rows in (6, 9)]
    if dtype[0] == "f":
        calls[1][0][4, :3] = np.nan
    for function, args in (
        (neighbours, calls),
        (transposed, calls),
        (last_axis, [(c[0][0],) for c in calls]),
    ):
        check(function, *args)
        assert "host_call" not in str(fuse_jit(function).trace(*args[0]))
    check(neighbours, calls[0], jit=True)


def test_lengths_of_the_call_are_left_to_numpy() -> None:
    def f(a: Any) -> Any:
        return np.sort(a, axis=0)

    assert "host_call" in str(fuse_jit(f).trace(np.ones((3, 4))))


def test_outside_of_loops_numpy_sorts() -> None:
    def f(x: Any) -> Any:
        return np.sort(x), np.median(x)

    assert str(fuse_jit(f).trace(numbers(5, "f8"))).count("host_call") == 2
