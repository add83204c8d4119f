"""Functions that call themselves: loops with a stack of their own in kernels."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit_testing.oracle import check, decorate


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def hanoi(n, a, b, c, moves):
    if n == 0:
        return
    hanoi(n - 1, a, c, b, moves)
    moves.append((n, a, c))
    hanoi(n - 1, b, a, c, moves)


def acker(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return acker(m - 1, 1)
    return acker(m - 1, acker(m, n - 1))


def fill(g, r, c):
    if not (0 <= r < len(g) and 0 <= c < len(g[0])) or g[r][c] != 1:
        return 0
    g[r][c] = 2
    count = 1
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        count += fill(g, r + dr, c + dc)
    return count


def queens(row, n, cols, d1, d2):
    if row == n:
        return 1
    total = 0
    for c in range(n):
        if cols[c] or d1[row + c] or d2[row - c + n]:
            continue
        cols[c] = d1[row + c] = d2[row - c + n] = True
        total += queens(row + 1, n, cols, d1, d2)
        cols[c] = d1[row + c] = d2[row - c + n] = False
    return total


def solve(a, k, target):
    if k == len(a):
        return target == 0
    return solve(a, k + 1, target) or solve(a, k + 1, target - a[k])


def ifexp(n):
    return 1 if n == 0 else n * ifexp(n - 1)


def gcd(a, b):
    if b == 0:
        return a, 1, 0
    g, x, y = gcd(b, a % b)
    return g, y, x - a // b * y


def qs(a, lo, hi):
    if lo < hi:
        p = a[(lo + hi) // 2]
        i, j = lo, hi
        while i <= j:
            while a[i] < p:
                i += 1
            while a[j] > p:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        qs(a, lo, j)
        qs(a, i, hi)
    return a


def dfs(v, graph, seen, order):
    seen[v] = True
    order.append(v)
    for w in graph[v]:
        if not seen[w]:
            dfs(w, graph, seen, order)
    return order


def mixed(n):
    if n <= 0:
        return 1
    x = n * 2
    y = x + mixed(n - 1) * mixed(n - 3) - x
    while y > 50:
        y -= mixed(n - 4)
        if y % 7 == 0:
            break
    else:
        y += 1
    return y


def of_fib(n):
    return fib(n)


def of_hanoi(n):
    m = []
    hanoi(n, 0, 1, 2, m)
    return m


def of_fill(g):
    out = []
    for r in range(len(g)):
        for c in range(len(g[0])):
            if g[r, c] == 1:
                out.append(fill(g, r, c))
    return out


def of_queens(n):
    return queens(0, n, [False] * n, [False] * (2 * n), [False] * (2 * n + 1))


def of_qs(a):
    a = list(a)
    return qs(a, 0, len(a) - 1)


def of_dfs(graph):
    return dfs(0, graph, [False] * len(graph), [])


def nested(n):
    cols, up, down = [False] * n, [False] * (2 * n), [False] * (2 * n)

    def place(row):
        if row == n:
            return 1
        t = 0
        for c in range(n):
            if cols[c] or up[row + c] or down[row - c + n - 1]:
                continue
            cols[c] = up[row + c] = down[row - c + n - 1] = True
            t += place(row + 1)
            cols[c] = up[row + c] = down[row - c + n - 1] = False
        return t

    return place(0)


class Sets:
    def __init__(self, n):
        self.parent = list(range(n))

    def find(self, v):
        if self.parent[v] != v:
            self.parent[v] = self.find(self.parent[v])
        return self.parent[v]


def unions(n):
    s = Sets(n)
    k = 0
    for i in range(n):
        a, b = s.find(i), s.find((i * 7 + 3) % n)
        if a != b:
            s.parent[a] = b
            k += 1
    return k, s.parent


def memo(n):
    table = {}

    def ways(i, left):
        if left == 0:
            return 1
        if left < 0 or i > 5:
            return 0
        if (i, left) not in table:
            table[(i, left)] = ways(i, left - i) + ways(i + 1, left)
        return table[(i, left)]

    return ways(1, n)


def order_of_operands(log, n):
    if n == 0:
        return 1
    return (noted(log, n) + order_of_operands(log, n - 1)) * noted(log, -n) + (
        order_of_operands(log, n - 2) if n > 1 else noted(log, 100)
    )


def noted(log, n):
    log.append(n)
    return n % 5


def logged(n):
    log = []
    return order_of_operands(log, n), log


def shared(n):
    counts = [0]

    def walk(k):
        if k <= 0:
            return counts[0]
        counts[0] += 1
        return counts[0] + walk(k - 1) + counts[0] + walk(k - 2)

    return walk(n), counts[0]


def with_defaults(a, lo=0, hi=None, depth=0):
    if hi is None:
        hi = len(a)
    if hi - lo < 2:
        return depth
    middle = (lo + hi) // 2
    return max(
        with_defaults(a, lo, middle, depth + 1), with_defaults(a, middle, hi, depth=depth + 1)
    )


def halves(a):
    return with_defaults(list(a))


def rows_of_an_array(a, k, seen):
    total = 0.0
    for v in a[k]:
        if v > k and not seen[k]:
            seen[k] = True
            total += v + rows_of_an_array(a, int(v) % len(a), seen)
            seen[k] = False
    return total


def of_rows(a):
    return rows_of_an_array(a, 0, [False] * len(a))


def reversed_text(s, k):
    if k == len(s):
        return 0
    return reversed_text(s, k + 1) * 2 + (1 if s[k] == "a" else 0)


def of_text(s):
    return reversed_text(s, 0)


GRID = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
GRAPH = [[1, 2], [3], [3], [0], [1], [2]]
ROWS = np.array([[1.0, 2.5, 3.0], [0.5, 2.0, 4.0], [7.0, 1.0, 3.0]])
WHOLE = [
    (fib, 12),
    (of_fib, 12),
    (of_hanoi, 5),
    (acker, 2, 3),
    (of_fill, GRID),
    (of_queens, 5),
    (solve, [3, 5, 7, 9, 11], 0, 15),
    (ifexp, 20),
    (gcd, 24000, 4646),
    (of_qs, [3, 1, 4, 1, 5, 9, 2, 6]),
    (of_dfs, GRAPH),
    (mixed, 7),
    (nested, 5),
    (unions, 20),
    (memo, 12),
    (logged, 6),
    (shared, 7),
    (halves, [3, 1, 4, 1, 5, 9, 2, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
    (of_rows, ROWS),
    (of_text, "abracadabra, abracadabra"),
]


@pytest.mark.parametrize(("function", "arguments"), [(f, a) for f, *a in WHOLE])
def test_whole(function: Any, arguments: Any) -> None:
    check(function, tuple(arguments), jit=True, variants=None)
    decorate(function, jit=False, fullgraph=True)(*arguments)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def test_as_deep_as_python_goes() -> None:
    fused = decorate(lambda n: depth(n) + depth(40), jit=False)
    assert fused(60) == 100
    limit = sys.getrecursionlimit()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        with pytest.raises(RecursionError):
            fused(limit + 10)
    assert fused(70) == 110


def counted(n):
    total = 0

    def visit(k):
        nonlocal total
        total += k
        if k > 0:
            visit(k - 1)
            visit(k - 2)

    visit(n)
    return total


def over_keys(graph, v, seen):
    seen.append(v)
    for w in graph[v]:
        if w not in seen:
            over_keys(graph, w, seen)
    return seen


def of_keys(n):
    return over_keys({k: {(k * 3 + 1) % n: 0, (k + 2) % n: 1} for k in range(n)}, 0, [])


def of_float_bounds(n):
    def inner(k):
        total = 0
        for j in range(k):
            total += inner(k - 1 - j)
        return total + 1

    return inner(n)


@functools.lru_cache
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


def of_cached(n):
    return cached(n) + 1


@pytest.mark.parametrize(
    ("function", "argument"),
    [(counted, 7), (of_keys, 30), (of_float_bounds, 5), (of_float_bounds, 5.0), (of_cached, 70)],
)
def test_right(function: Any, argument: Any) -> None:
    check(function, (argument,), variants=None)


def test_rebound_name() -> None:
    names: dict[str, Any] = {}
    exec("def f(n):\n    return 0 if n <= 0 else 1 + f(n - 1)\n", names)
    first = names["f"]
    names["f"] = lambda n: 1000
    assert decorate(lambda n: first(n), jit=False)(40) == 1001


def over_items_that_change(n):
    rows = [[1, 2], [2], [0]]

    def visit(v, left):
        total = v
        for w in rows[v]:
            rows[v] = [w]  # the loop goes on over the list of before
            if left > 0:
                total += visit(w, left - 1)
        return total

    return visit(0, n)


def over_a_shared_name(n):
    queue = [3, 1, 2]

    def visit(left):
        nonlocal queue
        total = 0
        for v in queue:
            queue = [v]
            total += v
            if left > 0:
                total += visit(left - 1)
        return total

    return visit(n), queue


def another_range(n):
    def range(k):
        return [k] * 2

    def visit(k):
        total = k
        for j in range(k - 1):
            if j > 0:
                total += visit(j)
        return total

    return visit(n)


def keywords_in_another_order(n):
    log = []

    def noted(k):
        log.append(k)
        return k

    def visit(k, left):
        if left <= 0:
            return k
        return visit(left=noted(left - 1), k=noted(k + left)) + visit(noted(k), noted(left - 2))

    return visit(1, n), log


def shared_number_added_to(n):
    total = 1

    def visit(k):
        nonlocal total
        if k > 0:
            total += visit(k - 1)
        return total

    return visit(n)


class Reader:
    step = 1

    def __init__(self):
        self.count = 0


def attribute_of_the_class(n):
    reader = Reader()
    total = 0
    for k in range(n):
        if k % 3 == 0:
            reader.step = k
        total += reader.step
    return total, reader.step


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (over_items_that_change, 6),
        (over_a_shared_name, 4),
        (another_range, 8),
        (keywords_in_another_order, 6),
        (shared_number_added_to, 25),
        (attribute_of_the_class, 9),
    ],
)
def test_what_loops_could_get_wrong(function: Any, argument: Any) -> None:
    check(function, (argument,), variants=None)


def test_attribute_of_a_class_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    fused = decorate(attribute_of_the_class, jit=False)
    for step in (1, 5, 2):
        monkeypatch.setattr(Reader, "step", step)
        assert fused(8) == attribute_of_the_class(8)


def best_of_room(w, v, room):
    @functools.cache
    def best(i, left):
        if i == len(w):
            return 0
        without = best(i + 1, left)
        if w[i] <= left:
            return max(without, v[i] + best(i + 1, left - w[i]))
        return without

    return best(0, room)


def cached_inside(n):
    @functools.cache
    def fibonacci(k):
        return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

    return fibonacci(n)


def paths_in_a_grid(n, m):
    @functools.lru_cache(None)
    def paths(i, j):
        if i == 0 or j == 0:
            return 1
        return paths(i - 1, j) + paths(i, j - 1)

    return paths(n, m)


def visits(n):
    seen = []

    @functools.cache
    def visit(k):
        seen.append(k)
        if k > 2:
            visit(k - 1)
            visit(k - 2)

    visit(n)
    return seen


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (best_of_room, ([3, 4, 5, 9, 2, 4], [3, 4, 4, 10, 1, 5], 15)),
        (cached_inside, (50,)),
        (paths_in_a_grid, (8, 7)),
        (visits, (8,)),
    ],
)
def test_results_that_are_kept(function: Any, arguments: Any) -> None:
    check(function, arguments, variants=None)
    decorate(function, jit=False, fullgraph=True)(*arguments)


def asked_for_its_hits(n):
    @functools.cache
    def fibonacci(k):
        return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

    return fibonacci(n), fibonacci.cache_info().hits


def not_that_of_functools(n):
    def cache(function):
        return lambda k: function(k) + 1

    @cache
    def doubled(k):
        return 2 * k

    return doubled(n)


@pytest.mark.parametrize("function", [asked_for_its_hits, not_that_of_functools])
def test_other_caches(function: Any) -> None:
    check(function, (20,), variants=None)


def array_as_result(x, n):
    return x if n <= 1 else array_as_result(x, n - 1) * n


def list_as_result(n):
    if n == 0:
        return []
    made = list_as_result(n - 1)
    made.append(n)
    return made


def one_of_two_lists(a, b, n):
    if n == 0:
        return a
    found = one_of_two_lists(a, b, n - 1)
    if n % 2 == 0:
        found.append(n)
        return found
    b.append(n)
    return b


def of_two_lists(n):
    a, b = [0], [1]
    return one_of_two_lists(a, b, n), a, b


def array_kept_for_later(x, n):
    total = 0.0
    y = x * n
    for k in range(n):
        total += y[0] + array_kept_for_later(x, k)
    return total + y.sum()


def row_kept_for_later(x, n):
    row = x[n % len(x)]
    total = 0.0
    for k in range(n):
        total += row[0] * k + row_kept_for_later(x, k)
        row = x[k % len(x)]
    return total + row[1]


def tuple_with_an_array(x, n):
    if n == 0:
        return x, 0
    y, count = tuple_with_an_array(x, n - 1)
    return y + 1, count + n


def text_as_result(n):
    if n == 0:
        return "none"
    found = text_as_result(n - 1)
    return "even" if found == "odd" else "odd"


def array_handed_on_and_changed(x, n):
    if n == 0:
        return x.sum()
    x = x + n
    return array_handed_on_and_changed(x, n - 1) + x[0]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (array_as_result, (np.arange(3.0), 30)),
        (list_as_result, (30,)),
        (of_two_lists, (30,)),
        (array_kept_for_later, (np.arange(3.0), 5)),
        (row_kept_for_later, (ROWS, 5)),
        (tuple_with_an_array, (np.arange(3.0), 30)),
        (text_as_result, (31,)),
        (array_handed_on_and_changed, (np.arange(3.0), 30)),
    ],
)
def test_other_results_than_numbers(function: Any, arguments: Any) -> None:
    check(function, arguments, variants=None)


def lists_that_are_kept(n):
    @functools.cache
    def f(k):
        return [k]

    for i in range(n):
        f(i % 3).append(i)
    return f(0), f(1), f(2)


def defaults_of_kept(n):
    @functools.cache
    def f(k, m=2):
        return k * m

    s = 0
    for i in range(n):
        s += f(i) + f(i, 2) + f(i, m=3)
    return s


def kinds_of_keys(n):
    log = []

    @functools.cache
    def f(k):
        log.append(k)
        return k * 1

    out = []
    for i in range(n):
        out.append(f(i / 2))
        out.append(f(i))
    return out, log


def parameter_bound_again(n):
    @functools.cache
    def f(k):
        k = k % 4
        if k == 0:
            return 1
        return f(k - 1) + k

    return [f(i) for i in range(n)]


def kept_and_raised(n):
    seen = []

    @functools.cache
    def f(k):
        seen.append(k)
        if k > 3:
            raise ValueError("no")
        return k

    s = 0
    for i in range(n):
        try:
            s += f(i)
        except ValueError:
            s -= 1
    return s, seen


def kept_none(n):
    seen = []

    @functools.cache
    def f(k):
        seen.append(k)

    for i in range(n):
        f(i % 3)
    return seen


def keywords_of_kept(n):
    seen = []

    @functools.cache
    def f(k, m):
        seen.append(k)
        return k * m

    return [f(i % 3, 2) + f(i % 3, m=2) for i in range(n)], seen


@pytest.mark.parametrize(
    "function",
    [
        *(lists_that_are_kept, defaults_of_kept, kinds_of_keys, parameter_bound_again),
        *(kept_and_raised, kept_none, keywords_of_kept),
    ],
)
def test_what_a_cache_shows(function: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        check(function, (7,), variants=None)
