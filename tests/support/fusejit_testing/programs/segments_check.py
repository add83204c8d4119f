"""The differential check of a function that runs in segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit_testing.compare import EXACT, Bound, assert_same_ownership
from fusejit_testing.oracle import compare_outcomes, decorate, run


def check_segments(
    function: Callable[..., Any],
    *calls: tuple[Any, ...],
    bound: Bound = EXACT,
    jit: bool = False,
    times: int = 2,
    may_be_whole: bool = False,
) -> Any:
    """Call a function ``times`` with each tuple of arguments; returns its fused form.

    It is called once more in the form in which segments that do not pay are Python's.

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
    if not jit:
        settled = decorate(function, jit=jit, tiering=True)
        for args in calls:
            for _ in range(3):
                compare_outcomes(run(function, args), run(settled, args), bound)
    assert may_be_whole or fused.variants.newest_segmented is not None, "runs whole"
    return fused
