"""`if c: w = y = x * 2` made two arrays: a store into `w` after the branch did not reach `y`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit_testing.oracle import check, compare_outcomes, run

X = np.arange(1.0, 7.0)
CALLS = [(X, limit) for limit in (-1.0, 9.0, 1.0)]


def in_both(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        w = y = x * 2
    else:
        w = y = x + 1
    w[0] = 5
    return w, y


def read_only(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        w = y = x * 2
    else:
        w, y = x + 1, x + 2
    return w + y


def of_the_argument(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        w = y = x
    else:
        w = y = x + 1
    return w, y, x


def through_the_other_name(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        w = x * 2
        y = w
    else:
        y = x * 3
        w = y
    y += 1
    return w


@pytest.mark.parametrize("function", [in_both, read_only, of_the_argument, through_the_other_name])
def test_one_array(function: Any) -> None:
    check(function, *CALLS)


def in_one(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        w = y = x * 2
    else:
        w, y = x + 1, x + 2
    w[0] = 5
    return w, y


def in_one_returned(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        w = y = x * 2
    else:
        w, y = x + 1, x + 2
    return w, y


def part(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        w = x * 2
        y = w[1:]
    else:
        w = x * 3
        y = w[:-1]
    w[1] = 5
    return w.max(), y


@pytest.mark.parametrize("function", [in_one, in_one_returned, part])
def test_numpy_runs_what_only_one_branch_shares(function: Any) -> None:
    fused = fuse_jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        for args in CALLS:
            compare_outcomes(run(function, args), run(fused, args))
    assert sum(fused.variants.fallbacks.values()) == len(CALLS)
