"""`ufunc.reduce` and sums of 0-d arrays differed: default axes and zeros were not NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

UFUNCS = (np.add, np.maximum, np.minimum, np.logical_or, np.logical_and)


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_ufunc_reduce_goes_over_the_first_axis(ufunc: np.ufunc) -> None:
    x = np.arange(6.0).reshape(2, 3)
    check(lambda x: (ufunc.reduce(x), ufunc.reduce(x, 1), ufunc.reduce(x, None)), (x,))
    check(lambda x: ufunc.reduce(x, -1, None, None, True), (x.astype(int),))


def test_ufunc_reduce_into_an_array() -> None:
    def into(x: Any, y: Any) -> Any:
        np.maximum.reduce(x, 0, None, y)
        return y

    check(into, (np.arange(6.0).reshape(2, 3), np.zeros(3)))


def test_a_0d_array_may_have_axis_0() -> None:
    check(lambda x: (np.sum(x, axis=0), np.max(x, axis=-1), np.squeeze(x, 0)), (np.array(3.0),))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.mean(x, axis=0),
        lambda x: np.sum(x, axis=(0,)),
        lambda x: np.sum(x, axis=True),
        lambda x: np.sum(x, axis=1),
    ],
)
def test_axes_that_numpy_refuses(function: Any) -> None:
    check(function, (np.array(3.0),), variants=None)


@pytest.mark.parametrize("numbers", [(3, 4), (3.5, 4.5), (np.float32(3), np.float32(4))])
def test_reductions_of_a_number(numbers: Any) -> None:
    def function(x: Any, p: Any) -> Any:
        return np.sum(p) * x, np.mean(p), np.max(p), np.any(p)

    x = np.ones(3)
    check(function, *((x, p) for p in numbers))


def test_the_sum_of_one_negative_zero_is_zero_when_folded() -> None:
    def function(y: Any) -> Any:
        v = -0.0 * np.mean(y)
        return np.mean(v, dtype=np.float32, keepdims=True)

    check(function, (np.arange(3.0),))
