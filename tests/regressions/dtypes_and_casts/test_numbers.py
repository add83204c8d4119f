"""NumPy scalars lacked array attributes such as `p.T`: they were traced like Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.arange(3.0)
PAIRS = [
    (np.float32(1.5), np.float32(2.5)),
    (np.int32(4), np.int32(5)),
    (np.bool_(True), np.bool_(False)),
]
SCALAR_PROGRAMS: list[Callable[[Any, Any], Any]] = [
    lambda x, p: p[...] * x,
    lambda x, p: (p.T, p[()], p[...], p[None], p.ndim, p.shape, p.size, p.real, p.itemsize),
    lambda x, p: (p.sum(), p.mean(), p.max(), p.any(), p.copy(), p.transpose(), p.astype(int)),
    lambda x, p: (p.item() * x, np.sum(p) * x),
    lambda x, p: x + p.no_such_attribute,
    lambda x, p: x + getattr(p, "no_such_attribute", 1),
    lambda x, p: x + p[0],
]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("at", range(len(SCALAR_PROGRAMS)))
def test_numpy_scalars_have_the_interface_of_arrays(pair: Any, at: int) -> None:
    check(SCALAR_PROGRAMS[at], *((X, p) for p in pair), variants=None)


@pytest.mark.parametrize("number", [3, 2.5, True])
def test_python_numbers_have_not(number: Any) -> None:
    check(lambda x, p: x + p[...], (X, number), variants=None)
    check(lambda x, p: x + p.T, (X, number), variants=None)
    check(lambda x, p: x + (1 if hasattr(p, "T") else 2), (X, number), variants=None)


def test_arrays_and_scalars_that_no_argument_enters() -> None:
    def chosen(x: Any) -> Any:
        v = np.where(np.negative(1) < 100.0, 1, 0)
        return x + v.astype(np.uint8)

    def stored(x: Any) -> Any:
        roots = np.sqrt(np.arange(3))
        roots[1] = x[0]
        total = np.add([1, 2], [3, 4])
        total += 1
        return roots, total, x + total.max()

    def scalar(x: Any) -> Any:
        s = np.float64(3)
        return x + s.astype(int) + s.T + s.sum() + s.item() + np.sum(s)

    for function in (chosen, stored, scalar):
        check(function, (X,), (np.arange(5.0),))


def test_numpy_scalars_on_the_left_of_a_comparison() -> None:
    check(lambda x: (np.int32(3) >= x, np.float32(0.1) + x, np.float64(1) == x), (X,))
    check(lambda x, p: (p >= x, p - x), (X, np.int32(1)), (X, np.int32(2)))
