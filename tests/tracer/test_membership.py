"""``in`` and ``not in``: of arrays, and of Python's containers where the kernel knows the item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.tracer.program import captures
from fusejit_testing.oracle import check


def places(x: Any) -> Any:
    found = np.zeros(len(x), bool)
    for i in range(len(x)):
        found[i] = i in x and not x[i] in x[:i]  # noqa: E713
    return found, -1 in x, 2.5 in x, x[:1] in x


def counts(x: Any) -> Any:
    tuples = sets = ranges = lists = keys = 0
    for i in range(len(x)):
        if x[i] in (1, 3, 2.5):
            tuples += 1
        if x[i] not in {1, 4} and x[i] not in frozenset((7,)):
            sets += 1
        if x[i] in range(6, 0, -2) or x[i] in range(0):
            ranges += 1
        lists += x[i] in [x[0], i]
        if x[i] in {0: "a", 5: "b"}:
            keys += 1
    return tuples, sets, ranges, lists, keys


def returned(x: Any, row: Any) -> Any:
    return row in x, 3 in x, row not in x


@pytest.mark.parametrize("function", [places, counts])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.float64], ids=str)
def test_numbers(function: Callable[..., Any], dtype: Any) -> None:
    x = np.array([0, 4, 3, 3, 1, 7, 2, 6], dtype)
    check(function, (x,), (x[::-2],), (x[:1],), variants=None)
    if dtype == np.float64:
        check(function, (np.array([2.5, np.nan, 4.0]),), (np.array([np.nan, np.inf]),))


def test_arrays() -> None:
    x = np.arange(6.0).reshape(3, 2)
    check(returned, (x, x[1].copy()), (np.zeros((1, 2)), np.ones(2)), jit=True)
    check(returned, (np.zeros((0, 2)), np.ones(2)), variants=None)


def test_an_item_is_in_what_holds_it() -> None:
    """NaN is no number, but the same object."""

    def function(x: Any) -> Any:
        found = 0
        for i in range(len(x)):
            e = x[i]
            found += e in (e, 1)
            found += x[i] in (x[i], 1)
        return found

    check(function, (np.array([np.nan, 1.0, 2.0]),))


def test_python_may_hold_other_things() -> None:
    """Texts and None are compared by Python."""

    def function(x: Any, mode: str = "up") -> Any:
        return x + 1 if mode in ("up", "down") and None not in (1, 2) else x

    check(function, (np.ones(3),))


def primes_below(x: Any) -> Any:
    composites: dict[int, list[int]] = {}
    found = []
    for n in range(2, 14):
        if n not in composites:
            found.append(n)
            composites[n * n] = [n]
        else:
            for p in composites.pop(n):
                composites.setdefault(p + n, []).append(p)
    return x[np.array(found)]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_nobody_asks_who_wrote_the_methods_of_what_a_trace_has_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Regression: each look into a dictionary of the trace took 60 us for each of its items."""
    asked: list[type] = []
    original = captures.compared_by

    def compared_by(kind: type) -> Any:
        asked.append(kind)
        return original(kind)

    monkeypatch.setattr(captures, "compared_by", compared_by)
    x = np.arange(20.0)
    np.testing.assert_array_equal(fuse_jit(primes_below)(x), primes_below(x))
    assert not asked
