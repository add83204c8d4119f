"""The differential check of a function that runs in segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.testing.compare import EXACT, Bound, assert_same_ownership
from fusejit.testing.oracle import compare_outcomes, decorate, run


def check_segments(
    function: Callable[..., Any],
    *calls: tuple[Any, ...],
    bound: Bound = EXACT,
    jit: bool = False,
    times: int = 2,
    may_be_whole: bool = False,
) -> Any:
    """Call a function ``times`` with each tuple of arguments; returns its fused form.

    Raises
    ------
    AssertionError
        If a call differs from NumPy's, or the function, compiled whole, needs no segments.
    """
    fused = decorate(function, jit=jit)
    for args in calls:
        for _ in range(times):
            expected, actual = run(function, args), run(fused, args)
            compare_outcomes(expected, actual, bound)
            assert_same_ownership(expected.result, actual.result)
    assert may_be_whole or fused.variants.segmented is not None, "runs whole"
    return fused
