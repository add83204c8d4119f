"""Names that only a loop binds, tuples or None, lists that are unpacked, chosen lists.

Each program runs whole in compiled code; where a loop has no iteration Python raises its error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from fusejit_testing.against_python import check_against_python
from fusejit_testing.oracle import decorate

Program = Callable[..., Any]


# ---------------------------------------------------------------------------- bound by while alone
def last_number(n: int) -> Any:
    k = 0
    while k < n:
        k += 1
        last = k * 0.5
    return last


def last_tuple(n: int) -> Any:
    waiting = [(0, 1)]
    while waiting:
        state = waiting.pop()
        if state[0] < n:
            waiting.append((state[0] + 1, state[1] * 2 % 97))
    return state


def last_string(n: int) -> Any:
    k = 0
    while k < n:
        k += 1
        last = "a" if k % 2 else "b"
    return last + "!"


def path_back(n: int) -> Any:
    start = (0, 0)
    came, waiting = {start: None}, deque([start])
    while waiting:
        cell = waiting.popleft()
        if cell == (n - 1, n - 1):
            break
        for dr, dc in ((0, 1), (1, 0)):
            step = (cell[0] + dr, cell[1] + dc)
            if step[0] < n and step[1] < n and step not in came:
                came[step] = cell
                waiting.append(step)
    path = []
    while cell is not None:
        path.append(cell)
        cell = came[cell]
    return path[::-1]


def in_an_outer_loop(n: int) -> Any:
    found = []
    for k in range(1, n):
        left = k
        while left:
            digit = left % 3
            left //= 3
        found.append(digit)
    return found


def last_of_a_list(n: int) -> Any:
    items = []
    for k in range(n):
        items.append(k * 0.5)
    for item in items:
        double = item * 2
    return double + 1, item


def last_of_a_dictionary(n: int) -> Any:
    places = {}
    for k in range(n):
        places[k * k % 17] = k
    for key, value in places.items():
        last = (key, value)
    return last, key


# ------------------------------------------------------------------------------------ tuple or None
def until_the_start(n: int) -> Any:
    came = {(0, 0): None}
    for k in range(1, n):
        came[k, k % 5] = (k - 1, (k - 1) % 5)
    cell = (n - 1, (n - 1) % 5)
    steps = 0
    while cell != (0, 0):
        row, column = cell
        steps += row * 10 + column
        cell = came[cell]
    return steps, cell == (0, 0), came[cell] is None


def while_it_is_there(n: int) -> Any:
    came = {(0, 0): None}
    for k in range(1, n):
        came[k, 0] = (k // 2, 0)
    cell, path = (n - 1, 0), []
    while cell:
        path.append(cell)
        cell = came.get(cell)
    return path


# ----------------------------------------------------------------------------------------- unpacked
def merged(n: int) -> Any:
    spans = []
    for k in range(n):
        spans.append((k * 37 % 101, k * 37 % 101 + k % 7))
    joined = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], high)
        else:
            joined.append([low, high])
    covered = sum(high - low for low, high in joined)
    gaps = [b[0] - a[1] for a, b in zip(joined, joined[1:], strict=False)]  # noqa: RUF007
    for place, (low, high) in enumerate(joined):
        covered += place * (high - low)
    return joined, covered, max(gaps, default=0)


def one_by_one(n: int) -> Any:
    rows = []
    for k in range(n):
        rows.append([k, k * 2, k % 3])
    total = 0
    for row in rows:
        first, second, third = row
        total += first * second - third
    return total


def zipped_with_a_tuple(n: int) -> Any:
    means = []
    for k in range(n):
        means.append(k / 3)
    found = []
    for k in range(n):
        found.append(sum((a - b) ** 2 for a, b in zip((k, 1, 2), means, strict=False)))
    return found


# ------------------------------------------------------------------------------------------- chosen
def path_to(after: list[int], place: int, goal: int) -> list[int]:
    if after[place] < 0:
        return []
    path = [place]
    while place != goal:
        place = after[place]
        path.append(place)
    return path


def paths(n: int) -> Any:
    after = []
    for k in range(n):
        after.append(k + 1 if k % 7 else -1 if k == 0 else k + 1)
    found = {}
    for k in range(n):
        found[k] = path_to(after, k, n)
    total = 0
    for k in range(n):
        for place in path_to(after, k, n)[1:-1]:
            total += place
    return found, total


def one_of_two(n: int) -> Any:
    found = []
    for k in range(n):
        if k % 2:
            items, other = [k], []
        else:
            items = [k, k + 1]
            other = [5]
        items.append(7)
        other.extend(items)
        found.append(sum(items) + len(other))
    return found


def rows_or_none(n: int) -> Any:
    rows = []
    for k in range(n):
        if k % 2:
            row = [k]
        elif k % 3:
            row = []
        else:
            row = [k, -k]
        rows.append(row)
    return rows


def of_one_name(n: int) -> Any:
    for k in range(n):
        if k % 2:
            items = [k]
            names = items
        else:
            items, names = [k, 2], [5]
        items.append(3)
    return items, names, items is names


# ------------------------------------------------------------------------------- empty lists, keys
def neighbours_of(n: int) -> Any:
    cells: dict[int, list[int]] = {}
    for k in range(n):
        cells.setdefault(k * k % 11, []).append(k)
    total = 0
    for key in range(11):
        for k in cells.get(key, ()):
            total += k
        if cells.get(key, ()):
            total += 1000 * len(cells.get(key, ()))
    return total


def best_places(n: int) -> Any:
    scores, counts = [], {}
    for k in range(n):
        scores.append(k * 37 % 11)
        counts[k % 5] = counts.get(k % 5, 0) + k
    best = max(range(n), key=scores.__getitem__)
    return best, min(counts, key=counts.__getitem__), sorted(counts, key=counts.get)


PROGRAMS = (
    *(last_number, last_tuple, last_string, path_back, in_an_outer_loop),
    *(last_of_a_list, last_of_a_dictionary),
    *(until_the_start, while_it_is_there, merged, one_by_one, zipped_with_a_tuple),
    *(paths, one_of_two, rows_or_none, of_one_name, neighbours_of, best_places),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_python(program: Program) -> None:
    check_against_python(program, [(n,) for n in (60, 9, 50, 5, 3)])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_whole(program: Program) -> None:
    fused = decorate(program, jit=False, tiering=False, fullgraph=True)
    assert fused(60) == program(60)


@pytest.mark.parametrize("program", PROGRAMS[::4], ids=lambda p: p.__name__)
def test_jitted(program: Program) -> None:
    check_against_python(program, [(60,), (50,)], jit=True)


@pytest.mark.parametrize("program", [last_number, last_string, last_tuple, last_of_a_list])
def test_no_iteration(program: Program) -> None:
    """Python says that the name is unbound."""
    check_against_python(program, [(5,), (0,), (4,), (-1,)])


def wrong_count(n: int) -> Any:
    rows = []
    for k in range(n):
        rows.append([k] * (2 + (k == 30)))
    total = 0
    for first, second in rows:
        total += first + second
    return total


def test_too_many_to_unpack() -> None:
    check_against_python(wrong_count, [(20,), (50,), (25,)])


def changed_meanwhile(n: int) -> Any:
    weights = []
    for k in range(n):
        weights.append(k)
    total = 0
    for a, b in zip((1, 2, 3), weights, strict=False):
        weights.append(a)
        total += a * b
    return total, len(weights)


def test_a_list_that_grows_under_a_zip() -> None:
    check_against_python(changed_meanwhile, [(20,), (50,), (2,), (0,)])


def kept_elsewhere(n: int) -> Any:
    kept: list[int] = []

    def chosen(k: int) -> list[int]:
        if k % 3 == 0:
            return kept
        made = [k]
        kept.append(k)
        return made

    total = 0
    for k in range(n):
        one = chosen(k)
        one.append(1)
        total += len(kept) * 10 + len(one)
    return total, kept


def test_a_list_that_another_name_holds() -> None:
    check_against_python(kept_elsewhere, [(20,), (50,), (2,)])
