"""cumsum, cumprod, accumulate: bit for bit, over axes, dtypes and layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, check_not_compiled

DTYPES = ["?", "i1", "u4", "i8", "f4", "f8"]
ACCUMULATED = [np.add, np.multiply, np.maximum, np.minimum]


def numbers(shape: Any, dtype: Any = "f8", order: Any = "C") -> Any:
    rng = np.random.default_rng(np.prod(shape) + 1)
    if np.dtype(dtype).kind == "f":
        return np.array(rng.normal(size=shape), dtype, order=order)
    return np.array(rng.integers(0, 2 if dtype == "?" else 50, shape), dtype, order=order)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_running_totals(dtype: str, axis: Any) -> None:
    def f(x: Any) -> Any:
        return np.cumsum(x, axis), np.cumprod(x, axis=axis), x.cumsum(axis) * 2

    for order in "CF":
        check(f, (numbers((5, 6), dtype, order),), (numbers((3, 9), dtype, order),))
    check(f, (numbers((8, 6), dtype)[::-2, ::3],))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("permutation", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_cubes(axis: int, permutation: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        return np.cumsum(x, axis=axis)

    x = numbers((3, 4, 5)).transpose(permutation)
    check(f, (x,), (numbers((5, 4, 3)).transpose(permutation),))


@pytest.mark.parametrize("ufunc", ACCUMULATED)
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_accumulate(ufunc: Any, dtype: str) -> None:
    def f(x: Any) -> Any:
        return ufunc.accumulate(x), ufunc.accumulate(x, axis=1) + 1

    check(f, (numbers((7, 6), dtype),), (numbers((2, 9), dtype),), jit=dtype == "f8")


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_jitted(axis: Any, dtype: str) -> None:
    def f(x: Any) -> Any:
        return np.cumsum(np.abs(x) * 2, axis=axis) + 1, np.maximum.accumulate(x.T)

    check(f, (numbers((40, 70), dtype),), (numbers((90, 3), dtype),), jit=True)


def test_special_values() -> None:
    values = np.array([-0.0, -0.0, 0.0, 1e308, 1e308, -np.inf, np.nan, 1.0])
    for ufunc in ACCUMULATED:
        for start in range(len(values)):
            bound = Bound(zero_sign=ufunc in (np.add, np.multiply))
            check(lambda x, ufunc=ufunc: ufunc.accumulate(x), (values[start:],), bound=bound)
    check(lambda x: np.cumsum(x), (values[:2],), (values[:3],), jit=True)


def test_logical() -> None:
    def f(x: Any) -> Any:
        return np.logical_or.accumulate(x > 1), np.logical_and.accumulate(x, axis=1)

    check(f, (numbers((4, 5)),), (numbers((6, 3)),), jit=True)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (3, 0), (1, 1), (1, 5), (5, 1)])
def test_short_arrays(shape: tuple[int, ...]) -> None:
    axis = -1 if shape else 0

    def f(x: Any) -> Any:
        return np.cumsum(x), np.cumsum(x, axis=axis), np.cumsum(x.sum())

    check(f, (np.ones(shape),))


def test_dtype_and_out() -> None:
    def f(x: Any, out: Any) -> Any:
        np.cumsum(x, axis=1, out=out)
        x.cumsum(0, out=x)
        return np.cumsum(x, dtype="f4"), np.cumprod(x, axis=0, dtype="i8"), x

    check(f, (numbers((4, 5), "i4"), np.zeros((4, 5))), variants=None)
    check(lambda x: np.cumsum(x, dtype="i4"), (numbers((9,)),))


def test_array_standard() -> None:
    def f(x: Any) -> Any:
        return (
            np.cumulative_sum(x, axis=1, include_initial=True),
            np.cumulative_prod(x, axis=0),
            np.cumulative_prod(x[0], include_initial=True),
        )

    check(f, (numbers((4, 5)),), (numbers((6, 3)),))


def test_errors() -> None:
    check(lambda x: np.cumsum(x, axis=1), (np.ones(3),), variants=None)
    check(lambda x: np.cumsum(x, axis=1), (np.array(3.0),), variants=None)
    x = np.array([0.0, 0.0, 3.0, 0.0])
    check_not_compiled(lambda x: np.cumsum(x, dtype=bool), (x,), "bools")


def test_a_scan_of_rows_shares_their_loop() -> None:
    """A cumulative distribution per row: one group, nothing but the result is as large as ``x``."""

    def f(x: Any) -> Any:
        weights = np.maximum(x - x.mean(axis=1, keepdims=True), 0)
        return np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)

    x = np.arange(48.0).reshape(6, 8)
    made = check(f, (x,), (np.arange(64.0).reshape(4, 16),), jit=True)
    assert "add.accumulate+2 d0" in str(made.trace(x).fuse())


def test_producers_fold_into_a_scan() -> None:
    def f(x: Any, h: Any) -> Any:
        return np.cumsum(np.sqrt(x) * h)

    made = check(f, (np.arange(9.0), 0.5), (np.arange(5.0), 2.0), jit=True)
    assert str(made.trace(np.arange(9.0), 0.5).fuse()).count(" = generic") == 1
