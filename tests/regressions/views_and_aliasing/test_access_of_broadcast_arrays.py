"""Stores into `np.broadcast_arrays` results failed: these were read-only, NumPy only warns.

A store into an argument that NumPy would have warned about read ``flags.writeable``, which warns as
well.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.ir.write_access import WriteAccess
from fusejit_testing.compare import arrays_in, assert_same, clone
from fusejit_testing.oracle import check, decorate


def returned(x: Any, y: Any) -> Any:
    a, b = np.broadcast_arrays(x, y)
    return a, b, a[0], a.T, b[..., :1], a.reshape(a.shape), np.asarray(b)


def of_fresh(x: Any, y: Any) -> Any:
    a, b = np.broadcast_arrays(x * 2, y - 1)
    return a, b, a + b


def twice(x: Any, y: Any) -> Any:
    a, b = np.broadcast_arrays(x, y)
    c, d = np.broadcast_arrays(a[None], np.zeros((2, 1, 1)))
    return c, d, np.broadcast_to(b, (2, *b.shape)), np.diagonal(a)


def of_numbers(x: Any, y: Any) -> Any:
    return np.broadcast_arrays(x, 2.0)[1], np.broadcast_arrays(x.sum(), y)


def stored_after_a_copy(x: Any, y: Any) -> Any:
    a, b = (np.array(part) for part in np.broadcast_arrays(x, y))
    a[0] = b[0] + 1
    return a


X, Y = np.arange(3.0), np.arange(4.0)[:, None]
FROZEN = np.arange(3.0)
FROZEN.flags.writeable = False


@pytest.mark.parametrize("function", [returned, of_fresh, twice, of_numbers, stored_after_a_copy])
def test_results_are_marked_as_in_numpy(function: Any) -> None:
    check(function, (X, Y), (np.arange(5.0), np.zeros((2, 1))), variants=None)
    check(function, (FROZEN, Y), (X, Y))
    check(function, (np.zeros(0), Y))


def test_views_of_what_the_caller_has_marked() -> None:
    def parts(a: Any) -> Any:
        return a[1:], a.T, np.broadcast_arrays(a, np.ones((2, 1, 1)))[0], a * 2

    check(parts, (np.broadcast_arrays(X, Y)[0],), (np.ones((4, 3)),), variants=None)


def into_results(x: Any, y: Any) -> Any:
    a, b = np.broadcast_arrays(x, y)
    c = a * 2
    a[0, 0] = 7
    return c, a + b, x


def into_views(x: Any, y: Any) -> Any:
    a = np.broadcast_arrays(x, y)[0][1]
    a += 1
    return a, x


def through_functions(x: Any, y: Any) -> Any:
    a, b = np.broadcast_arrays(x, y)
    np.copyto(a, 3.0)
    np.add.at(b, (0, 0), 1.0)
    return a, b


def into_the_callers(x: Any, y: Any) -> Any:
    x[0] = 5
    return x + 1, y


def _outcome(function: Callable[..., Any], args: Any) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    return result, [str(w.message) for w in caught]


@pytest.mark.parametrize(
    "function", [into_results, into_views, through_functions, into_the_callers]
)
def test_stores_warn_as_in_numpy(function: Any) -> None:
    fused = decorate(function, jit=False)
    calls = [(X, Y), (X + 1, Y), (np.broadcast_arrays(X, Y)[0][1], Y), (X, Y)]
    for call in calls:
        (expected, said), (actual, said_here) = (
            _outcome(f, clone(call)) for f in (function, fused)
        )
        assert_same(expected, actual)
        assert said == [w for w in said_here if "plain NumPy" not in w]
        for e, a in zip(arrays_in(expected), arrays_in(actual), strict=True):
            assert WriteAccess.of(e) is WriteAccess.of(a)
