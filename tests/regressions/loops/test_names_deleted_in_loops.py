"""``del`` of a name in a traced loop.

Regression: Loops asked for the object of each name at the end of the body, also of names that
nothing carries: a KeyError, and NumPy ran the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate


def of_a_number(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        t = x[i]
        s += t
        del t
    return s


def of_an_array(x: Any) -> Any:
    s, y = 0.0, x * 2
    for i in range(len(x)):
        w = y * i
        s += w[0]
        y = w * 0.5
        del w
    return s, y


def and_bound_again(x: Any) -> Any:
    s, t = 0.0, 3.0
    for i in range(len(x)):
        s += t
        del t
        t = x[i]
    return s, t


def in_a_while(x: Any) -> Any:
    s, i = 0.0, 0
    while i < len(x):
        v = x[i]
        if v > 2:
            s += v
        del v
        i += 1
    return s


def of_a_tuple(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        pair = x[i], i
        s += pair[0] * pair[1]
        del pair
    return s


@pytest.mark.parametrize(
    "function", [of_a_number, of_an_array, and_bound_again, in_a_while, of_a_tuple]
)
def test_as_python(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for x in (np.arange(1.0, 9.0), np.arange(1.0, 6.0)):
        assert_same(function(x), fused(x))
    assert not fused.variants.fallbacks
    assert fused.variants.segmented is None
