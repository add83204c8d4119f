"""What ends a trace passes through the user's ``try``, ``finally`` and ``with`` unseen.

Regressions: A ``finally`` that returns, breaks or continues swallowed the exception that ends a
trace: the trace went on as if it were complete, and the rest of the ``try`` was missing. In
functions without source, which are traced as they are, any ``except Exception:`` did so. A name
bound before a ``try`` that binds it on each way to its end was not handed to the segments inside.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def returns(x: Any) -> Any:
    v = x[0]
    y = x * 2
    try:
        if v > 0:
            y = y + 1
        v = v + 1
    finally:
        return v, y  # noqa: B012


def counted(v: Any) -> int:
    n = 0
    try:
        if v > 0:
            n += 1
        n += 1
    finally:
        return n  # noqa: B012


def helper_returns(x: Any) -> Any:
    return counted(x[0]), x * 2


def continues(x: Any) -> Any:
    n = 0
    for _ in range(2):
        try:
            if x[0] > 0:
                n += 1
            n += 1
        finally:
            continue  # noqa: B012
    return n, x * 2


def breaks(x: Any) -> Any:
    n = 0
    for v in x:
        try:
            if v > 3:
                raise ValueError(v)
            n += 1
        finally:
            break  # noqa: B012
    return n


def returns_under_a_condition(x: Any) -> Any:
    n = 0
    try:
        n = len(f"{x[0]:.2f}")
        n += 1
    finally:
        if n >= 0:
            return n, x  # noqa: B012
    return n, x * 2


def handles(x: Any) -> Any:
    try:
        return counted(x[0]) + x
    finally:
        for v in (1, 2):
            if v > 1:
                break


def a_positive(x: Any) -> Iterator[Any]:
    for v in x:
        try:
            if v > 0:
                yield v
        finally:
            continue  # noqa: B012


def generates(x: Any) -> Any:
    return [*a_positive(x)]


def catches(x: Any) -> Any:
    n = 0
    try:
        if x[0] > 0:
            n += 1
        n += 1
    except Exception:
        n = 100
    return n, x * 2


def catches_all(x: Any) -> Any:
    n = 0
    try:
        if x[0] > 0:
            n += 1
        n += 1
    except:  # noqa: E722
        n = 100
    return n, x * 2


def suppresses(x: Any) -> Any:
    n = 0
    with contextlib.suppress(BaseException):
        if x[0] > 0:
            n += 1
        n += 1
    return n, x * 2


def suppresses_inside(x: Any) -> Any:
    def inner(v: Any) -> int:
        with contextlib.suppress(Exception):
            return 1 if v > 0 else 2
        return 3

    return inner(x[0]) * x


def bound_before_a_try(x: Any) -> Any:
    z = 0
    y = x * 2
    try:
        if len(x) > 1:
            z = 1
        if y[0] > 2:
            return "large"
        z = 2
    finally:
        pass
    return z


def bound_in_finally(x: Any) -> Any:
    z = 0
    y = x * 2
    try:
        if len(x) > 1:
            z = 1
    finally:
        if y[0] > 2:
            return "large"  # noqa: B012
        z = 2
    return z


def bound_in_both_branches(x: Any) -> Any:
    z = 0
    y = x * 2
    items = [1] if len(x) > 2 else []
    if items:
        if len(x) > 1:
            z = 1
        print(end="")
        z = z + 2
    else:
        if len(x) > 3:
            z = 4
        items.append(3)
        z = 3
    return z, y, items


FUNCTIONS = (
    *(returns, helper_returns, continues, breaks, returns_under_a_condition, handles, generates),
    *(catches, catches_all, suppresses, suppresses_inside),
    *(bound_before_a_try, bound_in_finally, bound_in_both_branches),
)
CALLS = tuple(np.array(v) for v in ([1.0] * 5, [3.0, -1.0], [-1.0, 2.0, 4.0], [0.5], [9.0] * 40))


def without_source(function: Callable[..., Any]) -> Any:
    """The function as code that no file has."""
    names = {**globals()}
    for one in (function, counted, a_positive):
        code = one.__code__.replace(co_filename="<no source of this name>")
        names[one.__name__] = type(function)(code, names)
    return names[function.__name__]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("has_source", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_python(function: Callable[..., Any], has_source: bool) -> None:
    own = function if has_source else without_source(function)
    fused = decorate(own, jit=False)
    for x in (*CALLS, *CALLS):
        compare_outcomes(run(function, (x,)), run(fused, (x,)))


# -- names that segments inside take --------------------------------------------------------------
def bound_in_a_branch(x: Any, items: list[int]) -> Any:
    z = 0
    y = x * 2
    if items:
        for i in range(len(x)):
            if x[i] > 0:
                z = 1
        items.append(1)
        z = z + 2
    else:
        items.append(3)
        z = 3
    return z, y


def bound_in_a_loop(x: Any, items: list[int]) -> Any:
    z = 0
    y = x * 2
    while True:
        for i in range(len(x)):
            if x[i] > 0:
                z = 1
        items.append(1)
        z = 2
        break
    return z, y


def bound_in_a_loop_and_its_else(x: Any, items: list[int]) -> Any:
    z = 0
    y = x * 2
    for v in [*items]:
        for i in range(len(x)):
            if x[i] > v:
                z = 1
        items.append(1)
        z = 2
        if z:
            break
    else:
        z = 5
    return z, y


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("items", [[], [1]])
@pytest.mark.parametrize(
    "function", [bound_in_a_branch, bound_in_a_loop, bound_in_a_loop_and_its_else]
)
def test_names_reach_segments_inside(function: Callable[..., Any], items: list[int]) -> None:
    fused = decorate(function, jit=False)
    for x in (*CALLS, *CALLS):
        compare_outcomes(run(function, (x, items)), run(fused, (x, items)))
