"""Tuples in loops: compared, optional, as keys; what branches and loops leave and return."""

from __future__ import annotations

import warnings
from collections import deque
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit_testing.oracle import check, compare_outcomes, decorate, run


def places_equal_to_a_tuple(g: Any, goal: Any) -> Any:
    n, m = g.shape
    k = 0
    for i in range(n):
        for j in range(m):
            if (i, g[i, j]) == goal:
                k += 1
            if (i, j) != (g[i, j], 1):
                k += 10
            if (g[i, j], i) < (j, j):
                k += 100
            if (g[i, j], i) >= (j, 2):
                k += 1000
    return k


def largest_tuple(x: Any) -> Any:
    b = (0.0, -1)
    for i in range(len(x)):
        if (x[i], i) > b:
            b = (x[i], i)
    return b


def list_of_the_last_iteration(x: Any) -> Any:
    k = 0
    while True:
        seen = [v for v in x if v > k]
        if len(seen) < 3:
            break
        k += 1
    return seen, k


def dictionary_of_the_last_iteration(x: Any) -> Any:
    for i in range(1, len(x)):
        d = {}
        for v in x:
            d[v % i] = v
    return d


def set_of_the_last_iteration(x: Any) -> Any:
    for i in range(1, len(x)):
        row = [i]
        for v in x:
            if v > i:
                row.append(v)
        s = set(row)
    return row, len(s), sum(row)


def comprehension_of_the_last_iteration(x: Any) -> Any:
    best = 0
    for i in range(len(x)):
        cur = [x[j] for j in range(i)]
        best += len(cur)
    cur.append(3)
    return best, cur


def path_of_a_search(grid: Any, goal: Any) -> Any:
    rows, cols = grid.shape
    start = (0, 0)
    parent = {start: None}
    queue = deque([start])
    while queue:
        r, c = queue.popleft()
        if (r, c) == goal:
            break
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            nr, nc = r + dr, c + dc
            is_free = 0 <= nr < rows and 0 <= nc < cols and grid[nr, nc] == 0
            if is_free and (nr, nc) not in parent:
                parent[(nr, nc)] = (r, c)
                queue.append((nr, nc))
    if goal not in parent:
        return None
    path = []
    node = goal
    while node is not None:
        path.append(node)
        node = parent[node]
    return path[::-1]


def tuples_or_none(x: Any) -> Any:
    out = []
    for v in x:
        out.append((v, 1) if v > 2 else None)
    return out


def none_replaced(x: Any) -> Any:
    out = [None] * len(x)
    for i in range(1, len(x)):
        if x[i] > x[i - 1]:
            out[i] = (i, x[i])
    n = 0
    for t in out:
        if t is not None:
            n += t[0]
        else:
            n -= 1
    return out, n


def argument_of_tuples_or_none(ts: Any) -> Any:
    n = 0
    for t in ts:
        if t is None:
            n += 1
        else:
            n += t[0] * t[1]
    return n


def list_or_none(x: Any, k: Any) -> Any:
    out = []
    for v in x:
        if v > k:
            out.append(v)
    if len(out) > 3:
        return None
    return out


def of_three_kinds(x: Any, k: Any) -> Any:
    n = 0
    for v in x:
        if v > k:
            n += v
    if n > 10:
        return "big", n
    if n == 0:
        return None
    return n


def tuple_with_a_list_in_a_loop(x: Any, k: Any) -> Any:
    out = []
    for i in range(len(x)):
        if x[i] > k:
            out.append(i)
        if len(out) > 2:
            return len(out), out, x[i]
    return None


def two_of_a_sum(x: Any, k: Any) -> Any:
    seen = {}
    for i in range(len(x)):
        if x[i] - k in seen:
            return [seen[x[i] - k], i]
        seen[x[i]] = i
    return []


def place_or_none(x: Any, k: Any) -> Any:
    for i in range(len(x)):
        if x[i] == k:
            return i
    return None


def two_forms_of_tuples(x: Any, k: Any) -> Any:
    s = sum(x)
    if s > k:
        return False, [s]
    return True, [k, s]


