"""Sizes that turn out equal or 1 were refused: quotients and sums of two sizes had no form."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def minus_every_other(b: Any) -> Any:
    b -= b[::-2] - 1
    return b


def times_odd(a: Any, c: Any) -> Any:
    return a * c[..., 1::2]


def times_odd_in_place(a: Any, c: Any) -> Any:
    a *= c[1::2]
    return a


def plus_part(a: Any, c: Any, m: int, n: int) -> Any:
    return a + c[3 * m : 2 * n]


def test_a_quotient_that_is_one_is_broadcast() -> None:
    check(minus_every_other, (np.array([1.0, -0.5]),))
    check(times_odd, (np.ones((3, 3)), np.arange(3.0)), (np.ones((5, 4)), np.arange(2.0)))
    check(times_odd_in_place, (np.ones(3), np.arange(3.0)), (np.ones(5), np.arange(3.0)))


def test_a_quotient_that_equals_a_size() -> None:
    calls = [(np.ones((3, n)), np.arange(2.0 * n)) for n in (3, 5)]
    check(times_odd, *calls)
    check(times_odd, *calls, (np.ones((3, 3)), np.arange(3.0)), variants=2)


def test_extents_that_are_combinations_of_two_numbers() -> None:
    check(plus_part, (np.ones(4), np.arange(20.0), 3, 5), (np.ones(7), np.arange(20.0), 1, 2))
    check(plus_part, (np.ones(2), np.arange(20.0), 4, 7), (np.ones(4), np.arange(20.0), 4, 8))
