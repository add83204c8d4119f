"""Stores of a loop were lost: they went into a copy of what may be the caller's array.

After a first iteration written out, the name was a copy that stood for the caller's array or a new
one; the loop stored into the copy, and handed out the caller's array as it was.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit_testing.oracle import check


def rows(a: Any) -> Any:
    v = a[:].T
    t = a[np.arange(a.shape[0]) * 2 % a.shape[0]]
    for w in range(v.shape[0]):
        v[w, :w] = 2
        if -2 < v[0, -1] <= 2:
            t + v
        else:
            v *= v[w] + a
            v = t.astype(np.float64)
    return v


def replaced(a: Any) -> Any:
    v = a.T
    t = a * 3.0
    for w in range(len(a)):
        v[w, 0] = 2
        if v[0, -1] > 2:
            v *= 2
            v = t.astype(np.float64)
    return v, a


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", [rows, replaced])
def test_both_arrays_are_numpys(function: Any, order: Any) -> None:
    rng = np.random.default_rng(0)
    calls = [(np.asarray(rng.integers(-6, 7, (n, n)) / 2, order=order),) for n in (5, 3, 5, 4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        check(function, *calls, variants=None)


class Parameter:
    """Something of the user's with a flag."""

    def __init__(self, is_integer: Any) -> None:
        self.is_integer = is_integer


def rounded(x: Any, parameters: Any) -> Any:
    flags = [p.is_integer for p in parameters]
    y = x.copy()
    y[flags] = np.round(y[flags])
    return y


def test_a_list_of_flags_is_an_index() -> None:
    x = np.array([1.3, 2.7, 3.3])
    for flags in ([True, False, False], [np.True_, np.False_, np.True_], [1, 0]):
        parameters = [Parameter(flag) for flag in flags]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            check(rounded, (x, parameters), variants=None)
