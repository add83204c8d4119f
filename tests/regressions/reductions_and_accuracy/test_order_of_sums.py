"""Sums whose order, or dtype, was not NumPy's: found by programs written against them.

- NumPy adds in the dtype of ``out=``; kernels added in that of the array and converted the sum.
- Parts of a complex array with an axis of stride 0 were laid out otherwise than the array.
- What takes the place of NaN is written into a copy, whose axes of stride 0 are innermost.
- In a loop, whether rows of a window are whole ones was asked before the call.
"""

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.ir.analysis.exactness import is_exact
from fusejit_testing.oracle import check

RNG = np.random.default_rng(11)


def into_wider_memory(x: Any) -> Any:
    total, product, mean = np.empty((3, x.shape[1]))
    x.sum(0, out=total)
    np.prod(x, 0, out=product)
    np.add.reduce(x, axis=0, out=mean)
    return total, product, mean


def means_into_wider_memory(x: Any) -> Any:
    means, spreads, totals = np.empty(len(x)), np.empty(len(x)), np.empty(x.shape)
    np.mean(x, 1, out=means)
    np.std(x, axis=1, out=spreads)
    np.cumsum(x, axis=1, out=totals)
    return means, spreads, totals


@pytest.mark.parametrize("dtype", ["f4", "i4", "?"])
@pytest.mark.parametrize("function", [into_wider_memory, means_into_wider_memory])
def test_the_dtype_of_out(function: Any, dtype: str) -> None:
    numbers = RNG.integers(0, 9, (30, 7)).astype(dtype)
    if dtype == "f4":
        numbers /= np.float32(3)
    check(function, (numbers,), variants=None)


def test_complex_numbers_with_a_stride_of_zero() -> None:
    def sums(x: Any) -> Any:
        return x.sum(), x.sum(0), x.sum(1)

    numbers = RNG.standard_normal(17) + 1j * RNG.standard_normal(17)
    wide = np.broadcast_to(numbers, (200, 17))
    check(sums, (wide,), (wide.T,), (np.ascontiguousarray(wide),), variants=3)


def test_copies_without_nan_of_broadcast_arrays() -> None:
    def sums(x: Any) -> Any:
        return np.nansum(x), np.nansum(x, 0), np.nanmean(x, 1)

    check(sums, (np.broadcast_to(RNG.standard_normal(17), (33, 17)),))
    check(sums, (np.broadcast_to(RNG.standard_normal((33, 1)), (33, 17)),))


def windows(x: Any) -> Any:
    totals, blurred = np.zeros(x.shape[1]), np.zeros(x.shape)
    for j in range(x.shape[1]):
        totals[j] = x[:, : j + 1].sum()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            blurred[i, j] = x[max(i - 1, 0) : i + 2, max(j - 2, 0) : j + 3].mean()
    return totals, blurred


@pytest.mark.parametrize("shape", [(5, 1), (5, 4), (1, 1), (1, 5), (5, 17)])
def test_windows_of_each_layout(shape: tuple[int, int]) -> None:
    x = RNG.standard_normal(shape)
    wide = np.repeat(x, 2, 1)[:, ::2]
    check(windows, (x,), (np.asfortranarray(x),), (wide,), variants=None)


def test_what_a_mask_selects_has_an_order_of_its_own() -> None:
    """So the clock may not choose between both: the digits would change."""

    def selected(x: Any) -> Any:
        return x[x > 0].sum()

    x = RNG.standard_normal(30)
    assert not is_exact(fuse_jit(selected).trace(x).graph)
    assert is_exact(fuse_jit(lambda x: x.sum()).trace(x).graph)
