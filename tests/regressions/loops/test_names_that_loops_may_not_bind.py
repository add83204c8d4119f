"""Loops that bind a name under a condition were refused: the name may be unbound after them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError
from fusejit_testing.oracle import compare_outcomes, decorate, run


def place_of_smallest(x: Any) -> Any:
    best = np.inf
    for i in range(len(x)):
        if x[i] < best:
            best, k = x[i], i
    return k


def last_large(x: Any, limit: float) -> Any:
    total = 0.0
    for value in x:
        total += value
        if value > limit:
            found = value * 2
    return total + found


def rows(x: Any, start: int) -> Any:
    while start < len(x):
        row = x[start] * 2
        start += 1
    return row


CALLS = [
    (place_of_smallest, (np.array([3.0, 1.0, 2.0]),), (np.array([np.nan]),), (np.zeros(0),)),
    (last_large, (np.arange(5.0), 2.5), (np.arange(5.0), 9.0), (np.zeros(0), 1.0)),
    (rows, (np.arange(6.0).reshape(3, 2), 1), (np.ones((2, 2)), 2), (np.ones((0, 2)), 0)),
]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize(("function", "calls"), [(f, calls) for f, *calls in CALLS])
def test_they_are_bound_or_not_as_in_python(function: Any, calls: Any, jit: bool) -> None:
    """They were refused."""
    decorated = decorate(function, jit=jit)
    for args in calls:
        for _ in range(2):
            compare_outcomes(run(function, args), run(decorated, args))


def test_a_warning_names_the_name_and_the_remedy() -> None:
    """Python runs the loop, which may be slower than NumPy: that is not kept secret."""
    with pytest.warns(FuseWarning, match=r"Python runs a loop of place_of.*'k'.* give 'k' a value"):
        fuse_jit(place_of_smallest)(np.arange(3.0))
    with pytest.raises(UnsupportedError, match="give 'k' a value"):
        fuse_jit(place_of_smallest, fullgraph=True)(np.arange(3.0))
