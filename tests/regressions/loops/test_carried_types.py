"""A loop cut floats to integers: types of loop variables were kept per line, not per visit.

Decisions about types were kept per line of the program: a helper that was called with floats and
then with integers, or a loop inside a loop that later turned out to carry a float, used the type of
another visit, and cut floats to integers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check

FLOATS = np.array([0.5, -1.25, 2.0, 3.75, -0.5, 1.0])
INTEGERS = np.array([4, -3, 2, 7, 1, -5])


def inner_is_an_integer_first(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        for j in range(i):
            s += x[j]
        s *= 0.5
    return s


def total(x: Any) -> Any:
    s = 0
    i = 0
    while i < len(x) and x[i] < 100:
        s += x[i]
        i += 1
    return s


def one_helper_for_two_types(x: Any, y: Any) -> Any:
    return total(x), total(y)


def one_loop_for_two_types(x: Any, y: Any) -> Any:
    results = []
    for a in (x, y):
        s = 0
        i = 0
        while i < len(a) and a[i] < 100:
            s += a[i]
            i += 1
        results.append(s)
    return results


def inner_loop_inside_a_peeled_one(x: Any) -> Any:
    s = 0
    seen = 0
    for i in range(len(x)):
        j = 0
        while j <= i and x[j] < 100:
            s += x[j]
            j += 1
        seen = s
        s *= 0.5
    return s, seen


def zero_dimensional(x: Any) -> Any:
    s = np.zeros(())
    for i in range(len(x)):
        s += x[i]
    return s


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (inner_is_an_integer_first, (INTEGERS,)),
        (one_helper_for_two_types, (FLOATS, INTEGERS)),
        (one_helper_for_two_types, (INTEGERS, FLOATS)),
        (one_loop_for_two_types, (FLOATS, INTEGERS)),
        (one_loop_for_two_types, (INTEGERS, FLOATS)),
        (inner_loop_inside_a_peeled_one, (INTEGERS,)),
        (zero_dimensional, (FLOATS,)),
    ],
)
def test_types(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(function, args)


def counts_integers(x: Any) -> Any:
    k = 0
    count = 0
    for i in range(len(x)):
        if x[i] > 0:
            k += 1
        count += 1 if isinstance(k, int) and type(k) is int else 100
    return k, count


def test_a_number_of_the_kernel_is_an_instance_of_int() -> None:
    """It was an instance of ``np.int64``."""
    check(counts_integers, (FLOATS,))


def divides(x: Any, k: Any) -> Any:
    s = 0
    for i in range(len(x)):
        s += i // k
    return s


def test_division_by_an_argument_that_is_zero() -> None:
    """The kernel gave 0 where Python raises."""
    check(divides, (FLOATS, 3), (FLOATS, 0), (FLOATS, -2), variants=None)


def test_an_array_that_becomes_a_number_in_an_inner_loop() -> None:
    """The extents of a number were asked for their first. Found by the campaign."""

    def program(a: Any, b: Any, c: Any) -> Any:
        first = a[:1] * 0
        count = 0
        while (a > 1).any():
            count += 1
            if count > 3:
                break
            for _ in range(0, len(c), 2):
                kept = np.empty(b.shape)
                kept[...] = b
                b = first[-1]
        return kept[...] + a

    fused = fuse_jit(program)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for a in (np.array([6, -4, 2]), np.array([0.5, 2.0])):
            expected = program(a, np.ones(3), np.ones(4))
            np.testing.assert_array_equal(fused(a, np.ones(3), np.ones(4)), expected)
    assert not [w for w in told if "internal error" in str(w.message)]
