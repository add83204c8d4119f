"""Containers hold a NaN that is the very object: ``x in xs``, ``xs == ys``, ``xs.count(x)``."""

import math

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def in_a_list(xs, x):
    return x in xs


def equal_lists(xs, x):
    return xs == [x, 1.0]


def equal_tuples(xs, x):
    return (x, 1) == (xs[0], 1), (xs[0], (x, 2)) != (x, (xs[0], 2))


def counted(xs, x):
    return xs.count(x), (x, x, 1.0).count(x)


def sought(xs, x):
    return xs.index(x)


def of_a_result(xs, x):
    v = xs[0] * 1.0
    return v in [v, 1.0], [v] == [v], (v, 1) == (v, 1), v == v


def of_elements(xs, x):
    a = np.array(xs)
    v, found = a[0], 0
    for i in range(len(a)):
        y = a[i]
        if y in (y, 2.0):
            found += 1
        if a[i] in (a[i], 2.0):
            found += 10
    return v in [v, 1.0], (v, 1) == (v, 1), a[0] in [a[0]], found


def in_loops(xs, x):
    found = 0
    for a in xs:
        for b in xs:
            found += (a, 1) == (b, 1)
            found += 10 * ([a] == [b])
    return found


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [in_a_list, equal_lists, equal_tuples, counted, sought, of_a_result, of_elements, in_loops],
)
def test_as_python(function):
    compiled = decorate(function, jit=False, tiering=False)
    nan = math.nan
    calls = [([2.0, 1.0], 2.0), ([nan, 1.0], nan), ([nan, 1.0], float("nan")), ([1.0, 2.0], 1.0)]
    for xs, x in [*calls, *reversed(calls)]:
        compare_outcomes(run(function, (xs, x)), run(compiled, (xs, x)))