L = [3, 1, 2, 9, 8, 7, 7, 4]
GRID = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
PLACES = np.arange(12).reshape(3, 4) % 5
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (places_equal_to_a_tuple, (PLACES, (1, 2))),
    (largest_tuple, (np.array([1.0, 3.0, 2.0]),)),
    (list_of_the_last_iteration, (L,)),
    (dictionary_of_the_last_iteration, (L,)),
    (set_of_the_last_iteration, (L,)),
    (comprehension_of_the_last_iteration, (L,)),
    (path_of_a_search, (GRID, (2, 2))),
    (path_of_a_search, (GRID, (2, 0))),
    (tuples_or_none, (L,)),
    (none_replaced, (L,)),
    (argument_of_tuples_or_none, ([(1, 2.0), None, (3, 4.0), (3, 1.0), None, (2, 2.0)],)),
    (list_or_none, (L, 3)),
    (list_or_none, (L, 8)),
    (of_three_kinds, (L, 0)),
    (of_three_kinds, (L, 90)),
    (of_three_kinds, (L, 8)),
    (tuple_with_a_list_in_a_loop, (L, 2)),
    (tuple_with_a_list_in_a_loop, (L, 8)),
    (two_of_a_sum, (L, 6)),
    (two_of_a_sum, (L, 100)),
    (place_or_none, (L, 9)),
    (place_or_none, (L, 90)),
    (two_forms_of_tuples, (L, 3)),
    (two_forms_of_tuples, (L, 300)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_whole(function: Any, arguments: tuple[Any, ...]) -> None:
    check(function, arguments, jit=True, variants=None)
    decorate(function, jit=False, fullgraph=True)(*arguments)


# -- what helpers return, of several kinds: the program may ask what it is -------------------------
def few_above(x: Any, k: Any) -> Any:
    out = []
    for v in x:
        if v > k:
            out.append(v)
    if len(out) > 3:
        return None
    return out


def is_none_asked(x: Any, k: Any) -> Any:
    r = few_above(x, k)
    if r is None:
        return -1
    return len(r)


def truth_asked(x: Any, k: Any) -> Any:
    r = few_above(x, k)
    return 0 if r else 5


def sum_above(x: Any, k: Any) -> Any:
    s = 0
    for v in x:
        if v > k:
            s += v
    if s > 10:
        return "big", s
    return None


def taken_apart_if_there(x: Any, k: Any) -> Any:
    r = sum_above(x, k)
    if r is not None:
        _, s = r
        return s
    return -3


def compared_with_none(x: Any, k: Any) -> Any:
    r = sum_above(x, k)
    return r == None, bool(r)  # noqa: E711


def of_three_forms(x: Any, k: Any) -> Any:
    s = sum(x)
    if s > k:
        return [s]
    if s < -k:
        return "neg"
    return s


def asked_for_its_type(x: Any, k: Any) -> Any:
    r = of_three_forms(x, k)
    return isinstance(r, list), isinstance(r, str)


def put_into_a_list(x: Any, k: Any) -> Any:
    r = of_three_forms(x, k)
    return [r, r]


def put_into_a_dictionary(x: Any, k: Any) -> Any:
    r = of_three_forms(x, k)
    d = {"a": r}
    return d


def asked_in_a_loop(x: Any, k: Any) -> Any:
    out = []
    for j in range(3):
        r = few_above(x, j + k)
        if r is not None:
            out.append(len(r))
    return out


@pytest.mark.parametrize("k", [0, 3, 8, 100])
@pytest.mark.parametrize(
    "function",
    [
        *(is_none_asked, truth_asked, taken_apart_if_there, compared_with_none),
        *(asked_for_its_type, put_into_a_list, put_into_a_dictionary, asked_in_a_loop),
    ],
)
def test_results_of_helpers(function: Any, k: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        check(function, (L, k), variants=None)


def comparisons_as_results(x: Any) -> Any:
    found = []
    a = b = (0, 0)
    for i in range(len(x)):
        a, b = (x[i], i % 2), (x[i - 1], (i + 1) % 2)
        found.append(a < b)
    return found, a == b, a != b, a < b, a >= b


def test_comparisons_are_bools_of_python() -> None:
    fused = decorate(comparisons_as_results, jit=False, fullgraph=True)
    for xs in ([3, 1, 1, 2, 5], [2, 2, 2, 2, 2]):
        compare_outcomes(run(comparisons_as_results, (xs,)), run(fused, (xs,)))


def of_which_class(x: Any) -> Any:
    at = None
    for i in range(len(x)):
        if x[i] > 2:
            at = (i, x[i])
    return isinstance(at, tuple), isinstance(at, (int, list)), isinstance(at, type(None))


def of_which_type(x: Any) -> Any:
    at = None
    for i in range(len(x)):
        if x[i] > 2:
            at = (i, i + 1)
    other = at
    return at is other, type(at) is tuple, at is None


def which_one(x: Any) -> Any:
    at = other = None
    for i in range(len(x)):
        if x[i] > 2:
            at = (i, i + 1)
        if x[i] > 4:
            other = (i, i + 1)
    return at is other, at is not other


def none_among_them(x: Any) -> Any:
    found = [(i, i + 1) if x[i] > 2 else None for i in range(len(x))]
    return None in found, found.count(None), [isinstance(one, tuple) for one in found]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [of_which_class, of_which_type, which_one, none_among_them])
def test_what_is_a_tuple_or_none(function: Any) -> None:
    """Its class was none of either, and two of them were never one object."""
    fused = decorate(function, jit=False)
    for values in ([1.0, 2.0, 3.0], [1.0, 1.0], [5.0, 5.0, 1.0], [0.0, 3.0, 5.0]):
        compare_outcomes(run(function, (np.array(values),)), run(fused, (np.array(values),)))
