"""Functions of NumPy whose result is an array or a tuple, as a flag that is data says.

Regressions: ``np.polyfit(x, y, 1, cov=c[0])`` of bools returned the coefficients alone. After a
store, ``np.unique(x, return_inverse=flag)`` raised an exception where the flag was another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

X = np.array([True, False, True, True, False])
Y = np.arange(5.0) ** 2
SQUARE = np.array([[4.0, 1.0], [1.0, 3.0]])


def fitted(x: Any, y: Any, a: Any, c: Any) -> Any:
    return np.polyfit(x, y, 1, cov=c[0])


def fitted_fully(x: Any, y: Any, a: Any, c: Any) -> Any:
    return np.polyfit(x, y, 1, full=c[0])


def averaged(x: Any, y: Any, a: Any, c: Any) -> Any:
    return np.average(y, weights=y + 1, returned=c[0])


def counted(x: Any, y: Any, a: Any, c: Any) -> Any:
    return np.unique(x, return_counts=c[0])


def decomposed(x: Any, y: Any, a: Any, c: Any) -> Any:
    return np.linalg.svd(a, compute_uv=c[0])


def kept(x: Any, y: Any, a: Any, c: Any) -> Any:
    return np.median(a, axis=0, keepdims=c[0])


def in_a_loop(x: Any, y: Any, a: Any, c: Any) -> Any:
    made = []
    for i in range(len(c)):
        made.append(np.average(a, axis=0, returned=c[i]))
    return made


@pytest.mark.parametrize("dtype", [bool, np.int64, np.float64])
@pytest.mark.parametrize(
    "program", [fitted, fitted_fully, averaged, counted, decomposed, kept, in_a_loop]
)
def test_flags(program: Callable[..., Any], dtype: type) -> None:
    calls = [(x, Y, SQUARE, np.array(flags, dtype)) for x in (X, Y) for flags in ([1, 0], [0, 1])]
    check(program, *calls, jit=False, variants=None)


def inverse(x: Any, a: Any, flag: Any) -> Any:
    x[0] = 9
    return np.unique(x, return_inverse=flag)


def index_or_counts(x: Any, a: Any, flag: Any) -> Any:
    x += 1
    return np.unique(x, flag, False, not flag)


def reduced(x: Any, a: Any, flag: Any) -> Any:
    a[0] += x[:2]
    return np.linalg.svd(a, False, flag)


def returned_in_a_loop(x: Any, a: Any, flag: Any) -> Any:
    made = None
    for i in range(len(x)):
        x[i] += i
        made = np.average(a, axis=0, returned=flag)
    return made


FLAGS = (True, False, 1, 0, np.True_, np.False_, 1.0, 0.0, np.float32(2), None)


@pytest.mark.parametrize("tiering", [False, True])
@pytest.mark.parametrize("program", [inverse, index_or_counts, reduced, returned_in_a_loop])
def test_flags_that_are_arguments(program: Callable[..., Any], tiering: bool) -> None:
    fused = decorate(program, jit=False, tiering=tiering)
    for flag in (*FLAGS, *FLAGS[::-1]):
        ours, numpys = ((Y.copy(), SQUARE.copy(), flag) for _ in range(2))
        compare_outcomes(run(program, numpys), run(fused, ours))
        assert_same(ours, numpys)
