"""array_equal, isclose, allclose: NaN, infinities, shapes, tolerances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit_testing.oracle import check, check_not_compiled, decorate

NAN, INF = np.nan, np.inf
X = np.array([1.0, 1.0, NAN, INF, -INF, INF, 0.0, 1e-9, 5.0])
Y = np.array([1.0, 1.0 + 1e-6, NAN, INF, -INF, -INF, -0.0, 0.0, NAN])


def test_isclose_element_by_element() -> None:
    def close(x: Any, y: Any, tol: float) -> Any:
        return (
            np.isclose(x, y),
            np.isclose(x, y, equal_nan=True),
            np.isclose(x, y, rtol=0, atol=tol),
            np.isclose(x, 1),
            np.isclose(1.0, y, tol),
        )

    check(close, (X, Y, 1e-3), jit=True)
    check(close, (X.astype("f4"), Y.astype("f4"), 1e-3))
    check(close, (np.arange(5), np.arange(5)[::-1] * 1, 2.0))
    check(close, (np.ones((3, 1)), np.ones(4) + 1e-6, 1e-9))


def test_isclose_of_int8_takes_magnitudes_of_floats() -> None:
    x = np.array([-128, 127], np.int8)
    check(lambda x: np.isclose(x, x, rtol=0.5, atol=0.0), (x,))


def test_tolerances_that_numpy_warns_about_are_left_to_it() -> None:
    fused = decorate(lambda x, tol: np.isclose(x, x, atol=tol), jit=False)
    with (
        pytest.warns(RuntimeWarning, match="not valid"),
        pytest.warns(FuseWarning, match="plain NumPy"),
    ):
        fused(np.ones(3), INF)
    assert fused.variants.fallbacks
    assert fused(np.ones(3), 1.0).all()
    check_not_compiled(
        lambda x, tol: np.isclose(x, x + 1, atol=tol), (np.ones(3), np.arange(3.0)), "tolerance"
    )


@pytest.mark.parametrize("equal_nan", [False, True])
def test_array_equal_and_allclose_are_python_bools(equal_nan: bool) -> None:
    def ask(x: Any, y: Any) -> Any:
        return np.array_equal(x, y, equal_nan=equal_nan), np.allclose(x, x, equal_nan=equal_nan)

    check(ask, (X, X.copy()), (X[3:], X[3:].copy()), (X, Y), jit=True)
    check(ask, (X, X.reshape(3, 3)))
    check(ask, (X, X[1:].copy()))
    check(ask, (np.arange(4), np.arange(4.0)))
    check(ask, (np.zeros(0), np.zeros(0)))


def test_a_loop_until_nothing_changes() -> None:
    def settle(x: Any) -> Any:
        steps = 0
        settled = False
        while not settled:
            before = x.copy()
            x[1:] = np.minimum(x[1:], x[:-1])
            settled = np.array_equal(x, before)
            steps += 1
        return steps

    rng = np.random.default_rng(0)
    check(settle, (rng.random(9),), (rng.random(30),), jit=True)
