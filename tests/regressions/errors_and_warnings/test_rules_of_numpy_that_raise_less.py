"""Calls that NumPy accepts were expected to raise: our rules were stricter than NumPy's.

NumPy then ran the call, so results were right, but the user saw a warning of an internal error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.outcome import FAULT
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import check_not_compiled, compare_outcomes, decorate, no_faults, run

V = np.arange(4.0)
M = np.arange(12.0).reshape(4, 3)


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that may not be written."""
    return np.broadcast_to(array, array.shape)


def masked(x: Any, m: Any) -> Any:
    return x[m]


def stored_under(x: Any, m: Any) -> None:
    x[m] = x[m] - 2


def added_under(x: Any, k: Any) -> None:
    x[x[k:] > x[:1]] += 1


def taken(x: Any, i: Any, j: Any) -> Any:
    return x[i, j]


def stored_at(x: Any, i: Any, j: Any) -> None:
    x[:] = 1
    x[i, j] = 5


def added_at(x: Any, i: Any) -> None:
    np.add.at(x, i, 1)


def put_under(x: Any, m: Any, v: Any) -> Any:
    y = x * 1
    np.putmask(y, m, v)
    return y


def placed_under(x: Any, m: Any, v: Any) -> Any:
    y = x * 1
    np.place(y, m, v)
    return y


def multiplied(x: Any, y: Any) -> None:
    np.multiply(x, x * y, out=x, where=x > 1, casting="unsafe")


def multiplied_safely(x: Any, y: Any) -> Any:
    return np.multiply(x, y, out=y, where=x > 1, casting="no")


def copied(x: Any) -> None:
    np.copyto(x[:2], x[1:3])


def taken_if(x: Any, i: Any) -> Any:
    y = x * 2
    if x[0, 0] > 0.5:
        y[0, 0] = x[np.arange(2)[:, None], i].sum()
    return y


def taken_in_a_loop(x: Any, i: Any) -> Any:
    total = np.zeros(2)
    for row in x:
        total += row[i]
    return total


def neighbours(x: Any) -> Any:
    y = np.delete(x, 0)
    return y[:-1] - y


NONE = np.zeros(0, bool)
ROWS, FAR = np.zeros((0, 1), int), np.array([7, 8])
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (masked, (V, NONE)),
    (masked, (M, NONE)),
    (masked, (M, np.zeros((4, 0), bool))),
    (masked, (M, np.zeros((0, 4), bool))),
    (masked, (V, np.zeros(3, bool))),
    (stored_under, (V, NONE)),
    (added_under, (V[:1], 1)),
    (added_under, (V, 1)),
    (taken, (M, ROWS, FAR)),
    (taken, (M, FAR, ROWS)),
    (taken, (np.zeros((0, 0)), ROWS, FAR)),
    (taken, (M, ROWS.T, FAR)),
    (taken, (M, np.zeros((2, 1), int), FAR)),
    (taken, (M, np.zeros((2, 1), int), np.array([1, 2]))),
    (stored_at, (M, ROWS, FAR)),
    (stored_at, (M, FAR[:, None], ROWS[:, 0])),
    (added_at, (read_only(V), np.array([0, 2, 2]))),
    (added_at, (read_only(M), (np.array([0, 2]), np.array([1, 1])))),
    (put_under, (V, V > 1, V[:3])),
    (put_under, (V, V > 1, M)),
    (put_under, (V, np.ones((2, 2), bool), -1.0)),
    (put_under, (V, np.ones((2, 3), bool), -1.0)),
    (placed_under, (V, np.ones((2, 2), bool), -1.0)),
    (placed_under, (V, np.ones((2, 3), bool), [-1.0, 5.0])),
    (multiplied, (np.arange(4), V)),
    (multiplied_safely, (np.arange(4), V)),
    (multiplied_safely, (V, V + 1)),
    (copied, (np.broadcast_to(V[:1], (4, 1)),)),  # what is there already
    (copied, (read_only(V),)),
    (copied, (V,)),
    (taken_if, (M, FAR)),  # checked before the branch, which does not run
    (taken_if, (M + 1, FAR)),
    (taken_if, (M + 1, np.array([0, 2]))),
    (taken_in_a_loop, (M[:0], FAR)),
    (taken_in_a_loop, (M, FAR)),
    (neighbours, (V[:3],)),
    (neighbours, (V[:2],)),
    (neighbours, (V,)),
]


@pytest.mark.parametrize("fusion", ["auto", "none"])
@pytest.mark.parametrize(("function", "args"), CALLS, ids=lambda a: getattr(a, "__name__", ""))
def test_only_what_raises_is_said_to(
    function: Callable[..., Any], args: tuple[Any, ...], fusion: str
) -> None:
    with no_faults() as reports, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decorated = decorate(function, jit=False, fusion=fusion, reports=reports)
        for _ in range(2):
            compare_outcomes(run(function, args), run(decorated, args))
        assert not [cause for cause in decorated.variants.fallbacks if FAULT in cause]


@pytest.mark.parametrize("function", [taken, stored_at])
def test_a_variant_serves_calls_with_and_without_elements(function: Callable[..., Any]) -> None:
    """What was compiled for integers that are elements does not raise where they are none."""
    near = np.array([0, 2])
    decorated = decorate(function, jit=False)
    for i, j in ((ROWS[:0], near), (np.zeros((2, 1), int), near), (ROWS, FAR), (near, near)):
        expected, actual = run(function, (M, i, j)), run(decorated, (M, i, j))
        assert actual.error is None
        assert_same(expected.result, actual.result)
        assert_same(expected.args, actual.args)
    assert not decorated.variants.fallbacks


@pytest.mark.parametrize("rows", [1, 2])
def test_copyto_of_more_axes(rows: int) -> None:
    def program(a: Any, b: Any) -> None:
        np.copyto(a, b)

    args = np.zeros((3, 2)), np.ones((rows, 3, 2))
    check_not_compiled(program, args, "more axes")
