"""Names that inner functions rebind, in loops, conditionals and recursions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit_testing.oracle import check, decorate, without_warm_up


def counted_in_a_loop(n):
    count = 0
    largest = -1

    def note(k):
        nonlocal count, largest
        if k % 3 == 1:
            count += 1
        if k * k % 7 > largest:
            largest = k * k % 7

    for k in range(n):
        note(k)
    return count, largest


def counted_in_a_recursion(n):
    nodes = 0

    def visit(k):
        nonlocal nodes
        nodes += 1
        if k < 2:
            return k
        return visit(k - 1) + visit(k - 2)

    return visit(n), nodes


def times_of_a_search(graph):
    clock = 0
    found = [-1] * len(graph)
    left = [-1] * len(graph)

    def visit(v):
        nonlocal clock
        clock += 1
        found[v] = clock
        for w in graph[v]:
            if found[w] < 0:
                visit(w)
        clock += 1
        left[v] = clock

    for v in range(len(graph)):
        if found[v] < 0:
            visit(v)
    return found, left, clock


def first_list(n):
    columns = [False] * n
    up, down = [False] * (2 * n), [False] * (2 * n)
    board = []
    first = []
    count = 0

    def place(row):
        nonlocal count, first
        if row == n:
            count += 1
            if not first:
                first = board[:]
            return
        for c in range(n):
            if columns[c] or up[row + c] or down[row - c + n - 1]:
                continue
            columns[c] = up[row + c] = down[row - c + n - 1] = True
            board.append(c)
            place(row + 1)
            board.pop()
            columns[c] = up[row + c] = down[row - c + n - 1] = False

    place(0)
    return count, first


def longest_of_all(n):
    best = []

    def visit(k, path):
        nonlocal best
        if k <= 0:
            if len(path) > len(best):
                best = path[:]
            return
        path.append(k)
        visit(k - 1, path)
        path.pop()
        if k > 2:
            path.append(-k)
            path.append(-k)
            visit(k - 2, path)
            path.pop()
            path.pop()

    visit(n, [])
    return best


def a_parameter(total, n):
    def add(k):
        nonlocal total
        if k > 0:
            total += k
            add(k - 1)

    add(n)
    return total


def both_rebind(n):
    state = 1

    def step():
        nonlocal state
        state = (state * 5 + 3) % 101
        return state

    total = 0
    for k in range(n):
        total += step()
        if k % 4 == 0:
            state = k
    return total, state


def two_levels(n):
    total = 0

    def outer(k):
        depth = 0

        def inner(m):
            nonlocal depth, total
            depth += 1
            total += m
            if m > 0:
                inner(m - 1)

        inner(k)
        return depth

    return [outer(k) for k in (3, 20, 2)], total


GRAPH = [[(k * 7 + 1) % 30, (k * 3 + 2) % 30, (k + 1) % 30] for k in range(30)]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (counted_in_a_loop, (50,)),
        (counted_in_a_recursion, (10,)),
        (times_of_a_search, (GRAPH,)),
        (first_list, (5,)),
        (longest_of_all, (7,)),
        (a_parameter, (5, 30)),
        (both_rebind, (40,)),
        (two_levels, (1,)),
    ],
)
def test_compiled(function: Any, arguments: Any) -> None:
    check(function, arguments, variants=None)
    fused = without_warm_up(decorate(function, jit=False, fullgraph=True))
    assert fused(*arguments) == function(*arguments)
    assert len(fused.variants) == 1


def two_names_of_a_new_list(n):
    first, second = [0], [1]
    for k in range(n):
        if k > 3 and k < 6:
            first = second = [k]
        first.append(k)
    return first, second


def two_shared_names_of_a_new_list(n):
    first, second = [0], [1]

    def visit(k):
        nonlocal first, second
        if k % 5 == 1:
            first = second = [k]
        first.append(k)
        if k > 0:
            visit(k - 1)
            visit(k - 2)

    visit(n)
    return first, second


def the_list_of_before(n):
    held = [0]

    def visit(k):
        nonlocal held
        old = held
        if k % 5 == 1:
            held = [k]
        held.append(k)
        if k > 0:
            visit(k - 1)
        old.append(100 + k)

    visit(n)
    return held


def an_operand_of_before(n):
    held = [0]

    def size(items, k):
        return len(items) * 10 + k

    def visit(k):
        nonlocal held
        if k < 1:
            return 0
        held.append(k)
        if k % 5 == 1:
            held = [k]
        return size(held, visit(k - 1))

    return visit(n), held


def a_result_of_before(n):
    held = [0]

    def visit(k):
        nonlocal held
        if k < 1:
            return held
        if k % 5 == 1:
            held = [k]
        held.append(k)
        found = visit(k - 1)
        found.append(100 + k)
        return found

    return visit(n), held


def not_a_copy(n):
    best = []

    def visit(k, path):
        nonlocal best
        if k == 0:
            if len(path) > len(best):
                best = path
            return
        path.append(k)
        visit(k - 1, path)
        path.pop()

    visit(n, [])
    return best


def bound_by_a_loop(n):
    k = -1
    seen = []

    def note():
        nonlocal k
        seen.append(k)
        k += 10

    for k in range(n):  # noqa: B007
        note()
    return seen, k


def names_of_comprehensions(n):
    k = 0

    def step():
        nonlocal k
        k += 1
        return [k * j for k in (1, 2) for j in (k, 3)]

    return [step() for _ in range(n)], k


def not_bound_yet(n):
    def step():
        nonlocal count
        count += 1

    try:
        step()
    except NameError:
        return n
    count = 0
    return count


def taken_away(n):
    count = 1

    def step():
        nonlocal count
        count += n
        if count > 10:
            del count

    step()
    try:
        return count
    except NameError:
        return -1


def an_annotation(n: int) -> int:
    count: int = 0

    def step() -> None:
        nonlocal count
        count += 2

    for _ in range(n):
        step()
    return count


def asked_for_its_names(n):
    count = n

    def step():
        nonlocal count
        count += 1

    step()
    return sorted(name for name in locals() if name != "step")


def an_array(x, n):
    total = x * 0

    def add(k):
        nonlocal total
        total = total + x * k
        if k > 0:
            add(k - 1)

    add(n)
    return total


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (two_names_of_a_new_list, (9,)),
        (two_names_of_a_new_list, (40,)),
        (two_shared_names_of_a_new_list, (8,)),
        (the_list_of_before, (25,)),
        (an_operand_of_before, (25,)),
        (a_result_of_before, (25,)),
        (not_a_copy, (25,)),
        (bound_by_a_loop, (25,)),
        (names_of_comprehensions, (5,)),
        (not_bound_yet, (5,)),
        (taken_away, (5,)),
        (taken_away, (50,)),
        (an_annotation, (50,)),
        (asked_for_its_names, (5,)),
        (an_array, (np.arange(3.0), 25)),
    ],
)
def test_what_could_be_told(function: Any, arguments: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        check(function, arguments, variants=None)
