"""Lists that loops and conditionals change: their items are in the memory of the kernel.

Python ran such loops, whatever else stood in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import UnsupportedError, fuse_jit
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

X = np.random.default_rng(3).random(60)
LINKS = np.random.default_rng(4).random((12, 12)) < 0.2
EDGES = np.random.default_rng(5).integers(0, 20, (30, 2))


# --------------------------------------------------------------------------------- lists of numbers
def chosen(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        if x[i] > 0.5:
            out.append(x[i])
    return out


def places(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        if x[i] > 0.5:
            out.append(i)
    return out, len(out), out


def several_types(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        if i % 4 == 0:
            out.append(None)
        elif i % 4 == 1:
            out.append(x[i])
        elif i % 4 == 2:
            out.append(x[i] > 0.5)
        else:
            out.append(i)
    return out


def trades(x: Any) -> Any:
    out = []
    for i in range(1, len(x)):
        if x[i] > x[i - 1] and x[i] > 0.7:
            out.append((i, "buy", float(x[i])))
        elif x[i] < 0.2:
            out.append((i, "sell", x[i]))
    return out


def run_lengths(x: Any) -> Any:
    out = []
    count = 0
    for v in x:
        if v > 0.4:
            count += 1
        elif count:
            out.append(count)
            count = 0
    if count:
        out.append(count)
    return out


def rising(x: Any) -> Any:
    stack = []
    total = 0.0
    for i in range(len(x)):
        while stack and x[stack[-1]] < x[i]:
            stack.pop()
        stack.append(i)
        total += len(stack)
    return stack, total


def grown_while_run_over(x: Any) -> Any:
    queue = [1]
    for v in queue:
        if v < 40 * len(x):
            queue.append(2 * v)
            if x[v % len(x)] > 0.5:
                queue.append(3 * v)
    return queue


def methods(x: Any) -> Any:
    a = []
    for v in x:
        a.append(int(v * 100))
    b = a[2:50:3]
    c = a + b
    a.extend(b)
    a.insert(3, 7)
    first = a.pop(0)
    found = a.index(7), a.count(7), 7 in a, -1 in a
    a.reverse()
    d = a[::-1], a[-3:], a[5:2], a[1:-1:2]
    e = a * 2
    f = a.copy()
    f.remove(7)
    g = [1, 2]
    g += a[:5]
    g[0] = 9
    g[-1] = 5
    return a, b, c, first, found, d, e, f, g


def deletions(x: Any) -> Any:
    a = []
    for v in x:
        a.append(int(v * 10))
    del a[3]
    del a[-1]
    del a[2:5]
    b = list(a)
    b.pop(1)
    questions = any(a), all(a), any(v > 100 for v in a), all(v >= 0 for v in a)
    alike = len(b) > 3 and b[0] == a[0]
    b.clear()
    a[0] += 5
    return a, b, questions, alike, 5 if b else 6, not a, bool(a)


def sorting(x: Any) -> Any:
    a = []
    for i in range(len(x)):
        a.append((i, int(x[i] * 10)))
    b = sorted(a)
    a.sort(key=lambda t: t[1])
    c = sorted(a, key=lambda t: -t[0])
    e = [t[1] for t in a]
    e.sort(reverse=True)
    return a, b, c, e, sorted(e)


def reductions(x: Any) -> Any:
    a = []
    for v in x:
        a.append(v)
    s = 0.0
    for i, v in enumerate(a):
        s += i * v
    for v, w in zip(a, x, strict=False):
        s += v * w
    for v in reversed(a):
        s = s * 0.5 + v
    for v in a[::-1]:
        s = s * 0.5 + v
    return s, sum(a), max(a), min(a), len(a), a[-1], isinstance(a, list), type(a) is list


def as_arrays(x: Any) -> Any:
    a = []
    b = []
    for i in range(len(x)):
        if x[i] > 0.3:
            a.append(x[i] * 2)
            b.append((i, x[i]))
    made = np.array(b)
    return np.array(a), np.mean(a), made, made.sum(axis=0), len(b)


def comprehensions(x: Any) -> Any:
    a = [v * 2 for v in x if v > 0.5]
    b = [i * j for i in range(len(x)) for j in range(i % 3)]
    c = [(i, v) for i, v in enumerate(a)]
    return a, b, c, len([v for v in a if v > 1.5])


def repeated(x: Any) -> Any:
    n = len(x)
    a = [0.5] * n
    b = n * [1, 2]
    for i in range(n):
        a[i] += x[i]
        b[2 * i] -= i
    return a, b


def histogram(x: Any) -> Any:
    counts = [0] * 10
    for v in x:
        counts[int(v * 10)] += 1
    return counts


def sieve(x: Any) -> Any:
    n = 3 * len(x)
    flags = [True] * (n + 1)
    flags[0] = flags[1] = False
    i = 2
    while i * i <= n:
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = False
        i += 1
    return [k for k in range(n + 1) if flags[k]]


NUMBERS = [
    *(chosen, places, several_types, trades, run_lengths, rising, grown_while_run_over, methods),
    *(deletions, sorting, reductions, as_arrays, comprehensions, repeated, histogram, sieve),
]


# ----------------------------------------------------------------------------- lists bound again
def levels(links: Any) -> Any:
    n = len(links)
    distance = np.full(n, -1)
    distance[0] = 0
    frontier = [0]
    steps = 0
    while frontier:
        found = []
        steps += 1
        for v in frontier:
            for w in range(n):
                if links[v, w] and distance[w] < 0:
                    distance[w] = steps
                    found.append(w)
        frontier = found
    return distance, steps


def longest(x: Any) -> Any:
    best = []
    now = []
    for i in range(len(x)):
        if x[i] > 0.3:
            now.append(i)
        else:
            if len(now) > len(best):
                best = now
            now = []
    return best, now


def exchanged(x: Any) -> Any:
    a = [0]
    b = [1]
    for i in range(len(x)):
        a, b = b, a
        a.append(i)
    return a, b


def new_under_a_condition(x: Any) -> Any:
    a = [1]
    for v in x:
        if v > 0.8:
            a = [v, 2 * v]
        elif v > 0.5:
            a = a[:1]
        a.append(v)
    return a


# -------------------------------------------------------------------------------- lists of lists
def neighbours(edges: Any) -> Any:
    n = 20
    adjacent = [[] for _ in range(n)]
    for k in range(len(edges)):
        u, v = edges[k, 0], edges[k, 1]
        adjacent[u].append(v)
        adjacent[v].append(u)
    seen = [False] * n
    sizes = []
    for s in range(n):
        if seen[s]:
            continue
        stack = [s]
        seen[s] = True
        size = 0
        while stack:
            v = stack.pop()
            size += 1
            for w in adjacent[v]:
                if not seen[w]:
                    seen[w] = True
                    stack.append(w)
        sizes.append(size)
    return sizes, adjacent, [len(row) for row in adjacent]


def knapsack(x: Any) -> Any:
    n, room = len(x), 25
    best = [[0] * (room + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        weight = int(x[i - 1] * 9) + 1
        for c in range(room + 1):
            best[i][c] = best[i - 1][c]
            if weight <= c and best[i - 1][c - weight] + 2 * weight + i % 3 > best[i][c]:
                best[i][c] = best[i - 1][c - weight] + 2 * weight + i % 3
    chosen = []
    c = room
    for i in range(n, 0, -1):
        if best[i][c] != best[i - 1][c]:
            chosen.append(i - 1)
            c -= int(x[i - 1] * 9) + 1
    chosen.reverse()
    return best[n][room], chosen


def groups(x: Any) -> Any:
    out = []
    now = []
    for i in range(len(x)):
        if x[i] > 0.3:
            now.append(i)
        else:
            if now:
                out.append(now)
            now = []
    if now:
        out.append(now)
    return out, len(out)


def buckets(x: Any) -> Any:
    rows = [[] for _ in range(10)]
    for v in x:
        rows[int(v * 10)].append(v)
    out = []
    for row in rows:
        row.sort()
        for v in row:
            out.append(v)
    return out, rows


def rows_of_rows(x: Any) -> Any:
    rows = []
    for i in range(len(x) // 10):
        row = []
        for j in range(10):
            row.append(x[10 * i + j] * j)
        rows.append(row)
    return rows, [sum(row) for row in rows], [max(row) for row in rows]


def triangle(x: Any) -> Any:
    rows = [[1]]
    for i in range(1, len(x)):
        before = rows[-1]
        row = [1]
        for j in range(1, i):
            row.append((before[j - 1] + before[j]) % 1009)
        row.append(1)
        rows.append(row)
    return rows


OTHERS = [
    *((f, X) for f in (longest, exchanged, new_under_a_condition, knapsack, groups, buckets)),
    *((f, X) for f in (rows_of_rows, triangle)),
    (levels, LINKS),
    (neighbours, EDGES),
]


@pytest.mark.parametrize("function", NUMBERS)
def test_lists(function: Callable[..., Any]) -> None:
    bound = Bound(absolute=1e-12)
    check(function, (X,), (X[:17],), (X[::-1].copy(),), bound=bound, inner_bound=bound)


@pytest.mark.parametrize(("function", "x"), OTHERS)
def test_lists_that_are_bound_again_or_hold_lists(function: Callable[..., Any], x: Any) -> None:
    check(function, (x,), (x[::-1].copy(),))


@pytest.mark.parametrize("function", [chosen, rising, groups, neighbours])
def test_compiled(function: Callable[..., Any]) -> None:
    check(function, (EDGES if function is neighbours else X,), jit=True)


def test_one_variant_serves_all_lengths() -> None:
    fused = decorate(rising, jit=False)
    for count in (5, 60, 3000, 2):
        x = np.random.default_rng(count).random(count)
        compare_outcomes(run(rising, (x,)), run(fused, (x,)), Bound(), f"{count} items")
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks


def test_lists_get_room() -> None:
    """A kernel whose list is full is run again; what it has stored before is undone."""

    def program(x: Any, counts: Any) -> Any:
        out = []
        for i in range(len(x)):
            counts[i % len(counts)] += 1
            out.append(i)
        return out

    fused = decorate(program, jit=True)
    for count in (10, 5000, 100, 300_000):
        given = np.zeros(count), np.zeros(7, int)
        expected = np.zeros(count), np.zeros(7, int)
        assert fused(*given) == program(*expected)
        np.testing.assert_array_equal(given[1], expected[1])
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks


# ------------------------------------------------------------------------------------------ errors
def no_item(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append(i)
        if x[i] > 0.5:
            out.pop()
            out.pop()
    return out


def no_place(x: Any) -> Any:
    out = [0]
    for i in range(len(x)):
        out.append(out[i + 1])
    return out


def not_in_list(x: Any) -> Any:
    out = []
    for v in x:
        out.append(int(v * 100))
    return out.index(-1)


def after_a_store(x: Any) -> Any:
    out = [1, 2, 3]
    for i in range(len(x)):
        x[i] = 0.0
        out.pop()
    return out


@pytest.mark.parametrize("function", [no_item, no_place, not_in_list, after_a_store])
def test_errors(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    given, expected = X.copy(), X.copy()
    with pytest.raises((IndexError, ValueError)) as wanted:
        function(expected)
    with pytest.raises(wanted.type, match=str(wanted.value)):
        fused(given)
    np.testing.assert_array_equal(given, expected)


# ------------------------------------------------------------------------------- two ways to a list
def two_names(x: Any) -> Any:
    a = [0]
    b = a
    for i in range(len(x)):
        a.append(i)
        if len(b) > 5:
            b.pop(0)
    return a, b, a is b


def two_names_of_two(x: Any) -> Any:
    a = [0]
    b = a
    for i in range(len(x)):
        a.append(i)
        if x[i] > 0.5:
            a = [i]
    return a, b


def changed_after_it_was_put_in(x: Any) -> Any:
    rows = []
    row = [0]
    for i in range(len(x)):
        rows.append(row)
        row.append(i)
        if x[i] > 0.5:
            row = [i]
    return rows


def changed_in_the_list(x: Any) -> Any:
    rows = []
    for i in range(len(x)):
        row = [i]
        rows.append(row)
        rows[-1].append(x[i])
        rows[0].append(i)
    return rows


def one_list_twice(x: Any) -> Any:
    row = []
    for i in range(len(x)):
        row.append(i)
    return [row, row], (row,)


def a_row_that_moves(x: Any) -> Any:
    rows = [[0], [1], [2]]
    first = rows[0]
    for i in range(len(x)):
        first.append(i)
        rows[0] = [i]
    return rows, first


def best_that_changes(x: Any) -> Any:
    best = []
    now = []
    for i in range(len(x)):
        now.append(i)
        if len(now) > len(best):
            best = now
        if x[i] > 0.5:
            best.append(-1)
    return best, now


def list_run_over_is_bound_again(x: Any) -> Any:
    a = [1, 2, 3]
    for v in a:
        if x[v] > 0.0:
            a = [v]
            a.append(v)
    return a


WAYS = [
    *(two_names, two_names_of_two, changed_after_it_was_put_in, changed_in_the_list),
    *(one_list_twice, a_row_that_moves, best_that_changes, list_run_over_is_bound_again),
]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", WAYS)
def test_two_ways_to_a_list(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for x in (X, X[:30], X[::-1].copy()):
        compare_outcomes(run(function, (x,)), run(fused, (x,)), Bound(), function.__name__)
    made = fused(X)
    if function is one_list_twice:
        assert made[0][0] is made[0][1] is made[1][0]


def test_what_a_list_cannot_hold_is_named() -> None:
    def program(x: Any) -> Any:
        out = []
        for i in range(len(x)):
            out.append({"i": i})
        return out

    with pytest.raises(UnsupportedError, match="puts an object of type dict into a list"):
        fuse_jit(fullgraph=True)(program)(np.zeros(1000))


def runs_of_numbers(a):
    values = a.tolist()
    runs, start = [], 0
    for k in range(1, len(values)):
        if values[k] != values[k - 1]:
            runs.append((values[start], k - start))
            start = k
    runs.append((values[start], len(values) - start))
    return runs


def positive_in_rows(a):
    total = 0
    for row in a.tolist():
        for v in row:
            if v > 0:
                total += v
    return total


def doubled(a):
    return (a * 2).tolist(), a.sum().tolist()


@pytest.mark.parametrize(
    ("function", "array"),
    [
        (runs_of_numbers, np.array([1, 1, 2, 3, 3])),
        (runs_of_numbers, np.array([True, False, False])),
        (runs_of_numbers, np.array([1.5, 1.5, 2.0], "f4")),
        (positive_in_rows, np.arange(6.0).reshape(2, 3) - 2),
        (positive_in_rows, np.arange(6).reshape(3, 2)),
        (doubled, np.arange(4.0)),
        (doubled, np.arange(4) * 1j),
        (doubled, np.zeros((0, 3))),
        (doubled, np.zeros(())),
    ],
)
def test_lists_of_arrays(function, array):
    check(function, (array,), jit=True)
    decorate(function, jit=False, fullgraph=True)(array)


def lists_in_lists_in_lists(n):
    return [[[i, j] for j in range(i)] for i in range(n)]


def run_lengths_of_rows(rows):
    def run_lengths(values):
        runs = []
        for v in values:
            if runs and runs[-1][0] == v:
                runs[-1][1] += 1
            else:
                runs.append([v, 1])
        return runs

    return [run_lengths(row) for row in rows.tolist()]


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lists_in_lists_in_lists, 7),
        (run_lengths_of_rows, np.array([[1, 1, 0, 0], [0, 1, 1, 1], [2, 2, 2, 2]])),
    ],
)
def test_lists_of_lists_in_lists(function, argument):
    check(function, (argument,), variants=None)
