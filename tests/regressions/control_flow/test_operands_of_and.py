"""`x[i] or 5` was True: the operator returned a flag, not the operand.

``x[i] or 5`` was ``True`` where Python returns ``x[i]``; ``-1 < x[i] < 1`` was refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.array([0.5, 0.0, -2.0, 3.0, 0.0, 0.25])


def the_first_that_is_true(x: Any) -> Any:
    r = 1.0 * x[0]
    for i in range(len(x)):
        r = x[i] or r * 2
    return r


def the_first_that_is_false(x: Any) -> Any:
    r = 1.0 * x[0]
    for i in range(len(x)):
        r = x[i] and r + x[i] and r - 0.125
    return r


def in_conditions(x: Any) -> Any:
    count = 0
    for i in range(len(x)):
        if not (x[i] and i) or (x[i] > 1 and (i or x[i])):
            count += 1
        count += 10 if x[i] and i else 100
    return count


def chains(x: Any) -> Any:
    count = 0
    inside = True
    for i in range(len(x)):
        if -1 < x[i] < 1 and 0 <= i < len(x) - 1 != 3:
            count += 1
        inside = inside and -3 <= x[i] <= x[i] * 2 + 10
    return count, inside


def a_chain_evaluates_each_operand_once(x: Any) -> Any:
    seen = []

    def note(value: Any) -> Any:
        seen.append(value)
        return value

    result = 0 < note(1) < note(2) < note(0) < note(7)
    return x, result, seen


@pytest.mark.parametrize(
    "function",
    [
        the_first_that_is_true,
        the_first_that_is_false,
        in_conditions,
        chains,
        a_chain_evaluates_each_operand_once,
    ],
)
def test_operands(function: Callable[..., Any]) -> None:
    check(function, (X,), (X[1:],), (X[1:2],), variants=None)
