"""Two names of one array became two arrays after a loop: each received its own memory.

A later store through one name did not change the other, and results did not share memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

A = np.arange(12.0).reshape(3, 4)


def stored_later(x: Any) -> Any:
    w = x[0] * 0
    for i in range(len(x)):
        w = w + x[i]
        t = w
    w[...] = 1
    return t[None, :]


def view_of_it(x: Any) -> Any:
    w = x
    for _ in range(5):
        w = w + x
        v = w[1:]
    return v, w


def the_one_before(x: Any) -> Any:
    w = x[0] * 0
    for i in range(len(x)):
        t = w
        w = w + x[i]
    return t, w


def the_one_before_stored(x: Any) -> Any:
    w = x[0] * 0
    for i in range(len(x)):
        t = w[::-1]
        w = w + x[i]
    w += 1
    return t


def carried_is_the_view(x: Any) -> Any:
    w = x
    for _ in range(5):
        t = w + x
        w = t[::-1]
    t += 1
    return w * 2


def in_a_conditional(x: Any) -> Any:
    w = x[0] * 0
    for i in range(len(x)):
        w = w + x[i]
        if x[i, 0] > 2:
            t = w
        else:
            t = x[i] * 2
    w += 1
    return t * 2


def two_late(x: Any) -> Any:
    w = x[0] * 0
    for i in range(len(x)):
        w = w + x[i]
        t = w
        u = t[1:]
    u += 1
    return t, w


PROGRAMS = [stored_later, view_of_it, the_one_before, the_one_before_stored, carried_is_the_view]
PROGRAMS += [in_a_conditional, two_late]


@pytest.mark.filterwarnings("ignore:.* runs as plain NumPy")
@pytest.mark.parametrize("function", PROGRAMS)
def test_names_of_one_array(function: Any) -> None:
    check(function, (A,), (A[:, :2] - 4,), variants=None)


def swapped_on(x: Any, y: Any, n: int) -> Any:
    for _ in range(n):
        x, y = y, 2 * y - x
    return x


def kept_one_behind(x: Any, n: int) -> Any:
    w = x
    for _ in range(n):
        t = w
        w = w + 1
    return t


@pytest.mark.parametrize("trips", [1, 2, 5])
def test_few_iterations_leave_the_arguments_themselves(trips: int) -> None:
    x = np.arange(4.0)
    check(swapped_on, (x, x * 3, 4), (x, x * 3, trips), variants=None)
    check(kept_one_behind, (x, trips), (x, 6), variants=None)


@pytest.mark.filterwarnings("ignore:.* runs as plain NumPy")
def test_reshaped_views() -> None:
    def reshaped(x: Any) -> Any:
        w = x
        for _ in range(5):
            w = w + 1
            t = w.reshape(-1)
        t += 1
        return w

    def only_late(x: Any) -> Any:
        for i in range(5):
            w = x + i
            t = w.reshape(-1)
        t += 1
        return w

    check(reshaped, (A,), variants=None)
    check(only_late, (A,), variants=None)


def test_one_object_by_two_names() -> None:
    def rows(x: Any) -> Any:
        for i in range(len(x)):
            t = x[i]
            u = t
        return t, u, x[-1]

    check(rows, (A,), (A[:2],))


@pytest.mark.filterwarnings("ignore:.* runs as plain NumPy")
def test_a_choice_that_the_loop_carries() -> None:
    def chosen(x: Any) -> Any:
        w, t = x[0] * 0, x[0] * 1
        for i in range(len(x)):
            w = w + x[i]
            t = w if x[i, 0] > 2 else x[i] * 2
        w += 1
        return t * 2

    check(chosen, (A,), (A - 20,), variants=None)
