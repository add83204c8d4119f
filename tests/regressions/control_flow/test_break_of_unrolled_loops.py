"""Unrolled loops ran on after `break` or `return`: a flag in the kernel did not stop them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.array([0.25, -2.0, 0.75, 0.0, -0.5, 3.0, 0.5])


def breaks(x: Any) -> Any:
    count = 0
    for j in range(4):
        if x[j] > 0.5:
            break
        count += 1
    return count


def skips_and_breaks(x: Any) -> Any:
    count = 0
    for j in range(4):
        if x[j] < -1:
            continue
        count += 1
        if x[j] > 0.5:
            break
    else:
        count += 100
    return count


def returns(x: Any) -> Any:
    for j in range(4):
        if x[j] > 0.5:
            return 1.0 * x[j]
        x[j] = 7.0
    return -1.0 * x[0]


def over_a_tuple(x: Any, y: Any) -> Any:
    total = 0.0
    for a in (x, y, x):
        total += a[0]
        if a[1] > 0:
            break
        total += a[2]
    return total


def stores_behind_a_break(x: Any) -> Any:
    y = x.copy()
    for j in range(3):
        if y[j] > 0.5:
            break
        y[j + 1] += 1
        y *= 2
    return y


def nested(x: Any) -> Any:
    count = 0
    for i in range(3):
        for j in range(4):
            if x[i + j] > 0.5:
                break
            count += 1
        else:
            count += 10
            continue
        count += 100
    return count


def reads_the_number_of_the_last_iteration(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        for j in range(len(x)):
            if x[j] * i > 1:
                break
            total += x[j]
        if total > 3:
            break
    return total, i, j


@pytest.mark.parametrize(
    "function",
    [
        reads_the_number_of_the_last_iteration,
        breaks,
        skips_and_breaks,
        returns,
        stores_behind_a_break,
        nested,
    ],
)
def test_break(function: Callable[..., Any]) -> None:
    check(function, (X,), (X[::-1],), (-np.abs(X),), (X * 8,), variants=None)


def test_break_over_a_tuple() -> None:
    check(over_a_tuple, (X, X[::-1]), (-X, X), (X[2:], X[4:]), variants=None)


@pytest.mark.parametrize("function", [breaks, nested])
def test_jitted(function: Callable[..., Any]) -> None:
    check(function, (X,), (-np.abs(X),), jit=True)
