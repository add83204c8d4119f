"""What programs do with lists: rows of a table in turn, runs, best items, sorted items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.codegen.launcher.runtime import make_room
from fusejit_testing.oracle import check, decorate

RNG = np.random.default_rng(8)
X = RNG.integers(0, 9, 60)
Y = RNG.integers(0, 9, 60)
CALLS = [(X, Y), (X[:2], Y[:7]), (np.sort(X), Y[::-1].copy()), (X[:33], Y[:33])]
NOTHING = (X[:0], Y[:0])


def edit_distance(x: Any, y: Any) -> Any:
    before = list(range(len(y) + 1))
    for i in range(len(x)):
        row = [i + 1]
        for j in range(len(y)):
            cost = 0 if x[i] == y[j] else 1
            row.append(min(before[j + 1] + 1, row[j] + 1, before[j] + cost))
        before = row
    return before[-1]


def edit_distance_in_two_rows(x: Any, y: Any) -> Any:
    before = list(range(len(y) + 1))
    row = [0] * (len(y) + 1)
    for i in range(len(x)):
        row[0] = i + 1
        for j in range(len(y)):
            cost = 0 if x[i] == y[j] else 1
            row[j + 1] = min(before[j + 1] + 1, row[j] + 1, before[j] + cost)
        before, row = row, before
    return before[-1]


def runs_as_lists(x: Any, y: Any) -> Any:
    runs: list[Any] = []
    for v in x:
        if runs and runs[-1][0] == v:
            runs[-1][1] += 1
        else:
            runs.append([v, 1])
    return runs


def runs_of_integers(x: Any, y: Any) -> Any:
    runs: list[Any] = []
    for i in range(len(x)):
        if len(runs) > 0 and runs[-1][0] == i // 4:
            runs[-1][1] += 1
        else:
            runs.append([i // 4, 1])
    return runs, y


def merged_spans(x: Any, y: Any) -> Any:
    spans = sorted((int(min(a, b)), int(max(a, b))) for a, b in zip(x, y, strict=False))
    merged: list[Any] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def pairs_of_a_sum(x: Any, y: Any) -> Any:
    ordered = sorted(x)
    i, j = 0, len(ordered) - 1
    found = []
    while i < j:
        total = ordered[i] + ordered[j]
        if total < 9:
            i += 1
        elif total > 9:
            j -= 1
        else:
            found.append((ordered[i], ordered[j]))
            i, j = i + 1, j - 1
    return found, sorted(zip(x, y, strict=False), key=lambda pair: pair[1], reverse=True)


def best_of_pairs(x: Any, y: Any) -> Any:
    found = []
    for i, (a, b) in enumerate(zip(x, y, strict=False)):
        if a > b:
            found.append((i, a - b))
    if not found:
        return None
    return max(found, key=lambda pair: pair[1]), min(found, key=lambda pair: (pair[1] * 7) % 5)


def best_place(x: Any, y: Any) -> Any:
    return max(range(len(y)), key=lambda i: y[i]), min(y, key=lambda v: (v * 5) % 7)


def most_frequent(x: Any, y: Any) -> Any:
    counts: dict[Any, Any] = {}
    for v in y:
        counts[v] = counts.get(v, 0) + 1
    return max(counts, key=lambda v: counts[v]), min(counts, key=counts.get)


def longest_row(x: Any, y: Any) -> Any:
    rows = np.outer(x, y)
    return max(rows, key=lambda row: row.sum()).sum()


def columns_as_lists(x: Any, y: Any) -> Any:
    table = [[x[i], i] for i in range(len(x))]
    return [[table[i][j] for i in range(len(table))] for j in range(2)]


def listed(x: Any, y: Any) -> Any:
    numbers = list(range(len(x)))
    twice = list(v + v for v in y)  # noqa: C400 - what programs write
    pair = list(x.shape)
    for v in x:
        twice.append(v)
        pair.append(len(twice))
    return numbers, twice, pair


@pytest.mark.parametrize(
    "function",
    [
        *(edit_distance, edit_distance_in_two_rows, runs_as_lists, runs_of_integers),
        *(merged_spans, pairs_of_a_sum, best_of_pairs, columns_as_lists, listed),
        *(best_place, most_frequent, longest_row),
    ],
)
def test_as_python(function: Callable[..., Any]) -> None:
    check(function, *CALLS)


@pytest.mark.parametrize("function", [edit_distance, runs_as_lists, best_of_pairs, listed])
def test_of_nothing(function: Callable[..., Any]) -> None:
    check(function, NOTHING, *CALLS, variants=None)


@pytest.mark.parametrize("function", [best_place, most_frequent])
def test_best_of_nothing(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    fused(X, Y)
    for one in (function, fused):
        with pytest.raises(ValueError, match=r"max\(\) (arg|iterable argument) is"):
            one(*NOTHING)


@pytest.mark.filterwarnings("ignore:Python runs a statement")
def test_a_function_named_sorted() -> None:
    def sorted(items: Any) -> Any:
        return [type(items).__name__, *items]

    def function(x: Any) -> Any:
        return sorted(v + 1 for v in x)

    assert repr(decorate(function, jit=False)(X)) == repr(function(X))


def test_room_of_a_list_in_a_function_with_try() -> None:
    def function(x: Any) -> Any:
        found = []
        try:
            for i in range(len(x)):
                x[i] += 1
                found.append(x[i])
        finally:
            count = len(found)
        return found, count

    check(function, (np.arange(20.0),), (np.arange(3000.0),), (np.arange(5.0),))


def test_room_that_another_thread_has_made() -> None:
    capacities = np.array([2048, 2048])
    assert make_room(capacities, 256)
    assert capacities.tolist() == [2048, 2048]
    assert make_room(capacities, 2048)
    assert capacities.tolist() == [16384, 16384]


def starred(x: Any, y: Any) -> Any:
    place = [*range(len(x) + 1)]
    for i in range(len(x)):
        place[i], place[i + 1] = place[i + 1], place[i]
    copied = [*place]
    copied.append(len(y))
    return place, copied, [*zip(place, copied)]  # noqa: B905


def most_common(x: Any, y: Any) -> Any:
    counts: Counter[int] = Counter()
    for v in x:
        counts[int(v)] += 1
    first = counts.most_common(2)
    return first, counts.most_common(), Counter(int(v) for v in y).most_common(3)


def from_keys(x: Any, y: Any) -> Any:
    seen = dict.fromkeys(range(10), 0)
    for v in x:
        seen[int(v)] += 1
    copied = dict(seen.items())
    copied[11] = 3
    found = 0
    for v in y:
        if int(v) + 2 in copied.keys():  # noqa: SIM118
            found += 1
    return seen, copied, found, dict(copied)


@pytest.mark.parametrize("function", [starred, most_common, from_keys])
def test_whole_containers(function: Callable[..., Any]) -> None:
    check(function, *CALLS, NOTHING, variants=None)
