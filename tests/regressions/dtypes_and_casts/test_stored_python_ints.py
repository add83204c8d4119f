"""Python ints too large for an array's dtype wrapped silently: kernels stored them unchecked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit.ir.ops import Assert, walk
from fusejit_testing.oracle import check, compare_outcomes, decorate, run


def thousands(x: Any) -> Any:
    out = np.zeros(len(x), np.int8)
    for i in range(len(x)):
        out[i] = int(x[i]) * 100
    return out


def one_of_two(x: Any, n: Any) -> Any:
    out = np.zeros(len(x), np.uint8)
    for i in range(len(x)):
        out[i] = n if x[i] > 0 else 3
    return out


def counted_in_place(x: Any) -> Any:
    n = 254
    for i in range(len(x)):
        n += 1
        x[i] = n
    return n


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_an_int_that_does_not_fit(jit: bool) -> None:
    """They wrapped silently."""
    for function, *calls in (
        (thousands, (np.ones(3),), (np.full(3, -2.0),)),
        (one_of_two, (np.ones(3), 255), (-np.ones(3), 256), (np.ones(3), 256), (np.ones(3), -1)),
    ):
        decorated = decorate(function, jit=jit)
        for args in calls:
            compare_outcomes(run(function, args), run(decorated, args))


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_behind_stores_to_an_argument(jit: bool) -> None:
    """What was stored until then stays."""
    decorated = decorate(counted_in_place, jit=jit)
    compare_outcomes(
        run(counted_in_place, (np.zeros(1, np.uint8),)), run(decorated, (np.zeros(1, np.uint8),))
    )
    x = np.zeros(4, np.uint8)
    with pytest.raises(OverflowError, match="out of bounds"):
        decorated(x)
    assert x.tolist() == [255, 0, 0, 0]


def small_choices(x: Any) -> Any:
    out = np.zeros(len(x), np.uint8)
    for i in range(len(x)):
        out[i] = (2 if x[i] > 5 else 1) if x[i] > 0 else 0
    return out


def test_ints_of_the_text_are_not_checked() -> None:
    """What each call knows before its kernels run is known to fit."""
    decorated = check(small_choices, (np.arange(-3.0, 9.0),))
    assert not any(isinstance(op, Assert) for op in walk(decorated.trace(np.ones(3)).graph.block))
