"""Recursions whose own names hold lists, and whose loops run over several sequences at once."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from fusejit import FuseWarning
from fusejit_testing.oracle import check, decorate, without_warm_up


def over_numbered_items(n):
    weights = [3, 1, 4, 1, 5]

    def visit(k):
        if k <= 0:
            return 1
        total = 0
        for i, w in enumerate(weights, k):
            total += visit(k - w) * (i + 1) % 1001
        else:
            total += 1
        return total

    return visit(n)


def over_pairs(n):
    first, second = [3, 1, 4, 1, 5], [2, 7, 1, 8]

    def visit(k):
        if k <= 0:
            return 1
        total = 0
        for j, (x, y) in enumerate(zip(first, second)):  # noqa: B905
            if y == 7:
                continue
            total += visit(k - x) * y + j
        return total

    return visit(n)


def pairs_that_grow(n):
    first, second = [1, 2], [3]

    def visit(k):
        total = 1
        for x, y in zip(first, second):  # noqa: B905
            if len(second) < 6:
                second.append(x + y)
                first.append(y)
            if k > 0:
                total += visit(k - x % 2 - 1) * y
        return total

    return visit(n), first, second


def ranges_with_steps(n):
    def visit(k):
        total = 1
        for j in range(k - 1, -1, -2):
            total += visit(j)
        for j in range(1, k, 3):
            total += visit(k - j - 1)
        return total

    return visit(n)


def moves_of_a_game(n):
    used = [False] * n

    def visit(k):
        moves = [i for i in range(n) if not used[i]]
        if not moves:
            return 1
        total = 0
        for m in moves:
            if abs(m - k) < 3:
                used[m] = True
                total += visit(m)
                used[m] = False
        return total + len(moves)

    return visit(0)


def permutations(n):
    out = []

    def visit(chosen, left):
        if not left:
            total = 0
            for c in chosen:
                total = total * 10 + c
            out.append(total)
            return
        for i, x in enumerate(left):
            visit(chosen + [x], left[:i] + left[i + 1 :])  # noqa: RUF005

    visit([], list(range(n)))
    return out


def merge_sort(values):
    if len(values) <= 1:
        return values[:]
    middle = len(values) // 2
    left = merge_sort(values[:middle])
    right = merge_sort(values[middle:])
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    while i < len(left):
        out.append(left[i])
        i += 1
    while j < len(right):
        out.append(right[j])
        j += 1
    return out


def sorted_by_halves(n):
    return merge_sort([i * 37 % 101 for i in range(n)])


def a_list_that_grows_below_its_loop(n):
    def visit(k, xs):
        ys = [k, k + 1]
        if k > 0:
            for y in ys:
                xs.append(y)
                if len(ys) < 4:
                    ys.append(y + k)
                visit(k - 1, xs)
        return len(xs)

    held = []
    return visit(n, held), held


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (over_numbered_items, 7),
        (over_pairs, 7),
        (pairs_that_grow, 5),
        (ranges_with_steps, 9),
        (moves_of_a_game, 5),
        (permutations, 4),
        (sorted_by_halves, 30),
        (a_list_that_grows_below_its_loop, 4),
    ],
)
def test_compiled(function: Any, argument: Any) -> None:
    check(function, (argument,), variants=None)
    fused = without_warm_up(decorate(function, jit=False, fullgraph=True))
    assert fused(argument) == function(argument)
    assert len(fused.variants) == 1


def handed_on_and_changed(n):
    def visit(k, xs):
        if k > 0:
            for _ in range(2):
                ys = xs
                visit(k - 1, ys)
                ys.append(k)
        return len(xs)

    held = []
    return visit(n, held), held


def own_list_changed_below(n):
    def visit(k, xs):
        own = [k]
        if k > 0:
            visit(k - 1, own)
            visit(k - 2, own)
        xs.append(len(own) * 100 + k)
        return own

    held = []
    return visit(n, held), held


def result_that_is_held(n):
    rows = []

    def visit(k):
        own = [k]
        rows.append(own)
        if k > 0:
            found = visit(k - 1)
            found.append(10 * k)
            visit(k - 2)
        return own

    visit(n)
    return rows


def result_of_an_argument(n):
    def visit(k, xs):
        if k <= 0:
            return xs
        ys = visit(k - 1, xs + [k])  # noqa: RUF005
        ys.append(-k)
        zs = visit(k - 2, ys)
        zs.append(k * 100)
        return ys

    return visit(n, [])


def one_of_two_results(n):
    def visit(k, xs):
        if k <= 0:
            return xs
        own = [k, k]
        found = visit(k - 1, own)
        if k % 2:
            found.append(k)
            return found
        own.append(-k)
        return own

    return visit(n, [5])


def two_names_of_one_list(n):
    def visit(k):
        first = [k]
        second = first
        if k > 0:
            visit(k - 1)
            second.append(k)
            visit(k - 2)
            first.append(-k)
        return len(first) * 10 + len(second)

    return visit(n)


def a_list_of_the_outer_function(n):
    outer = [1]

    def visit(k):
        own = [k] if k % 3 else outer
        if k > 0:
            visit(k - 1)
            own.append(k)
            visit(k - 2)
        return len(own)

    return visit(n), outer


def operands_that_change(n):
    def size(items, k):
        return len(items) * 10 + k

    def visit(k, xs):
        if k <= 0:
            xs.append(1)
            return 1
        own = [k, k]
        return size(own, visit(k - 1, own)) + size(xs, visit(k - 2, xs))

    return visit(n, [])


def kept_in_a_tuple(n):
    def visit(k):
        own = [k]
        pair = (own, k)
        if k > 0:
            visit(k - 1)
            own.append(7)
            visit(k - 2)
        return len(pair[0]) + pair[1]

    return visit(n)


def another_enumerate(n):
    def enumerate(items):
        return [(5, x) for x in items]

    def visit(k):
        total = 1
        for i, x in enumerate([1, 2]):
            if k > 0:
                total += visit(k - x) * i
        return total

    return visit(n)


def empty_and_raising(n):
    def visit(k, xs):
        if k == 0:
            return xs[3]
        own = [k]
        total = visit(k - 1, own)
        for i, x in enumerate(own):
            total += visit(0, own) * i + x
        return total

    try:
        return visit(n, [])
    except IndexError:
        return -1


def lists_or_numbers(n):
    def visit(k):
        own = [k] if k % 2 else k
        if k > 0:
            visit(k - 1)
            visit(k - 2)
        return own if k % 2 else own + 1

    return visit(n)


def same_list_twice(n):
    def visit(k, xs, ys):
        if k <= 0:
            xs.append(1)
            return len(ys)
        own = [k]
        return visit(k - 1, own, own) + visit(k - 2, xs, own) * 3 + len(own)

    return visit(n, [], [])


@pytest.mark.parametrize(
    "function",
    [
        *(handed_on_and_changed, own_list_changed_below, result_that_is_held),
        *(result_of_an_argument, one_of_two_results, two_names_of_one_list),
        *(a_list_of_the_outer_function, operands_that_change, kept_in_a_tuple),
        *(another_enumerate, empty_and_raising, lists_or_numbers, same_list_twice),
    ],
)
def test_what_could_be_told(function: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        check(function, (8,), variants=None)


def moved(n: Any, start: Any, goal: Any, spare: Any, moves: Any) -> None:
    if n > 0:
        moved(n - 1, start, spare, goal, moves)
        moves.append((start, goal))
        moved(n - 1, spare, goal, start, moves)


def towers(n: Any) -> Any:
    moves = []
    moved(3, "a", "b", "c", moves)
    for _ in range(n):
        moved(2, "a", "b", "c", moves)
        moves = []
        moved(3, "a", "c", "b", moves)
        moved(1, "a", "c", "b", moves)
        moved(2, "c", "b", "a", moves)
    return len(moves)


def test_the_types_of_all_names_are_found_at_once() -> None:
    """Each name of each recursion took an attempt: the trace did not come to an end."""
    fused = decorate(towers, jit=False, fullgraph=True)
    for n in (3, 5):
        assert fused(n) == towers(n)
