"""Wrong values: a loop may leave the very array that a name held before; then that is changed.

``acc = z``, a loop that binds ``acc`` in some iterations or in none, ``z[:1] = 4``, ``return acc``:
the store was missing where no iteration had bound it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def bound_under_a_condition(y: Any, n: Any) -> Any:
    z = y + 1
    acc = z
    for i in range(n):
        p = y * i
        if p.sum() > 100 * acc.sum():
            acc = p
    z[:1] = 4
    return acc


def while_loop(y: Any, n: Any) -> Any:
    z = y + 1
    acc = z
    k = 1
    while k < n:
        acc = acc + 1
        k += 1
    z[:1] = 4
    return acc


def counted_iterations(y: Any, n: Any) -> Any:
    z = y + 1
    acc = z
    m = 0
    for i in range(n):
        if y[0] * i > 2:
            m += 1
    for _ in range(m):
        acc = acc + 1
    z[:1] = 4
    return acc


def through_another_name(y: Any, n: Any) -> Any:
    z, w = y + 1, y + 1
    acc = z
    for k in range(n - 2):
        w = z
        z = y + k
    for i in range(n - 2):
        p = y * i
        if p.sum() > acc.sum():
            acc = p
    w[:1] = 4
    return acc


def stores_in_a_loop(y: Any, n: Any) -> Any:
    z = y + 1
    acc = z
    for i in range(n):
        p = y * i
        if p.sum() > 100 * acc.sum():
            acc = p
    for i in range(n):
        z[:1] = i
    return acc


def view_returned(y: Any, n: Any) -> Any:
    z = y + 1
    acc = z
    for i in range(n):
        p = y * i
        if p.sum() > 100 * acc.sum():
            acc = p
    z[:1] = 4
    return acc[:2]


FUNCTIONS = [
    *(bound_under_a_condition, while_loop, counted_iterations, through_another_name),
    *(stores_in_a_loop, view_returned),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_stores_behind_loops(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, tiering=False)
    for count in (30, 3, 1, 0):
        args = np.linspace(0.1, 1, 4), count
        compare_outcomes(run(function, args), run(fused, args))


def chosen_array(y: Any, n: Any) -> Any:
    """The list, from which NumPy makes an array, held the copy of one of two arrays."""
    rows = []
    for k in range(n):
        a, b = y * 1, y * 2
        c = a if k % 2 else b
        rows.append(c)
        a[0] = 8
    return np.array(rows)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_chosen_array_in_a_list() -> None:
    fused = decorate(chosen_array, jit=False, tiering=False)
    args = np.linspace(0.1, 1, 4), 50
    compare_outcomes(run(chosen_array, args), run(fused, args))
