"""A loop stored into a copy: the argument reached the changed name only in a later iteration.

The first iteration was traced on its own, but where names move arrays on, the argument comes to the
name that is changed only in a later one: the store went into a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def swapped(a: Any, b: Any, n: int) -> None:
    for _ in range(n):
        a, b = b, a
        a += a[::-1]
        a = np.empty(b.shape)
        a[...] = 3


def rotated(a: Any, b: Any, n: int) -> Any:
    c = a * b
    d = c
    for _ in range(n):
        a, b, c = b, c, a
        a += 1
        a = np.ones(b.shape)
    return a, b, c, d


def alone(a: Any, b: Any, n: int) -> Any:
    for _ in range(n):
        b += 1
        b = np.ones(a.shape)
    return b


def vector(n: int) -> Any:
    return np.random.default_rng(n).normal(size=n)


def test_arguments_that_come_to_a_name_later() -> None:
    for program in (swapped, rotated, alone):
        check(program, (vector(4), vector(4) * 2, 9), (vector(7), vector(7) * 2, 12), variants=None)
        for n in (1, 2, 3, 5):
            check(program, (vector(4), vector(4) * 2, n), variants=None)
