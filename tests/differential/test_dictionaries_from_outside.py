"""Dictionaries and sets that a function is given: the kernel has tables of their items."""
# programs as people write them

from __future__ import annotations

import copy
import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

RNG = np.random.default_rng(9)


def distances(graph: Any, start: Any) -> Any:
    found = {start: 0}
    queue = [start]
    k = 0
    while k < len(queue):
        u = queue[k]
        k += 1
        for v in graph[u]:
            if v not in found:
                found[v] = found[u] + 1
                queue.append(v)
    return found


def shortest(graph: Any, start: Any) -> Any:
    found = {start: 0}
    heap = [(0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > found[u]:
            continue
        for v, w in graph[u]:
            if v not in found or d + w < found[v]:
                found[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return found


def bill(prices: Any, words: Any) -> Any:
    total = 0.0
    missing = 0
    for word in words:
        if word in prices:
            total += prices[word]
        else:
            missing += 1
    return total, missing, len(prices), sum(prices.values()), max(prices.values())


def counted(stop: Any, words: Any) -> Any:
    counts = {}
    for word in words:
        if word not in stop:
            counts[word] = counts.get(word, 0) + 1
    return counts, len(stop)


def in_order(table: Any, n: Any) -> Any:
    total = 0
    for key, value in table.items():
        if key % 2:
            total = total * 3 % 1000 + value
    for i in range(n):
        total += table.get(i, -1)
    return total, list(table)[:3], sorted(table.keys())[-1]


def pairs(table: Any, n: Any) -> Any:
    total = 0
    for i in range(n):
        for j in range(n):
            if (i, j) in table:
                total += table[i, j]
    return total


def graph_of(n: int, name: Callable[[int], Any], weighted: bool = False) -> dict[Any, Any]:
    def item() -> Any:
        v = name(int(RNG.integers(n)))
        return (v, int(RNG.integers(1, 9))) if weighted else v

    return {name(u): [item() for _ in range(int(RNG.integers(1, 5)))] for u in range(n)}


def prices_of(n: int) -> dict[str, float]:
    return {f"w{k}": k * 1.5 for k in range(n)}


def words_of(n: int) -> list[str]:
    return [f"w{k}" for k in RNG.integers(0, 100, n)]


CALLS = [
    (distances, [(graph_of(30, int), 0), (graph_of(41, int), 3)]),
    (distances, [(graph_of(30, "n{}".format), "n0"), (graph_of(35, "n{}".format), "n0")]),
    (shortest, [(graph_of(25, int, True), 0), (graph_of(30, int, True), 3)]),
    (bill, [(prices_of(80), words_of(20)), (prices_of(70), words_of(9))]),
    (counted, [({"w1", "w2", "w50", "w7"}, words_of(30)), ({"w9"}, words_of(12))]),
    (in_order, [({k * 3 % 101: k for k in range(n)}, 20) for n in (90, 66)]),
    (pairs, [({(i, j): i * j for i in range(n) for j in range(n)}, 4) for n in (9, 10)]),
]


@pytest.mark.parametrize(("function", "calls"), CALLS)
def test_one_variant_serves_all(function: Callable[..., Any], calls: Any) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for args in calls:
        compare_outcomes(run(function, args), run(fused, args))
    assert len(fused.variants) == 1


@pytest.mark.parametrize(("function", "calls"), [CALLS[1], CALLS[4]])
def test_jitted(function: Callable[..., Any], calls: Any) -> None:
    fused = decorate(function, jit=True, fullgraph=True)
    for args in calls:
        compare_outcomes(run(function, args), run(fused, args))


# --------------------------------------------------------------------------------- left to Python
def appends(graph: Any, n: Any) -> Any:
    total = 0
    for u in graph:
        graph[u].append(n)
        total += len(graph[u])
    return total


def stores(graph: Any, n: Any) -> Any:
    for i in range(n):
        graph[i] = [i]
    return len(graph)


def hands_out(graph: Any, n: Any) -> Any:
    best = graph[n]
    for u in graph:
        if len(graph[u]) > len(best):
            best = graph[u]
    return best, graph


def another_name(graph: Any, n: Any) -> Any:
    held = {}
    for i in range(n):
        if i == 2:
            held = graph
    held[100] = [1]
    return len(graph), len(held)


def put_away(graph: Any, n: Any) -> Any:
    rows = []
    for i in range(n):
        rows.append(graph[i])
    rows[0].append(7)
    return sum(len(graph[i]) for i in range(n))


def misses(graph: Any, n: Any) -> Any:
    total = 0
    for i in range(n):
        total += len(graph[i * 10])
    return total


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function", [appends, stores, hands_out, another_name, put_away, misses, distances]
)
def test_what_the_caller_sees(function: Callable[..., Any]) -> None:
    """Changes of the dictionary and of its lists, identity, and errors."""
    fused = decorate(function, jit=False)
    for n in (30, 40):
        args = graph_of(n, int), 4
        others = copy.deepcopy(args)
        compare_outcomes(run(function, args), run(fused, others))
        assert args == others
    assert decorate(hands_out, jit=False)(others[0], 4)[1] is others[0]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "table",
    [
        {**{k: k for k in range(70)}, "a": 1},
        {**{k: k for k in range(70)}, 2.5: 1},
        {**{k: k for k in range(70)}, 71: None},
        {**{k: k for k in range(70)}, 71: 2.5, True: 3},
        {**{k: k for k in range(70)}, 10**30: 1},
        {**{k: k for k in range(70)}, 71: 10**30},
    ],
)
def test_other_items(table: Any) -> None:
    def looked_up(table: Any, n: Any) -> Any:
        total = 0
        for i in range(n):
            total += table.get(i, -1) or 0
        return total, len(table)

    fused = decorate(looked_up, jit=False)
    good = {k: k for k in range(80)}
    for one in (good, table, good):
        compare_outcomes(run(looked_up, (one, 75)), run(fused, (one, 75)))


def one_object(left: Any, right: Any) -> Any:
    total = 0
    for i in range(4):
        total += i in left
        total += 10 * (i in right)
    return total + 100 if left is right else total


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("one", [{1, 2, 30}, {k: k for k in range(70)}])
def test_one_object_twice(one: Any) -> None:
    fused = decorate(one_object, jit=False)
    for args in ((one, one), (one, copy.copy(one)), (one, one)):
        compare_outcomes(run(one_object, args), run(fused, args))


def reached(graph: Any, start: Any) -> Any:
    order, seen = [start], {start}
    k = 0
    while k < len(order):
        for v in graph.get(order[k], []):
            if v not in seen:
                seen.add(v)
                order.append(v)
        k += 1
    return order


def with_neighbours(graph: Any, start: Any) -> Any:
    found, total = [], 0
    for i in range(start, start + 30):
        found.extend(graph.get(i, []))
        total += len(graph.get(i, [])) + sum(graph.get(i, [])) * (i in graph.get(i + 1, []))
        row = graph.get(i, [])
        if row:
            total += row[-1]
    return found, total


def with_own_groups(graph: Any, start: Any) -> Any:
    groups: dict[Any, Any] = {}
    for key in range(start, start + 2 * len(graph), 3):
        groups.setdefault(key % 7, []).append(key)
    total = 0
    for i in range(start, start + 10):
        for v in groups.get(i, []):
            total = total * 3 % 1009 + v
    return total, groups.get(start, [])


def appends_to_what_is_there(graph: Any, start: Any) -> Any:
    for i in range(5):
        graph.get(start + i, []).append(i)
    return len(graph)


@pytest.mark.parametrize("count", [20, 300])
@pytest.mark.parametrize("function", [reached, with_neighbours, with_own_groups])
def test_lists_or_empty_ones(function: Callable[..., Any], count: int) -> None:
    """``d.get(key, [])``: a list under a key, or none."""
    fused = decorate(function, jit=False, fullgraph=True)
    for size in (count, count + 10, count - 8):
        graph = {k: [(3 * k + 1) % 40, 7 * k % (2 * size)] for k in range(0, 2 * size, 2)}
        for start in (0, 6, 7):
            compare_outcomes(run(function, (graph, start)), run(fused, (graph, start)))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_what_changes_a_list_or_an_empty_one() -> None:
    fused = decorate(appends_to_what_is_there, jit=False)
    graph = {k: [k] for k in range(0, 300, 2)}
    for _ in range(3):
        expected = run(appends_to_what_is_there, (graph, 3))
        compare_outcomes(expected, run(fused, (graph, 3)))


def with_a_named_list(items: Any) -> Any:
    groups: dict[Any, Any] = {}
    for item in items:
        groups.setdefault(2 * item, []).append(item)
    nothing: list[Any] = []
    row = groups.get(items[0] + items[1], nothing)
    nothing.append(3)
    return row, len(row)


def with_a_list_that_grows(items: Any) -> Any:
    groups: dict[Any, Any] = {}
    for item in items:
        groups.setdefault(2 * item, []).append(item)
    nothing: list[Any] = []
    total = 0
    for item in items:
        row = groups.get(item, nothing)
        nothing.append(7)
        total += len(row)
    return total


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [with_a_named_list, with_a_list_that_grows])
def test_an_empty_list_with_a_name(function: Callable[..., Any]) -> None:
    """``d.get(key, nothing)`` is that very list, which may change."""
    fused = decorate(function, jit=False)
    for items in ([2, 3], [2, 2], [3, 6]):
        args = (np.array(items),)
        compare_outcomes(run(function, args), run(fused, args))
