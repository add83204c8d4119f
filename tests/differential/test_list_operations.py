"""What programs do with lists: rows exchanged, lists joined, ``bisect``, windows, counting."""
# ruff: noqa: B905, RUF005, SIM102  # programs as people write them

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, compare_outcomes, decorate, run


def increasing_subsequence(seq):
    tails, places, prev = [], [], [-1] * len(seq)
    for i, x in enumerate(seq):
        k = bisect.bisect_left(tails, x)
        prev[i] = places[k - 1] if k > 0 else -1
        if k == len(tails):
            tails.append(x)
            places.append(i)
        else:
            tails[k] = x
            places[k] = i
    return len(tails), prev


def inserted_in_order(x):
    s = []
    for v in x:
        bisect.insort(s, v)
    return s


def places_in_order(x, q):
    s = sorted(x)
    n = 0
    for v in q:
        n += bisect.bisect_right(s, v)
    return n


def solved(a, b):
    n = len(a)
    m = [row[:] + [rhs] for row, rhs in zip(a, b)]
    det = 1.0
    for col in range(n):
        pivot = max(range(col, n), key=lambda r: abs(m[r][col]))
        if abs(m[pivot][col]) < 1e-12:
            raise ValueError("singular matrix")
        if pivot != col:
            m[col], m[pivot] = m[pivot], m[col]
            det = -det
        det *= m[col][col]
        for row in range(col + 1, n):
            factor = m[row][col] / m[col][col]
            for j in range(col, n + 1):
                m[row][j] -= factor * m[col][j]
    x = [0.0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x, det


def change(cs, amount):
    best = [0] + [None] * amount
    for value in range(1, amount + 1):
        for c in cs:
            if c <= value and best[value - c] is not None:
                if best[value] is None or best[value - c] + 1 < best[value]:
                    best[value] = best[value - c] + 1
    ways = [1] + [0] * amount
    for c in cs:
        for v in range(c, amount + 1):
            ways[v] += ways[v - c]
    return best[amount], ways[amount]


def turned_round(x):
    p = list(x)
    i = 0
    j = len(p) - 1
    while i < j:
        p[i], p[j] = p[j], p[i]
        i += 1
        j -= 1
    return p


def condorcet_winner(d):
    m = len(d)
    w = None
    for i in range(m):
        if all(d[i, j] > d[j, i] for j in range(m) if j != i):
            w = i
    return w


def copeland(d):
    m = len(d)
    out = []
    for i in range(m):
        out.append(sum(int(d[i, j] > d[j, i]) - int(d[i, j] < d[j, i]) for j in range(m) if j != i))
    return out


def any_of_a_part(d, m):
    ms = []
    for i in range(m):
        ms.append(any(d[i][j] for j in range(i)))
    return ms


def jaro(a, b):
    w = max(max(len(a), len(b)) // 2 - 1, 0)
    au = [False] * len(a)
    bu = [False] * len(b)
    m = 0
    for i, ch in enumerate(a):
        for j in range(max(0, i - w), min(len(b), i + w + 1)):
            if not bu[j] and b[j] == ch:
                au[i] = bu[j] = True
                m += 1
                break
    if m == 0:
        return 0.0
    am = [c for c, used in zip(a, au) if used]
    bm = [c for c, used in zip(b, bu) if used]
    t = sum(x != y for x, y in zip(am, bm)) // 2
    return (m / len(a) + m / len(b) + (m - t) / m) / 3


def spiral(rows):
    out = []
    top, bottom, left, right = 0, len(rows) - 1, 0, len(rows[0]) - 1
    while top <= bottom and left <= right:
        for c in range(left, right + 1):
            out.append(rows[top][c])
        top += 1
        for r in range(top, bottom + 1):
            out.append(rows[r][right])
        right -= 1
        if top <= bottom:
            for c in range(right, left - 1, -1):
                out.append(rows[bottom][c])
            bottom -= 1
        if left <= right:
            for r in range(bottom, top - 1, -1):
                out.append(rows[r][left])
            left += 1
    return out


def exchanged(p, k):
    p[0], p[k] = p[k], p[0]
    return p[k]


def exchanged_by_a_helper(n):
    p = [k * k % 7 for k in range(n)]
    s = 0
    for k in range(n):
        s += exchanged(p, k)
    return s, p


def ranges_of_windows(x):
    out = []
    for i in range(len(x) - 2):
        w = x[i : i + 3]
        out.append(max(w) - min(w))
        if w[0] in (1, 2):
            out.append(sorted(w)[1])
    return out


def transposed(rows):
    return [list(c) for c in zip(*rows)]


def counting(xs):
    c = {}
    for v in xs:
        c[v] = c.get(v, 0) + 1
    best = max(c, key=c.get)
    m = max(c.items(), key=lambda kv: kv[1])
    return best, m, sorted(c.items(), key=lambda kv: (-kv[1], kv[0]))


L = [3, 1, 2, 9, 8, 7, 7, 4]
RNG = np.random.default_rng(0)
VOTES = RNG.integers(0, 5, (5, 5))
MATRIX = RNG.normal(size=(6, 6)).tolist()
CASES: list[tuple[Any, ...]] = [
    (increasing_subsequence, L),
    (inserted_in_order, L),
    (places_in_order, L, [1, 2, 3, 5, 6, 7, 8]),
    (solved, MATRIX, RNG.normal(size=6).tolist()),
    (change, [1, 2, 5, 10, 20, 50], 30),
    (turned_round, L),
    (turned_round, np.array(L)),
    (condorcet_winner, VOTES),
    (copeland, VOTES),
    (any_of_a_part, VOTES.tolist(), 5),
    (jaro, "martha smith", "marhta smyth"),
    (spiral, VOTES.tolist()),
    (exchanged_by_a_helper, 9),
    (ranges_of_windows, L),
    (transposed, VOTES.tolist()),
    (counting, L + L[3:6]),
]


@pytest.mark.parametrize(("function", "arguments"), [(f, a) for f, *a in CASES])
def test_whole(function: Any, arguments: Any) -> None:
    check(function, tuple(arguments), variants=None)
    decorate(function, jit=False, fullgraph=True)(*arguments)


def rows_exchanged_in_many_ways(m, k):
    rows = [row[:] for row in m]
    n = len(rows)
    total = 0.0
    for i in range(n):
        j = (i * 3 + k) % n
        first = rows[i]
        rows[i], rows[j] = rows[j], rows[i]
        rows[j].append(total)
        total += first[0] + rows[i][0] + len(rows[j])
        rows[0], rows[-1] = rows[-1], rows[0]
    return rows, total


@pytest.mark.parametrize("k", [0, 1, 2])
def test_rows_exchanged(k: int) -> None:
    check(rows_exchanged_in_many_ways, (MATRIX, k), jit=True, variants=None)


def test_exchange_of_what_is_not_there() -> None:
    def exchanged_too_far(n: int) -> Any:
        xs = [k * k for k in range(n)]
        for i in range(n):
            xs[i], xs[n] = xs[n], xs[i]
        return xs

    check(exchanged_too_far, (7,), variants=None)


# --------------------------------------------------------------------------------------- equality
def compared_lists(xs: Any, n: Any) -> Any:
    a = []
    b = []
    for x in xs:
        a.append(x % n)
        b.append(x % 3)
    return a == b, a != b, a == xs, a == [], a == [1, 2], (a, 1) == (b, 1), a == (1, 2)


def compared_rows(xs: Any, n: Any) -> Any:
    rows = []
    others = []
    for x in xs:
        rows.append([x % n, 1])
        others.append([x % 3, 1.0])
    return rows == others, rows != others, rows[0] == others[0], rows[0] != [0]


@pytest.mark.parametrize("function", [compared_lists, compared_rows])
def test_lists_are_compared(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for args in (([5, 3, 8, 1, 9, 12, 7], 3), ([5, 3, 8, 1, 9, 12, 7], 4), ([0, 0, 1, 1, 2, 2], 3)):
        compare_outcomes(run(function, args), run(fused, args))


def counted_remainders(xs: Any, n: Any) -> Any:
    return Counter(x % n for x in xs)


def looked_up_pairs(xs: Any, n: Any) -> Any:
    table = {(i, j): i * j + 1 for i in range(2) for j in range(2)}
    row = [x % n % 2 for x in xs]
    for _ in range(4):
        row = [table[row[i - 1], row[i]] % 2 for i in range(len(row))]
    return row


@pytest.mark.parametrize("function", [counted_remainders, looked_up_pairs])
def test_comprehensions(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for args in (([5, 3, 8, 1, 9, 12, 7], 3), ([0, 0, 1, 1, 2, 2], 3)):
        compare_outcomes(run(function, args), run(fused, args))
