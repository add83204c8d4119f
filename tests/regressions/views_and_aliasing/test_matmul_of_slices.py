"""BLAS read all of `y` for `y[:-1] @ z`: a slice with the same start was taken for the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check


def lagged(x: Any) -> Any:
    y = x - 1.0
    return y[:-1] @ y[1:]


def prefix(a: Any, b: Any, k: int) -> Any:
    c = a * 2.0
    return c[:k, :k] @ b[:k]


def into_zeros(a: Any, b: Any) -> Any:
    x = np.zeros(len(b))
    x[0] = b[0]
    x[1] = b[1] - a[1, :1] @ x[:1]
    x[2] = b[2] - a[2, :2] @ x[:2]
    return x


@pytest.mark.parametrize("size", [3, 6])
@pytest.mark.parametrize("function", [lagged, prefix, into_zeros])
def test_products_of_first_elements(function: Any, size: int) -> None:
    x = np.arange(1.0, size + 1)
    square = np.outer(x, x + 2)
    args = {lagged: (x,), prefix: (square, x, size - 1), into_zeros: (square, x)}[function]
    check(function, args, bound=Bound(ulps=4))
