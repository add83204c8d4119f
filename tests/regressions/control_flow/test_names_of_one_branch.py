"""A name bound in one branch never raised UnboundLocalError: it was traced as always bound.

``u = w`` after ``if x[0] > 2: w = ..`` was traced like any assignment: where the other branch was
taken, Python raises UnboundLocalError, and the compiled call returned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import UnsupportedError, fuse_jit
from fusejit_testing.oracle import check, compare_outcomes, decorate, run
from fusejit_testing.programs.segments_check import check_segments


def assigned(x: Any) -> Any:
    if x[0] > 2:
        w = x + 1
    u = w  # noqa: F841
    return x * 2


def swapped(x: Any) -> Any:
    y = x + 1
    if x[0] > 2:
        w = x * 3
    y, w = w, y
    return x * 2


def ignores(x: Any, other: Any) -> Any:
    return x * 2


def passed(x: Any) -> Any:
    if x[0] > 2:
        w = x + 1
    return ignores(x, w)


def in_a_list(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 2:
            w = x[i]
    pair = [x, w]
    return pair[0] * 2


@pytest.mark.parametrize("function", [assigned, swapped, passed, in_a_list])
def test_a_name_without_a_value_is_not_handed_on(function: Any) -> None:
    with pytest.raises(UnboundLocalError):
        function(np.zeros(3))
    with pytest.raises(UnsupportedError, match="'w' is"):
        fuse_jit(fullgraph=True)(function)(np.zeros(3))


@pytest.mark.parametrize("function", [assigned, swapped, passed])
def test_segments_raise_what_python_raises(function: Any) -> None:
    fused = check_segments(function, (np.zeros(3),), (np.arange(3.0) + 3,))
    with pytest.raises(UnboundLocalError):
        fused(np.zeros(3))


def test_names_of_both_branches_are_handed_on() -> None:
    def both(x: Any) -> Any:
        if x[0] > 2:
            w = x + 1
        else:
            w = x * 2
        u, pair = w, [w, x]
        return u + pair[0], ignores(w, u)

    check(both, (np.zeros(3),), (np.arange(3.0) + 3,))


def in_a_statement(n: int) -> int:
    for i in range(n):
        if i > 3:
            z = 1
        z  # noqa: B018
    return n


def in_a_tuple(n: int) -> int:
    for i in range(n):
        if i > 3:
            z = [1]
        (z, i)  # noqa: B018
    return n


def caught(n: int) -> Any:
    found = []
    for i in range(n):
        try:
            found.append([1, 2, 3][i])
        except IndexError as error:
            late = error
        try:
            late  # noqa: B018
        except UnboundLocalError as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [in_a_statement, in_a_tuple, caught])
def test_names_as_statements_are_read(function: Any) -> None:
    compiled = decorate(function, jit=False, tiering=False)
    for n in (3, 9, 0):
        compare_outcomes(run(function, (n,)), run(compiled, (n,)))
