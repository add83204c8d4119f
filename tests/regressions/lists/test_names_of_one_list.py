"""`b = a` in a loop or conditional was a copy: `a is b` was False, `b.append` left `a` as it was.

What a name may share with a list from before was looked for among the loop's own names only, and
two copies of a list that may be one left the kernel as two.
"""
# mypy: disable-error-code="var-annotated"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python

X = np.array([0.1, 0.7, 0.2, 0.9, 0.1])


def of_before(x: Any) -> Any:
    a = [0]
    b = []
    for _ in x:
        b = a
    return a, b


def changed_behind(x: Any) -> Any:
    a = [0]
    b = []
    for _ in x:
        b = a
    b.append(1)
    return a


def asked(x: Any) -> Any:
    a = [0]
    b = []
    for _ in x:
        b = a
    return a is b, a, b


def longest(x: Any) -> Any:
    best = []
    now = []
    for i in range(len(x)):
        if x[i] > 0.5:
            now = []
        now.append(i)
        if len(now) > len(best):
            best = now
    return best, now


def under_a_condition(x: Any) -> Any:
    a = [0]
    b = []
    if x[0] > 0.5:
        a.append(1)
        b = a
    return a, b


def asked_under_a_condition(x: Any) -> Any:
    a = [0]
    b = []
    for i in range(len(x)):
        a.append(i)
        if x[i] > 0.5:
            b = a
    return a is b, len(a)


def put_into_a_list(x: Any) -> Any:
    a = [0]
    b = []
    for i in range(len(x)):
        a.append(i)
        if x[i] > 0.5:
            b = a
    rows = []
    for _ in range(2):
        rows.append(b)
    return rows, a


def bound_again_from_such(x: Any) -> Any:
    a = [0]
    b = []
    c = []
    for i in range(len(x)):
        if x[i] > 0.5:
            b = a
        c = b
        c.append(i)
    return a, c


def given_away(x: Any) -> Any:
    a = [0]
    rows = []
    for i in range(len(x)):
        a.append(i)
    for _ in range(int(x[0] * 10)):
        rows.append(a)
    return rows, a


FUNCTIONS = [
    *(of_before, changed_behind, asked, longest, under_a_condition, asked_under_a_condition),
    *(put_into_a_list, bound_again_from_such, given_away),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("calls", [[X], [X[:1]], [X[1:2], X], [X * 0, X + 1, X], [X[:0], X]])
def test_one_list(function: Callable[..., Any], calls: list[Any]) -> None:
    check_against_python(function, [(x,) for x in calls])
