"""After a loop of no iterations a name held a copy: the loop carried values, not objects.

After ``while w[0] < limit: w = w + 1`` the name held a copy of its first array where NumPy has the
very array: a result was another object, a store did not show in the argument, and a store into the
argument did not show in the name. The same after ``break``, and in the first iteration of a loop
that changes the array in place under another name.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit_testing.oracle import check, check_not_compiled, compare_outcomes, run

X = np.arange(1.0, 7.0)
LIMITS = (-5.0, 1.0, 2.0, 4.5)


def until(x: Any, limit: Any) -> Any:
    while x[0] < limit:
        x = x * 2
    return x


def both(x: Any, limit: Any) -> Any:
    w = x
    while w[0] < limit:
        w = w + 1
    return w, x, w


def view(x: Any, limit: Any) -> Any:
    w = x[1:]
    while w[0] < limit:
        w = w + 1
    return [w, x]


def view_backwards(x: Any, limit: Any) -> Any:
    w = v = x[::-1]
    while w[-1] < limit:
        w = w + 1
    return w, v


def of_the_function(x: Any, limit: Any) -> Any:
    v = x + 1
    w = v
    while w[0] < limit:
        w = w + 1
    return w, v


def moved_on(x: Any, limit: Any) -> Any:
    y = x + 1
    while x[0] < limit:
        x, y = y, 2 * y - x
    return x, y


def with_break(x: Any, limit: Any) -> Any:
    for _ in range(len(x)):
        if x[0] > limit:
            break
        x = x + 1
    return x


def with_break_unrolled(x: Any, limit: Any) -> Any:
    for _ in range(3):
        if x[0] > limit:
            break
        x = x + 1
    return x


def with_return(x: Any, limit: Any) -> Any:
    while True:
        if x[0] >= limit:
            return x
        x = x + 1


def kept(x: Any, limit: Any) -> Any:
    last = x
    while x[0] < limit:
        last = x
        x = x + 1
    return last, x


def in_loops(x: Any, limit: Any) -> Any:
    for _ in range(len(x)):
        w = x
        while w[0] < limit:
            w = w + 1
        x = w
    return x


def one_after_the_other(x: Any, limit: Any) -> Any:
    w = x
    while w[0] < limit:
        w = w + 1
    v = w
    while v[0] < 2:
        v = v * 2
    return w, v, x


def in_a_branch(x: Any, limit: Any) -> Any:
    w = x
    if limit > x[0] - 1:
        while w[0] < limit:
            w = w + 1
    return w


def in_some_iterations(x: Any, limit: Any) -> Any:
    for k in range(len(x)):
        if x[0] < limit - k:
            x = x + 1
    return x


def helper(v: Any, limit: Any) -> Any:
    while v[0] < limit:
        v = v + 1
    return v


def in_helpers(x: Any, limit: Any) -> Any:
    return helper(x, limit), helper(x, limit + 2)


def rows(x: Any, limit: Any) -> Any:
    while x.size and x[0] < limit:
        x = x[x > x[0]]
    return x


def branch(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        x = x + 1
    return x


def branch_of_two(x: Any, limit: Any) -> Any:
    v = x + 1
    w = x if x[0] < limit else v
    return w, x, v


def branch_of_views(x: Any, limit: Any) -> Any:
    if x[0] < limit:
        w = x[1:]
    else:
        w = x[:-1]
    return w, x


def nested_branches(x: Any, limit: Any) -> Any:
    w = x
    if x[0] < limit:
        if x[1] < limit:
            w = x + 1
        else:
            w = x[:]
    return w


RETURNED = [
    until,
    both,
    view,
    view_backwards,
    of_the_function,
    moved_on,
    with_break,
    with_break_unrolled,
    with_return,
    kept,
    in_loops,
    one_after_the_other,
    in_a_branch,
    in_some_iterations,
    in_helpers,
    rows,
    branch,
    branch_of_two,
    branch_of_views,
    nested_branches,
]


@pytest.mark.parametrize("function", RETURNED, ids=lambda f: f.__name__)
def test_what_is_returned_is_the_very_object(function: Any) -> None:
    check(function, *((X, limit) for limit in LIMITS))


@pytest.mark.parametrize("function", [both, branch], ids=lambda f: f.__name__)
def test_the_same_compiled(function: Any) -> None:
    check(function, *((X, limit) for limit in LIMITS), jit=True)


def stored_behind(x: Any, limit: Any) -> Any:
    w = x
    while w[0] < limit:
        w = w + 1
    w[0] = 7
    return w.sum()


def stored_into_the_argument(x: Any, limit: Any) -> Any:
    w = x
    while w[0] < limit:
        w = w + 1
    x[0] = 7
    return w.sum()


def part(x: Any, limit: Any) -> Any:
    w = x
    while w[0] < limit:
        w = w + 1
    return w[1:]


def read_in_a_later_loop(x: Any, limit: Any) -> Any:
    w = x
    while w[0] < limit:
        w = w + 1
    s = 0.0
    for i in range(len(x)):
        s += w[i]
        x[i] = 9
    return s


LEFT_TO_NUMPY = [stored_behind, stored_into_the_argument, part, read_in_a_later_loop]


@pytest.mark.parametrize("function", LEFT_TO_NUMPY, ids=lambda f: f.__name__)
def test_numpy_runs_calls_in_which_a_copy_would_show(function: Any) -> None:
    fused = fuse_jit(function)
    for limit in LIMITS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            compare_outcomes(run(function, (X, limit)), run(fused, (X, limit)), where=str(limit))
    assert len(fused.variants) == 1
    assert sum(fused.variants.fallbacks.values()) == 2  # those without an iteration


def changed_before_bound_anew(x: Any, n: Any) -> Any:
    w = x
    for _ in range(n):
        x[0] += 1
        w = w + x
    return w


def changed_before_bound_anew_until(x: Any, limit: Any) -> Any:
    w = x
    while w[0] < limit:
        x[0] += 1
        w = w + x
    return w


def test_what_the_first_iteration_changes_in_place_shows() -> None:
    check(changed_before_bound_anew, *((X, n) for n in (7, 5, 12)))
    for limit in (*LIMITS, 5.0):
        check_not_compiled(
            changed_before_bound_anew_until, (X, limit), "changes in place what it held"
        )
