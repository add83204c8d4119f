"""``list(x)`` of an array: changed, searched and read in loops, short or long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python


def grows_under_a_loop(x: Any) -> Any:
    b = list(x)
    for w in b:
        if len(b) > 300:
            break
        b.append(w)
    return np.array(b)


def merged(x: Any) -> Any:
    b, k = list(x), 0
    while len(b) > 1:
        b.append(b.pop(0) + b.pop(0))
        b.sort()
        k += b[0]
    return b, k


def exchanged(x: Any) -> Any:
    a, b = list(x), list(x * 2)
    a[0], b[1] = b[1], a[0]
    return a + b, a is b, list(x) == a


def heapified(x: Any) -> Any:
    a = list(x)
    for parent in range(len(a) // 2 - 1, -1, -1):
        at, child = parent, 2 * parent + 1
        while child < len(a):
            if child + 1 < len(a) and a[child + 1] < a[child]:
                child += 1
            if a[at] <= a[child]:
                break
            a[at], a[child] = a[child], a[at]
            at, child = child, 2 * child + 1
    return a


def searched(x: Any) -> Any:
    a = list(x)
    return a.index(x[1]), x[2] in a, a.count(4.0), max(a), sorted(a), a[1:], a[-1]


def places(x: Any) -> Any:
    a = list(x)
    found = {}
    for i in range(len(a)):
        found[a[i]] = i
    return found


def truths(x: Any) -> Any:
    a = list(x > 2)
    a.reverse()
    return a, sum(a), len(a), [not v for v in a]


def other_types(x: Any) -> Any:
    a = list(x)
    a += [1, 2.5]
    a.append(None)
    return a, list(x.astype(np.int32)), list(x.astype(np.float32))


def stored_behind(x: Any) -> Any:
    y = x.copy()
    a = list(y)
    y[0] = 100
    return a, y


def unpacked(x: Any) -> Any:
    a, b, *c = list(x)
    return a, b, c, np.hypot(*list(x[:2])), np.array([list(x), list(x)])


FUNCTIONS = (
    *(grows_under_a_loop, merged, exchanged, heapified, searched, places, truths),
    *(other_types, stored_behind, unpacked),
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_python(function: Callable[..., Any]) -> None:
    long = np.array([5.0, -7, 9, 4, 4, 4] * 4)
    check_against_python(function, [(np.arange(7.0),), (long,), (long[3:],), (np.arange(3.0),)])
    check_against_python(function, [(long,), (np.arange(7.0),), (long[3:],)])
