"""`z is x` was False after a branch binds `z = x`: the trace copies what it chooses.

A choice between arrays is a new array for the trace, and one of the two in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit_testing.oracle import compare_outcomes, decorate, run

X = np.arange(3.0)


def of_an_argument(x: Any) -> Any:
    z = x if x.sum() > -1e9 else x * 2
    return z is x


def of_results(x: Any) -> Any:
    y = x * 2
    w = x + 1
    z = y if x.sum() > 0 else w
    return z is y, z is w, z is not w


def of_a_branch(x: Any) -> Any:
    y = x * 2
    if x.sum() > 0:
        z = y
    else:
        z = x
    return z is y, z is x, y is z is y


def of_a_loop(x: Any) -> Any:
    best = None
    for i in range(4):
        y = x * i
        if best is None or y.sum() > best.sum():
            best = y
    return best is y, best is x


@pytest.mark.parametrize(
    "function", [of_an_argument, of_results, of_a_branch, of_a_loop], ids=lambda f: f.__name__
)
def test_identity(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    with pytest.warns(FuseWarning, match="are one object"):  # Python runs what asks
        outcomes = [run(fused, (x,)) for x in (X, -X)]
    for x, outcome in zip((X, -X), outcomes, strict=True):
        compare_outcomes(run(function, (x,)), outcome)
