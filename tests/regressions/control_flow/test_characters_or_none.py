"""``h or "no"``, of a character that may be None: the type of a character was none of the result's.

The trace ended with an internal error. A result of ``or`` that is its first operand is not None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def goes_through(text: Any) -> Any:
    h = None
    out = []
    n = 0
    for a in text:
        for b in h or "no":
            if b + "a" == "xa":
                n += 1
            elif a != "q":
                out.append(a)
                h = out[-1]
    return n, len(out)


def joins(text: Any) -> Any:
    h = None
    o = ""
    for a in text:
        o += h or "none"
        if a != "b":
            h = a
    return o


def of_numbers(numbers: Any) -> Any:
    last = None
    total = 0
    for v in numbers:
        total += last or 10
        if v > 1:
            last = v
    return total


CALLS = [
    *((goes_through, ["abx", "qq", "", "xxab"]), (joins, ["abc", "bbb", "", "xb"])),
    (of_numbers, [[1, 0, 2, 0, 5], [1, 1], [], [-3, 7, 7]]),
]


@pytest.mark.parametrize(("function", "calls"), CALLS)
def test_or(function: Callable[..., Any], calls: list[Any]) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for arg in calls:
        compare_outcomes(run(function, (arg,)), run(fused, (arg,)))
