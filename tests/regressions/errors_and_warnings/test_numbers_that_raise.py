"""`math.asin(f)` raised in generated code, after effects: the launcher computed it last.

``math.asin(f)`` was computed at the end of the launcher: the traceback ended in generated text, and
arguments that the program changes later were changed already.
"""

from __future__ import annotations

import math
import traceback
from typing import Any

import numpy as np

from fusejit_testing.oracle import check, compare_outcomes, decorate, run


def before_a_store(x: Any, f: float) -> Any:
    a = math.asin(f)
    x[0] = 7
    return a, x


def test_the_error_comes_first() -> None:
    decorated = decorate(before_a_store, jit=False)
    for f in (0.5, 0.25, 2.0):
        args = (np.arange(4.0), f)
        expected, actual = run(before_a_store, args), run(decorated, args)
        compare_outcomes(expected, actual)
    assert actual.error is not None
    assert traceback.extract_tb(actual.error.__traceback__)[-1].line == "a = math.asin(f)"


def extrema(f: Any) -> Any:
    return max(f, 3), min(f, 3, 4), max(3, 4, f)


def test_extrema_of_numbers_that_are_known_in_part() -> None:
    """The larger of two numbers of the text was computed as if a call could change it."""
    check(extrema, (17.0,), (2.5,), (1,), variants=None)
