"""Heaps and sorted lists of tuples whose last items have no order: events and what they are about.

Python compares them only where all before are equal; then None raises TypeError.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import pytest

from fusejit_testing.against_python import check_against_python


def arrivals_and_departures(n: int) -> Any:
    events: list[Any] = []
    for i in range(n):
        heapq.heappush(events, (i * 7 % 5 * 0.5, i, "arrive", None))
    counter, served, busy = n, 0, 0.0
    while events:
        t, _, kind, job = heapq.heappop(events)
        if kind == "arrive":
            heapq.heappush(events, (t + 1.5, counter, "leave", (t, counter)))
            counter += 1
        elif job is not None:
            served += 1
            busy += t - job[0]
    return served, busy


def without_anything(n: int) -> Any:
    events: list[Any] = []
    for i in range(n):
        heapq.heappush(events, (i * 7 % 5 * 0.5, i, None))
    total = 0
    while events:
        _, k, _ = heapq.heappop(events)
        total = total * 3 + k
    return total


def numbers_or_none(n: int) -> Any:
    events: list[Any] = []
    for i in range(n):
        heapq.heappush(events, (i * 7 % 5 * 0.5, i, None if i % 2 else i))
    total = 0
    while events:
        _, k, j = heapq.heappop(events)
        if j is not None:
            total = total * 3 + k + j
    return total


class Customer:
    def __init__(self, patience: float) -> None:
        self.patience = patience


def customers_or_none(n: int) -> Any:
    events: list[Any] = []
    for i in range(n):
        customer = Customer(i * 0.25)
        heapq.heappush(events, (i * 7 % 5 * 0.5, i, customer))
        heapq.heappush(events, (i * 0.5, i + n, None))
    total = 0.0
    while events:
        t, _, customer = heapq.heappop(events)
        if customer is not None:
            total += t * customer.patience
    return total


def sorted_tuples_or_none(n: int) -> Any:
    events: list[Any] = []
    for i in range(n):
        events.append((i * 7 % 5 * 0.5, i, None if i % 2 else (i, 1)))
    events.sort()
    return events


def compared_with_each_other(n: int) -> Any:
    events: list[Any] = [(i * 7 % 5 * 0.5, i, None) for i in range(n)]
    events.append((0.5, n, (1, 2.5)))
    k = 0
    for e in events:
        for f in events:
            if e < f:
                k += 1
    return k


WHOLE = [arrivals_and_departures, without_anything, numbers_or_none, customers_or_none]
WHOLE += [sorted_tuples_or_none, compared_with_each_other]


@pytest.mark.parametrize("function", WHOLE)
def test_whole(function: Callable[..., Any]) -> None:
    fused = check_against_python(function, [(n,) for n in (6, 1, 9, 14)])
    assert not fused.variants.fallbacks
    assert fused.variants.newest_segmented is None


def test_jitted() -> None:
    check_against_python(arrivals_and_departures, [(n,) for n in (6, 14)], jit=True)


def ties(n: int) -> Any:
    events: list[Any] = []
    for i in range(n):
        events.append((1, None if i % 2 else (i, 2)))
    events.sort()
    return events


def ties_of_none(n: int) -> Any:
    events: list[Any] = []
    for i in range(n):
        heapq.heappush(events, (i // 3, None))
    return events


@pytest.mark.parametrize("function", [ties, ties_of_none])
def test_ties(function: Callable[..., Any]) -> None:
    """None beside a tuple raises TypeError; None beside None is equal, and asks for nothing."""
    check_against_python(function, [(n,) for n in (1, 2, 5)])
