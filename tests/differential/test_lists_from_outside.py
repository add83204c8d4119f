"""Lists that a function is given: kernels read their items in columns; and heaps in lists."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

RNG = np.random.default_rng(6)
INTS = RNG.integers(0, 10, 50).tolist()
FLOATS = RNG.random(50).tolist()
MIXED = [1, 2.5, 3, 4, -0.5, None, 7]
SPANS = [(int(a), int(a + b)) for a, b in RNG.integers(0, 100, (40, 2))]
ROWS = RNG.integers(0, 2, (9, 7)).tolist()
LINKS = [[(int(v), float(w)) for v, w in RNG.integers(0, 20, (k % 5, 2))] for k in range(20)]


def chosen(xs: Any) -> Any:
    total = 0
    found = []
    for i in range(len(xs)):
        if xs[i] > 3:
            total += xs[i]
            found.append(xs[i])
    return total, found, max(xs), min(xs), sum(xs), xs[-1], 3 in xs


def weighted(xs: Any, ys: Any) -> Any:
    total = 0.0
    for x, y in zip(xs, ys, strict=False):
        total += x * y
    return total, xs[::-1], ys[2:7]


def several_types(xs: Any) -> Any:
    found = []
    for x in xs:
        if x is not None:
            found.append(x)
    return found


def intervals(spans: Any) -> Any:
    end = -1
    found = []
    for low, high in sorted(spans, key=lambda span: span[1]):
        if low >= end:
            found.append((low, high))
            end = high
    return found


def neighbours(rows: Any) -> Any:
    n, m = len(rows), len(rows[0])
    out = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            for a in range(max(0, i - 1), min(n, i + 2)):
                for b in range(max(0, j - 1), min(m, j + 2)):
                    out[i][j] += rows[a][b]
    return out


def shortest(links: Any, start: Any) -> Any:
    distance = [float("inf")] * len(links)
    distance[start] = 0.0
    heap = [(0.0, start)]
    while heap:
        far, v = heapq.heappop(heap)
        if far > distance[v]:
            continue
        for w, length in links[v]:
            if far + length < distance[w]:
                distance[w] = far + length
                heapq.heappush(heap, (far + length, w))
    return distance


def bubbled(xs: Any) -> Any:
    a = xs[:]
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a, xs


def as_array(xs: Any) -> Any:
    a = np.array(xs)
    return a * 2, len(xs), a.mean()


def heaps(xs: Any) -> Any:
    heap: list[Any] = []
    for x in xs:
        heapq.heappush(heap, x)
        if len(heap) > 20:
            heapq.heappop(heap)
    other = xs[:]
    heapq.heapify(other)
    out = [heapq.heapreplace(other, 5), heapq.heappushpop(other, 1)]
    while heap:
        out.append(heapq.heappop(heap))
    return out, other


CALLS: list[Any] = [
    (chosen, (INTS,)),
    (chosen, (FLOATS,)),
    (weighted, (INTS, FLOATS)),
    (several_types, (MIXED,)),
    (intervals, (SPANS,)),
    (neighbours, (ROWS,)),
    (shortest, (LINKS, 3)),
    (bubbled, (INTS,)),
    (as_array, (FLOATS,)),
    (heaps, (INTS,)),
    (heaps, (FLOATS,)),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_as_python(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    bound = Bound(absolute=1e-12)
    check(function, arguments, bound=bound, inner_bound=bound)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_which_list_it_is() -> None:
    fused = decorate(one_list_twice, jit=False)
    for other in (INTS, [*INTS], INTS):
        assert fused(INTS, other)[0] is (INTS is other)
        assert fused(INTS, other)[2] is INTS


def test_one_variant_serves_all_lengths() -> None:
    fused = decorate(chosen, jit=True)
    for count in (5, 1000, 17):
        xs = np.random.default_rng(count).integers(0, 9, count).tolist()
        assert fused(xs) == chosen(xs)
    assert len(fused.variants) == 1


def appended(xs: Any) -> Any:
    xs.append(1)
    for i in range(3):
        xs[i] += 1
    return xs


def beyond(xs: Any) -> Any:
    total = 0
    for i in range(len(xs) + 1):
        total += xs[i]
    return total


def an_item_itself(rows: Any) -> Any:
    best = rows[0]
    for row in rows:
        if sum(row) > sum(best):
            best = row
    return best


def row_put_into_a_list(rows: Any) -> Any:
    found = []
    for row in rows:
        if row[0] > 0:
            found.append(row)
    return found


def one_list_twice(xs: Any, ys: Any) -> Any:
    total = 0
    for x in xs:
        total += x
    return xs is ys, total, xs


BIG = [2**70, 1, 2, 3, 4, 5]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    ("function", "make"),
    [
        (appended, lambda: [*INTS]),
        (beyond, lambda: [*INTS]),
        (chosen, lambda: [*BIG]),
        (chosen, lambda: [*INTS, True]),
        (chosen, lambda: [*FLOATS, float("nan")]),
        (an_item_itself, lambda: ROWS),
        (row_put_into_a_list, lambda: ROWS),
        (chosen, lambda: []),
    ],
)
def test_as_python_where_that_is_seen(function: Callable[..., Any], make: Any) -> None:
    fused = decorate(function, jit=False)
    for _ in range(3):
        given, expected = make(), make()
        outcomes = run(function, (expected,)), run(fused, (given,))
        compare_outcomes(*outcomes, Bound(), function.__name__)
        assert repr(given) == repr(expected)
        if function in (an_item_itself, row_put_into_a_list):
            ours, theirs = fused(ROWS), function(ROWS)
            pairs = zip(ours, theirs, strict=True) if function is row_put_into_a_list else ()
            assert all(one is other for one, other in pairs)
