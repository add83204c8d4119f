"""A controller of 100 steps was traced for 25 s: expression texts doubled with each step.

A controller over 100 steps took 25 s to be traced: keys of decisions were texts of expressions in
which one part stands twice, and that part again.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, UnsupportedError, fuse_jit
from fusejit.ir.host import HostExpr
from fusejit.ir.host import Path as HostPath
from fusejit.tracer.values.symbolic_number import MAX_NODES

WEIGHTS = (3.7, 3.6, 3.9, 3.5) * 4  # a loop over them is unrolled


def logistic(x: Any, values: Any) -> Any:
    for w in WEIGHTS:
        x = w * x * (1 - x)
        x = x if x > 0.1 else 0.1
    return values * x


def controlled(target: Any, values: Any) -> Any:
    t, total = 12.0, 0.0
    for _ in range(40):
        power = min(max(0.8 * (target - t), 0.0), 20.0)
        t += 0.1 * (power - 0.1 * (t - 10.0))
        total = total + t * t
    return values * t + total


def test_nodes_are_counted_as_often_as_they_stand_in_the_text() -> None:
    x = HostExpr.path(HostPath("arg", "x"))
    twice = HostExpr("mul", (x, x))
    assert (x.num_nodes, twice.num_nodes) == (1, 3)
    assert HostExpr("add", (twice, twice)).num_nodes == 7
    assert x == HostExpr.path(HostPath("arg", "x"))


@pytest.mark.parametrize("start", [0.3, 0.71])
def test_numbers_of_many_steps_are_pythons(start: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        fused = fuse_jit(logistic)
        for values in (np.arange(3.0), np.arange(5.0)):
            np.testing.assert_array_equal(fused(start, values), logistic(start, values))


def test_what_stands_behind_them_is_right() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        fused = fuse_jit(controlled)
        for values in (np.arange(3.0), np.arange(5.0)):
            np.testing.assert_array_equal(fused(21.0, values), controlled(21.0, values))


def test_fullgraph_says_so() -> None:
    with pytest.raises(UnsupportedError, match="computed from arguments in many steps"):
        fuse_jit(fullgraph=True)(logistic)(0.3, np.arange(3.0))
    assert MAX_NODES < 10_000
