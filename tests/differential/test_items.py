"""``x.item()``: an element as a Python number, weak in promotion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

DTYPES = ["?", "i1", "u1", "i4", "u4", "i8", "f4", "f8", "c8", "c16"]


def items(x: Any) -> Any:
    first = x[0, 0].item()
    last = x.item(-1, -1)
    middle = x.item((1, 1))
    half = np.ones(3, np.float32) * (first + last)
    return first, half, middle, x[1].max().item(), 2 * last, (x > 2).any().item()


def until(x: Any, limit: Any) -> Any:
    k = 0
    while x.min().item() < limit:
        x = x + 1
        k += 1
    return k, x


@pytest.mark.parametrize("dtype", DTYPES)
def test_items(dtype: str) -> None:
    def without_largest(x: Any) -> Any:
        first, last = x[0, 0].item(), x.item(-1, -1)
        return first, np.ones(3, np.complex64) * last, x.item((1, 1)), 2 * last

    for function in (items,) if dtype[0] != "c" else (without_largest,):
        x = np.arange(1, 7).reshape(2, 3)
        check(function, (x.astype(dtype),), ((x + 5).reshape(3, 2).astype(dtype),))


def test_items_in_loops() -> None:
    check(until, (np.arange(5), 3), (np.arange(9) - 4, 7), jit=True)


def test_out_of_bounds() -> None:
    check(lambda x: x.item(7), (np.arange(5.0),), variants=None)
