"""Dictionaries of dictionaries from outside: the neighbours of a node, with their weights."""

from __future__ import annotations

import copy
import heapq
import math
from collections.abc import Callable
from typing import Any

import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import compare_outcomes, decorate, run

Program = Callable[..., Any]


def numbered(n: int) -> dict[int, dict[int, int]]:
    return {
        i: {(i * 7 + k * 3) % n: (i * k) % 9 + 1 for k in range(1, i % 4 + 1)} for i in range(n)
    }


def named(n: int) -> dict[str, dict[str, float]]:
    rows = numbered(n).items()
    return {f"node {i}": {f"node {j}": w + 0.5 for j, w in row.items()} for i, row in rows}


def distances(graph: Any, start: Any) -> Any:
    found = dict.fromkeys(graph, math.inf)
    found[start] = 0
    before = {}
    heap = [(0, start)]
    while heap:
        distance, node = heapq.heappop(heap)
        if distance > found[node]:
            continue
        for other, weight in graph[node].items():
            if distance + weight < found[other]:
                found[other] = distance + weight
                before[other] = node
                heapq.heappush(heap, (found[other], other))
    return found, before


def looked_up(graph: Any, _: Any) -> Any:
    total = 0
    for node in graph:
        for other in graph:
            if other in graph[node]:
                total += graph[node][other]
            total += graph[node].get(other, 2) * 3
        total += len(graph[node]) + sum(graph[node].values())
        if graph[node]:
            total += 1
    return total


def looped_over(graph: Any, _: Any) -> Any:
    total = 0
    for row in graph.values():
        for weight in row.values():
            total = (total * 3 + weight) % 1009
        for _, weight in sorted(row.items()):
            total = (total * 5 + weight) % 1009
        for other in row:
            total = (total * 7 + row[other]) % 1009
        if 3 in row.keys():  # noqa: SIM118
            total += 1
    return total


def largest(graph: Any, start: Any) -> Any:
    node, path = start, []
    for _ in range(20):
        path.append(node)
        if not graph[node]:
            break
        node = max(graph[node], key=graph[node].get)
    return path


def missing(graph: Any, start: Any) -> Any:
    total = 0
    for node in graph:
        total += graph[node][start]
    return total


def gathered(graph: Any, start: Any) -> Any:
    edges = [(u, v, w) for u in graph for v, w in graph[u].items()]
    edges.sort(key=lambda edge: edge[2])
    counts = dict.fromkeys(graph, 0)
    for u, v, _ in edges:
        counts[u] += 1
        counts[v] += 2
    sizes = [len(row) for row in graph.values()]
    return edges, counts, dict(zip(graph.keys(), sizes))  # noqa: B905


PROGRAMS = (distances, looked_up, looped_over, largest, gathered, missing)
SIZES = (30, 12, 57)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_python(program: Program) -> None:
    fused = decorate(program, jit=False, fullgraph=program is not missing)
    for size in SIZES:
        args = (numbered(size), 1)
        compare_outcomes(run(program, args), run(fused, args))
    assert len(fused.variants) == 1


@pytest.mark.parametrize("program", [distances, largest], ids=lambda p: p.__name__)
def test_names(program: Program) -> None:
    fused = decorate(program, jit=program is distances, fullgraph=True)
    for size in SIZES:
        args = (named(size), "node 1")
        assert_same(program(*args), fused(*args))
    assert len(fused.variants) == 1


def test_of_few_items() -> None:
    graph = {"a": {"b": 1, "c": 4}, "b": {"c": 2, "d": 5}, "c": {"d": 1}, "d": {}}
    assert_same(distances(graph, "a"), decorate(distances, jit=False, fullgraph=True)(graph, "a"))


def cleared(graph: Any, _: Any) -> Any:
    for node in graph:
        graph[node][0] = 1
    return graph


def given_back(graph: Any, start: Any) -> Any:
    row = graph[start]
    for node in graph:
        if len(graph[node]) > len(row):
            row = graph[node]
    return row


def told_apart(graph: Any, start: Any) -> Any:
    count = 0
    for node in graph:
        if graph[node] is graph[start]:
            count += 1
    return count


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("program", [cleared, given_back, told_apart], ids=lambda p: p.__name__)
def test_what_python_does(program: Program) -> None:
    """Dictionaries that change, leave, or are told apart."""
    fused = decorate(program, jit=False)
    for size in SIZES:
        ours, theirs = numbered(size), numbered(size)
        result, expected = fused(ours, 1), program(theirs, 1)
        assert_same(expected, result)
        assert ours == theirs
        if program is given_back:
            assert any(result is row for row in ours.values())


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_other_kinds_of_rows() -> None:
    """A call with another kind of dictionary, or with something else in it."""
    fused = decorate(distances, jit=False)
    graph: Any = numbered(30)
    assert_same(distances(graph, 1), fused(graph, 1))
    for odd in (None, {1: 2.5}, {1: 2, 2: None}, {}, [(1, 2)]):
        other = copy.deepcopy(graph)
        other[29] = odd
        compare_outcomes(run(distances, (other, 1)), run(fused, (other, 1)))
