"""Lists of tuples that hold lists: searches with their paths, routes, tables of groups."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python


def routes(n: int) -> Any:
    out = []
    for i in range(n):
        path = []
        for k in range((i * 7) % 5):
            path.append(k * i)
        out.append((i * 0.5, path))
    return out


def sorted_routes(n: int) -> Any:
    out = routes(n)
    out.sort(key=lambda route: (len(route[1]), -route[0]))
    total = 0
    for _, path in out:
        total = total * 3 + len(path)
        for x in path:
            total += x
    return total % 1000003, out


def breadth_first(n: int) -> Any:
    seen = {(0, 0)}
    queue = deque([(0, 0, [0])])
    while queue:
        i, j, path = queue.popleft()
        if i == n - 1 and j == n - 1:
            return path
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < n and b < n and (a, b) not in seen:
                seen.add((a, b))
                queue.append((a, b, [*path, a * n + b]))
    return []


def paths_in_a_queue(n: int) -> Any:
    queue, seen = deque([[0]]), {0}
    while queue:
        path = queue.popleft()
        node = path[-1]
        if node == n - 1:
            return path
        for other in (node * 2 + 1, node + 3, node - 1):
            if 0 <= other < n and other not in seen:
                seen.add(other)
                queue.append([*path, other])
    return None


def paths_in_a_list(n: int) -> Any:
    queue, seen = [[0]], {0}
    while queue:
        path = queue.pop(0)
        node = path[-1]
        if node == n - 1:
            return path
        for other in (node * 2 + 1, node + 3, node - 1):
            if 0 <= other < n and other not in seen:
                seen.add(other)
                new = list(path)
                new.append(other)
                queue.append(new)
    return []


def shortest_paths(n: int) -> Any:
    heap: Any = [(0, 0, [0])]
    done, total = set(), 0
    while heap:
        d, u, path = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        total = total * 7 % 1000003 + d + len(path)
        for v in range(n):
            w = (u * 7 + v * 3) % 11
            if v not in done and w > 0:
                heapq.heappush(heap, (d + w, v, [*path, v]))
    return total


def depth_first(n: int) -> Any:
    stack, count = [(0, [0])], 0
    while stack:
        node, path = stack.pop()
        if node >= n:
            count += sum(path)
            continue
        stack.append((node + 1, [*path, node]))
        stack.append((node + 2, [*path, node * 2]))
    return count


def two_lists_a_tuple(n: int) -> Any:
    out = []
    for i in range(n + 3):
        a, b = [i], []
        for k in range(i):
            b.append(k)
        out.append((a, b, i))
    out[0], out[2] = out[2], out[0]
    x = out[1]
    out[1] = (x[1], x[0], 7)
    return out


def longest_from_an_empty_one(n: int) -> Any:
    best, who = [], -1
    for i, path in routes(n):
        if len(path) > len(best):
            best = path
            who = i
    return who, best


def longest_from_the_first(n: int) -> Any:
    items = routes(n)
    who, best = items[0]
    for i, path in items:
        if len(path) > len(best):
            best = path
            who = i
    return who, best


def longest_row(n: int) -> Any:
    rows, best = [], []
    for i in range(n):
        rows.append([i] * (i % 4))
    for row in rows:
        if len(row) > len(best):
            best = row
    return best


def rows_from_the_front(n: int) -> Any:
    rows, total = [], 0
    for i in range(n):
        rows.append([n - i, i + 1])
    while rows:
        row = rows.pop(0)
        total = total * 3 + row[0] - row[1]
    return total


def path_to(previous: Any, source: int, target: int) -> Any:
    path = [target]
    while path[-1] != source:
        if path[-1] not in previous:
            return []
        path.append(previous[path[-1]])
    path.reverse()
    return path


def paths_of_a_helper(n: int) -> Any:
    previous, found, total = {}, [], 0
    for i in range(n):
        previous[i] = i // 2
    for target in range(n + 3):
        path = path_to(previous, 0, target)
        if path:
            found.append((target, path))
        again = path_to(previous, 0, target)
        again.append(3)
        total += len(again)
    found.sort(key=lambda one: (-one[0], len(one[1])))
    return found, total


def read_once_it_is_in_a_tuple(n: int) -> Any:
    found, passed = [], {}
    for i in range(n):
        path = []
        for k in range(i % 4):
            path.append(k * i % 3)
        if path:
            found.append((i, path))
            for node in path[1:]:
                passed[node] = passed.get(node, 0) + len(path)
    return found, passed


def least_by_tuples(n: int) -> Any:
    counts = {}
    for i in range(n):
        counts[i * 7 % 5] = counts.get(i * 7 % 5, 0) + 1
    pairs = [(k * 3 % 4, k) for k in range(n)]
    most = max(counts, key=lambda k: (counts[k], k))
    return most, min(range(n), key=lambda k: (k % 3, -k)), min(pairs), max(pairs), max(pairs)[1]


WHOLE = (
    *(routes, sorted_routes, breadth_first, paths_in_a_queue, paths_in_a_list, shortest_paths),
    *(depth_first, two_lists_a_tuple, longest_from_an_empty_one, longest_from_the_first),
    *(longest_row, rows_from_the_front, paths_of_a_helper, read_once_it_is_in_a_tuple),
    least_by_tuples,
)


@pytest.mark.parametrize("function", WHOLE)
def test_whole(function: Callable[..., Any]) -> None:
    fused = check_against_python(function, [(n,) for n in (6, 1, 9, 17)])
    assert not fused.variants.fallbacks
    assert fused.variants.newest_segmented is None


@pytest.mark.parametrize("function", [breadth_first, shortest_paths, two_lists_a_tuple])
def test_jitted(function: Callable[..., Any]) -> None:
    check_against_python(function, [(n,) for n in (6, 9)], jit=True)


def one_list_in_two_tuples(n: int) -> Any:
    items = [(k, [k]) for k in range(n)]
    items.append(items[0])
    items.append((n, items[1][1]))
    return items


def one_list_in_two_lists(n: int) -> Any:
    first = [(k, [k, 1]) for k in range(n)]
    second = [(-k, row) for k, row in first if k % 2]
    return first, second


def changed_behind_the_tuple(n: int) -> Any:
    items = []
    for k in range(n):
        row = [k]
        items.append((k, row))
        row.append(7)
    return items


def read_and_changed_behind_the_tuple(n: int) -> Any:
    items, total, last = [], 0, []
    for k in range(n):
        row = [k]
        items.append((k, row))
        total += len(row) + len(last)
        last.append(k)
        if k == 2:
            items.append((k, last))
    return items, total


def changed_through_the_tuple(n: int) -> Any:
    items = [(k, [k]) for k in range(n)]
    for k, row in items:
        row.append(k)
    items[0][1][0] = 9
    return items


def changed_when_taken(n: int) -> Any:
    items = [(k, [k]) for k in range(n)]
    items.append(items[0])
    k, row = items.pop()
    row.append(k)
    return items


def changed_once_it_is_the_best(n: int) -> Any:
    items, best = [(k, [k] * (k % 3)) for k in range(n)], []
    for _, row in items:
        if len(row) > len(best):
            best = row
    best.append(5)
    return items, best


def of_an_earlier_list(n: int) -> Any:
    best = [0]
    for i in range(n):
        items = [(k, [k, i] * (k % 3)) for k in range(i)]
        for _, row in items:
            if len(row) > len(best):
                best = row
    return best


def lists_that_change_places(n: int) -> Any:
    now, total = [(0, [1])], 0
    held = now[0][1]
    for i in range(n):
        now = [(i, [i, k]) for k, _ in now]
        total += len(held) + held[0]
        held = now[0][1]
    return total, held


class Box:
    pass


def kept_in_a_function(n: int, box: Any) -> Any:
    out = []
    box.read = lambda: out
    for i in range(n):
        if i == 3:
            return out
        out.append(i)
    return []


def returned_and_kept(n: int) -> Any:
    box = Box()
    found = kept_in_a_function(n, box)
    found.append(99)
    return len(box.read()), found


def given_back(xs: Any, n: int) -> Any:
    for i in range(n):
        if i == 3:
            return xs
        xs.append(i)
    return []


def returned_and_given(n: int) -> Any:
    ys = []
    ys.append(1)
    found = given_back(ys, n)
    found.append(99)
    return ys, len(found)


def bound_under_a_condition(n: int) -> Any:
    a, b = [], []
    for i in range(n):
        a.append(i)
    if len(a) > 3:
        b = a
    a.append(7)
    return b


@pytest.mark.parametrize(
    "function",
    [
        *(returned_and_kept, returned_and_given, bound_under_a_condition),
        *(one_list_in_two_tuples, one_list_in_two_lists, changed_behind_the_tuple),
        *(
            read_and_changed_behind_the_tuple,
            changed_through_the_tuple,
            changed_when_taken,
            changed_once_it_is_the_best,
        ),
        *(of_an_earlier_list, lists_that_change_places),
    ],
)
def test_one_list_in_two_places(function: Callable[..., Any]) -> None:
    """As Python has it, where a copy in memory would show."""
    check_against_python(function, [(n,) for n in (5, 3, 8)])


def parts_put(n: int) -> Any:
    xs = list(range(n))
    for k in range(n):
        xs[: k + 1] = xs[k::-1]
        ys = xs[:]
        ys[k:] = ys[k + 1 :] + ys[k : k + 1]
        ys[1:3] = [k] * (k % 5)
        if len(ys) % 2 == 0:
            ys[::2] = ys[1::2]
        ys[5:2] = xs[:2]
        ys[len(ys) :] = ys
    return xs, ys


def rows_put(n: int) -> Any:
    rows = [[k] for k in range(n)]
    for k in range(3):
        rows[k : k + 2] = [[k, k]]
    return rows


def of_another_size(n: int) -> Any:
    xs = list(range(n))
    for k in range(n):
        if k == 3:
            xs[::2] = xs[:1]
    return xs


@pytest.mark.parametrize("function", [parts_put, rows_put, of_another_size])
def test_parts_of_lists_are_put(function: Callable[..., Any]) -> None:
    check_against_python(function, [(n,) for n in (6, 4, 9, 2)])


def test_parts_of_lists_are_put_whole() -> None:
    fused = check_against_python(parts_put, [(n,) for n in (6, 4, 9)])
    assert not fused.variants.fallbacks
    assert fused.variants.newest_segmented is None


def with_stars(n: int) -> Any:
    table, xs, out = {1: 2, 3: 4}, [0], []
    for i in range(n):
        table[i] = 2
        xs = [*xs, i, *xs[:2]]
        out = [i, *table, *out[:3], *range(i)]
    return xs, out, [*xs, xs.append(3), *xs]


def test_displays_with_stars() -> None:
    fused = check_against_python(with_stars, [(n,) for n in (6, 4, 9)])
    assert not fused.variants.fallbacks
    assert fused.variants.newest_segmented is None


def bound_methods(n: int) -> Any:
    xs = list(range(n))
    put, take = xs.insert, xs.pop
    k = 0
    while k < 10:
        put(2, take(0))
        k += 1
    return xs


def test_methods_under_names_in_a_loop_of_a_known_count() -> None:
    fused = check_against_python(bound_methods, [(n,) for n in (6, 4, 9)])
    assert not fused.variants.fallbacks
    assert fused.variants.newest_segmented is None


def test_texts_in_lists_that_hold_lists() -> None:
    def words(x: np.ndarray) -> Any:
        out = []
        for i in range(len(x)):
            name = "high" if x[i] > 1 else "low"
            out.append((name, [i, int(x[i])]))
        return out

    check_against_python(words, [(np.array([0.5, 2.0, 3.0]),), (np.ones(2),)])
