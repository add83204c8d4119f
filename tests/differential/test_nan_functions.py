"""nansum and its family: NaN left out, in rows, columns and everywhere.

Regression: ``np.nanvar`` and ``np.nanstd`` did not warn where ``ddof`` reaches the count: only
``np.var`` checked it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, decorate

EXACT_ONES = [np.nansum, np.nanmax, np.nanmin]
QUOTIENTS = [np.nanmean, np.nanvar, np.nanstd]


@pytest.fixture(autouse=True)
def silent() -> Any:
    """NumPy warns of slices without a number; fusejit cannot know of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def holes(shape: Any, dtype: Any = "f8", order: Any = "C") -> Any:
    rng = np.random.default_rng(3)
    values = rng.integers(-8, 8, shape).astype(dtype) / 4
    values[rng.random(shape) < 0.3] = np.nan
    values[..., -1] = np.nan
    return np.array(values, order=order)


@pytest.mark.parametrize("function", [*EXACT_ONES, *QUOTIENTS])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(function: Any, axis: Any, keepdims: bool) -> None:
    def f(x: Any) -> Any:
        return function(x, axis=axis, keepdims=keepdims)

    bound = Bound(4, 1e-15) if function in QUOTIENTS else Bound()
    for order in "CF":
        check(f, (holes((4, 8), order=order),), (holes((6, 4), order=order),), bound=bound)


@pytest.mark.parametrize("function", [*EXACT_ONES, *QUOTIENTS])
def test_dtypes(function: Any) -> None:
    def f(x: Any) -> Any:
        return function(x, axis=0), function(x)

    bound = Bound(4, 1e-6) if function in QUOTIENTS else Bound()
    check(f, (holes((4, 8), "f4"),), bound=bound, jit=function is np.nanvar)
    check(f, (np.arange(12).reshape(3, 4),), bound=bound)


def test_degrees_of_freedom() -> None:
    def f(x: Any) -> Any:
        return np.nanvar(x, axis=1, ddof=1), np.nanstd(x, axis=0, ddof=2), np.nanvar(x, ddof=0)

    check(f, (holes((4, 8)),), (holes((6, 4)),), bound=Bound(4, 1e-15))


def test_out_and_dtype() -> None:
    def f(x: Any, out: Any) -> Any:
        np.nansum(x, axis=0, out=out)
        np.nanmax(x, axis=0, out=out[::-1])
        return np.nansum(x, dtype="f8"), np.nanmean(x, dtype="f8", axis=1)

    check(f, (holes((4, 8), "f4"), np.zeros(8, "f4")), bound=Bound(4, 1e-15))


def test_running_totals() -> None:
    def f(x: Any) -> Any:
        return np.nancumsum(x, axis=1), np.nancumprod(x), np.nancumsum(x > 0)

    check(f, (holes((4, 8)),), (holes((6, 4)),))


def test_without_elements() -> None:
    for function in EXACT_ONES:
        check(lambda x, function=function: function(x), (np.ones((0, 3)),), variants=None)
    check(lambda x: np.nansum(x, axis=0), (np.ones((0, 3)),))


@pytest.mark.parametrize("function", [np.nanvar, np.nanstd, np.var, np.std])
@pytest.mark.parametrize("keywords", [{"ddof": 3}, {"ddof": 2.5, "axis": 0}, {"correction": 4}])
def test_too_few_degrees_of_freedom(function: Any, keywords: dict[str, Any]) -> None:
    """NumPy warns where ``ddof`` reaches the count of elements; nanvar and nanstd did not."""

    def program(x: Any) -> Any:
        return function(x, **keywords) + 1

    fused = decorate(program, jit=False)
    for shape in ((5, 1), (2, 1), (3, 1), (2, 1), (5, 1)):
        x = np.arange(shape[0] * shape[1], dtype=float).reshape(shape)
        told, results = [], []
        for call in (program, fused):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                results.append(call(x))
            told.append({str(w.message) for w in caught if w.category is RuntimeWarning})
        np.testing.assert_allclose(*results)
        assert told[0] == told[1]
        if len(x) == 5:
            assert len(fused.variants) == 1
