"""Stores that NumPy refuses, such as `a[1] = ones(1)`, ran: kernels did not check the value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def into_an_element(a: Any, b: Any) -> Any:
    a[0] = 7
    a[1] = b
    return a


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_an_element_takes_no_array_of_length_one(dtype: str) -> None:
    check(into_an_element, (np.zeros(3, dtype), np.ones(1, dtype)), variants=0)
    check(into_an_element, (np.zeros(3, dtype), np.ones((), dtype)))


def test_an_element_of_bools_takes_the_truth_of_one_element() -> None:
    def function(x: Any, y: Any) -> Any:
        v = np.any(y, axis=1)
        v[1] -= x
        v[0] = x
        return v

    check(function, (np.ones(1, "f4"), np.ones((4, 5))), (np.zeros(1, "f4"), np.ones((3, 5))))
    check(function, (np.ones(2), np.ones((4, 5))), variants=0)


@pytest.mark.filterwarnings("ignore:.*has to be checked")
@pytest.mark.parametrize("value", [3, 2**30])
def test_scalars_that_do_not_fit_signed_integers(value: int) -> None:
    def first(x: Any) -> Any:
        x[0] = np.sum(x)
        return x

    def argument(x: Any, p: Any) -> Any:
        x[...] = p
        return x

    check(first, (np.full(3, value, "i4"),), variants=None)
    for p in (np.int64(value * 4), np.float64(value * 4.0), np.float64(np.nan)):
        check(argument, (np.zeros(3, "i4"), p), variants=None)
    check(argument, (np.zeros(3, "i8"), np.int32(value)))
    check(argument, (np.zeros(3, "u1"), np.int64(value)))
