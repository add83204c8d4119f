"""`x[int(v)]` read a neighbour for negative v: the size was added before the truncation.

``size + v`` was cut off where ``size + int(v)`` was meant: the element before the one that NumPy
takes, for every negative ``v`` that is no integer. The verifier of loops found it: a name of a
float stood in an offset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def total(x: Any, y: Any) -> Any:
    found = 0.0
    for i in range(len(y)):
        found += x[int(y[i])]
    return found


def twice(x: Any, y: Any) -> Any:
    found = 0.0
    for i in range(len(y)):
        k = int(y[i])
        found += x[k] + x[k] * 2 + x[k + 1]
    return found


def stored(x: Any, y: Any) -> Any:
    for i in range(len(y)):
        n = int(y[i])
        x[n] += 1
        x[n] *= 2
    return x


def as_integers(x: Any, y: Any) -> Any:
    found = 0.0
    for i in range(len(y)):
        found += x[np.int64(y[i])]
    return found


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i2"])
@pytest.mark.parametrize("function", [total, twice, stored, as_integers])
def test_indices_of_floats(function: Any, dtype: str) -> None:
    y = np.array([2.7, -1.5, -2.9, 0.0, -3.2]).astype(dtype)
    check(function, (np.arange(10.0), y), (np.arange(5.0), y[::-1].copy()), jit=True, variants=None)


def row(x: Any, y: Any) -> Any:
    return x[int(y[0])] * 2


@pytest.mark.parametrize("function", [row, twice, stored])
def test_indices_of_bools(function: Any) -> None:
    """A bool stood in an offset: the verifier of loops takes integers only."""
    x, y = np.arange(10.0), np.array([True, False, True])
    check(function, (x, y), (x, ~y), jit=True, variants=None)
