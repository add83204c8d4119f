"""Sets that programs make: their keys are in the memory of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

RNG = np.random.default_rng(5)
X = RNG.integers(0, 30, 40)
SMALL = RNG.integers(0, 6, 17)
EDGES = RNG.integers(0, 25, (30, 2))
GRID = (RNG.random((7, 8)) > 0.35).astype(int)
SUDOKU = np.array([[(3 * (i % 3) + i // 3 + j) % 9 + 1 for j in range(9)] for i in range(9)])


# ----------------------------------------------------------------------------- numbers of an array
def distinct(x: Any) -> Any:
    seen = set()
    for v in x:
        seen.add(v)
    return seen, len(seen)


def has_duplicate(x: Any) -> Any:
    seen = set()
    for i in range(len(x)):
        if x[i] in seen:
            return True, i
        seen.add(x[i])
    return False, -1


def in_order_of_first_use(x: Any) -> Any:
    seen = set()
    out = []
    for v in x:
        if v not in seen:
            seen.add(v)
            out.append(v)
    return out


def duplicates(x: Any) -> Any:
    seen: set[int] = set()
    twice: set[int] = set()
    for v in x:
        if v in seen:
            twice.add(v)
        else:
            seen.add(v)
    return sorted(twice), seen - twice


def two_sum(x: Any) -> Any:
    seen = set()
    for i in range(len(x)):
        if 21 - int(x[i]) in seen:
            return i, int(x[i])
        seen.add(int(x[i]))
    return None


def pairs_with_difference(x: Any) -> Any:
    numbers = set(x)
    count = 0
    for v in x:
        if v + 3 in numbers:
            count += 1
    return count, len(numbers), max(numbers), min(numbers)


def longest_run(x: Any) -> Any:
    numbers = {int(v) for v in x}
    best = 0
    for v in x:
        if v - 1 not in numbers:
            length = 1
            while v + length in numbers:
                length += 1
            best = max(best, length)
    return best


def first_missing(x: Any) -> Any:
    there = {int(v) for v in x if v > 0}
    k = 1
    while k in there:
        k += 1
    return k


def windows_without_repeats(x: Any) -> Any:
    inside = set()
    start = best = 0
    for end in range(len(x)):
        while x[end] in inside:
            inside.remove(x[start])
            start += 1
        inside.add(x[end])
        best = max(best, end - start + 1)
    return best, inside


def distinct_in_windows(x: Any) -> Any:
    out = np.zeros(len(x), int)
    seen = set()
    for i in range(len(x)):
        seen.clear()
        for j in range(max(0, i - 4), i + 1):
            seen.add(x[j])
        out[i] = len(seen)
    return out


def tabu_search(x: Any) -> Any:
    tabu = set()
    order = []
    at = 0
    for step in range(3 * len(x)):
        order.append(at)
        tabu.add(at)
        if len(order) > 5:
            tabu.discard(order[step - 5])
        best = -1
        for move in range(1, 6):
            other = (at + move) % len(x)
            if other not in tabu and (best < 0 or x[other] < x[best]):
                best = other
        if best < 0:
            break
        at = best
    return order, tabu


def collatz(x: Any) -> Any:
    known = {1}
    steps = 0
    for i in range(len(x)):
        n = int(x[i]) + 1
        while n not in known:
            known.add(n)
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
    return steps, known


def happy_numbers(x: Any) -> Any:
    found = []
    for v in x:
        n = int(v)
        seen = set()
        while n != 1 and n not in seen:
            seen.add(n)
            total = 0
            while n > 0:
                total += (n % 10) ** 2
                n //= 10
            n = total
        if n == 1:
            found.append(v)
    return found


def sieve(x: Any) -> Any:
    limit = len(x) + 20
    composite = set()
    primes = []
    for p in range(2, limit):
        if p not in composite:
            primes.append(p)
            for multiple in range(p * p, limit, p):
                composite.add(multiple)
    return primes, len(composite)


def sieve_of_candidates(x: Any) -> Any:
    limit = len(x) + 20
    candidates = set(range(2, limit))
    for p in range(2, limit):
        if p in candidates:
            for multiple in range(2 * p, limit, p):
                candidates.discard(multiple)
    return sorted(candidates)


def unique_words(x: Any) -> Any:
    words = set()
    for v in x:
        if v < 10:
            words.add("red")
        elif v < 20:
            words.add("green")
    return words, "red" in words, "grey" in words


# ------------------------------------------------------------------------------------------ graphs
def reachable(edges: Any) -> Any:
    visited = {0}
    stack = [0]
    while stack:
        node = stack.pop()
        for k in range(len(edges)):
            if edges[k, 0] == node and edges[k, 1] not in visited:
                visited.add(edges[k, 1])
                stack.append(edges[k, 1])
    return visited


def distances(edges: Any) -> Any:
    neighbours: list[list[int]] = [[] for _ in range(25)]
    for a, b in edges:
        neighbours[a].append(int(b))
        neighbours[b].append(int(a))
    out = np.full(25, -1)
    out[3] = 0
    seen = {3}
    queue = [3]
    head = 0
    while head < len(queue):
        node = queue[head]
        head += 1
        for other in neighbours[node]:
            if other in seen:
                continue
            seen.add(other)
            out[other] = out[node] + 1
            queue.append(other)
    return out, len(seen)


def components(edges: Any) -> Any:
    count = 0
    seen = set()
    sizes = []
    for start in range(25):
        if start in seen:
            continue
        count += 1
        size = 0
        stack = [start]
        seen.add(start)
        while stack:
            node = stack.pop()
            size += 1
            for k in range(len(edges)):
                for a, b in ((edges[k, 0], edges[k, 1]), (edges[k, 1], edges[k, 0])):
                    if a == node and b not in seen:
                        seen.add(b)
                        stack.append(b)
        sizes.append(size)
    return count, sizes


def has_cycle(edges: Any) -> Any:
    for start in range(25):
        path = {start}
        node = start
        for _ in range(25):
            following = -1
            for k in range(len(edges)):
                if edges[k, 0] == node:
                    following = int(edges[k, 1])
                    break
            if following < 0:
                break
            if following in path:
                return start, following, len(path)
            path.add(following)
            node = following
    return -1, -1, -1


def distinct_edges(edges: Any) -> Any:
    seen = set()
    loops = 0
    for a, b in edges:
        if a == b:
            loops += 1
            continue
        seen.add((min(a, b), max(a, b)))
    return seen, loops, (1, 2) in seen


def islands(grid: Any) -> Any:
    seen: set[tuple[int, int]] = set()
    count = 0
    for r in range(grid.shape[0]):
        for c in range(grid.shape[1]):
            if grid[r, c] == 0 or (r, c) in seen:
                continue
            count += 1
            stack = [(r, c)]
            seen.add((r, c))
            while stack:
                i, j = stack.pop()
                for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                    a, b = i + di, j + dj
                    is_inside = 0 <= a < grid.shape[0] and 0 <= b < grid.shape[1]
                    if is_inside and grid[a, b] and (a, b) not in seen:
                        seen.add((a, b))
                        stack.append((a, b))
    return count, seen, sorted(seen)


def shortest_path(grid: Any) -> Any:
    goal = (grid.shape[0] - 1, grid.shape[1] - 1)
    visited = {(0, 0)}
    queue = [(0, 0, 0)]
    head = 0
    while head < len(queue):
        r, c, steps = queue[head]
        head += 1
        if r == goal[0] and c == goal[1]:
            return steps, len(visited)
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            cell = (r + dr, c + dc)
            if cell in visited or not (0 <= cell[0] <= goal[0] and 0 <= cell[1] <= goal[1]):
                continue
            if grid[cell]:
                visited.add(cell)
                queue.append((cell[0], cell[1], steps + 1))
    return -1, len(visited)


def game_of_life(grid: Any) -> Any:
    live = set()
    for r in range(grid.shape[0]):
        for c in range(grid.shape[1]):
            if grid[r, c]:
                live.add((r, c))
    born = []
    for r in range(-1, grid.shape[0] + 1):
        for c in range(-1, grid.shape[1] + 1):
            count = 0
            for dr in range(-1, 2):
                for dc in range(-1, 2):
                    if (dr != 0 or dc != 0) and (r + dr, c + dc) in live:
                        count += 1
            if count == 3 or (count == 2 and (r, c) in live):
                born.append((r, c))
    return set(born), live, set(born) == live


def ant(grid: Any) -> Any:
    black = set()
    r = c = 0
    dr, dc = -1, 0
    for _ in range(grid.size * 5):
        if (r, c) in black:
            black.remove((r, c))
            dr, dc = -dc, dr
        else:
            black.add((r, c))
            dr, dc = dc, -dr
        r, c = r + dr, c + dc
    return len(black), sorted(black)


def visited_states(x: Any) -> Any:
    seen = set()
    state = (1, 0)
    steps = 0
    while state not in seen:
        seen.add(state)
        state = ((state[0] * 5 + int(x[steps % len(x)])) % 41, steps % 3)
        steps += 1
    return steps, state


def valid_sudoku(board: Any) -> Any:
    for i in range(9):
        row, column, box = set(), set(), set()
        for j in range(9):
            r, c = 3 * (i // 3) + j // 3, 3 * (i % 3) + j % 3
            if board[i, j] in row or board[j, i] in column or board[r, c] in box:
                return False
            row.add(board[i, j])
            column.add(board[j, i])
            box.add(board[r, c])
    return True


def sudoku_candidates(board: Any) -> Any:
    counts = np.zeros((9, 9), int)
    for i in range(0, 9, 2):
        for j in range(0, 9, 4):
            free = set(range(1, 10))
            for k in range(9):
                free.discard(int(board[i, k]))
                free.discard(int(board[k, j]) % 5)
            counts[i, j] = len(free)
    return counts


# -------------------------------------------------------------------------- operators and methods
def operators(x: Any) -> Any:
    a: set[int] = set()
    b: set[int] = set()
    for i in range(len(x)):
        a.add(int(x[i]))
        b.add(int(x[i]) * 2)
    return a | b, a & b, a - b, a ^ b, b - a


def changing_operators(x: Any) -> Any:
    a = set(x)
    b = set(x * 2)
    c = a.copy()
    c -= {3, 4}
    d = a.copy()
    d &= b
    e = a.copy()
    e ^= b
    e |= {100}
    e.update([7, 8], range(3))
    return c, d, e


def comparisons(x: Any) -> Any:
    a = set(x[::2])
    b = set(x)
    facts = a <= b, a < b, a >= b, a > b, a == b, a != b, b <= b, b < b, b == b, not a
    return facts, a == {1, 2}, {0, 1} <= b


def more_comparisons(x: Any) -> Any:
    a = set(x[::2])
    b = set(x)
    facts = a.issubset(b), a.issuperset(b), a.isdisjoint(b), b.issuperset(range(3))
    return facts, a.isdisjoint([50]), a.issubset(list(x)), {0, 1} | a == a


def methods(x: Any) -> Any:
    a = set(x)
    b = a.union([1, 2], range(5)).difference({0}, [4])
    c = a.intersection(range(10), b)
    return b, c, a.union(), a.difference(), a.intersection()


def changing_methods(x: Any) -> Any:
    a = set(x)
    b = a.symmetric_difference(range(3))
    b.difference_update([5, 6])
    return b


def more_changing_methods(x: Any) -> Any:
    a = {7, 8, 9}
    a.symmetric_difference_update([7, 7, 10])
    a.intersection_update(x)
    return a


def with_itself(x: Any) -> Any:
    a = set(x)
    b = a
    a |= b
    c = a | a, a & a, a - a, a ^ a
    same = b is a, a == b, a <= b, a.isdisjoint(b)
    a.update(b)
    b ^= a
    return a, b, same, c


def unordered(x: Any) -> Any:
    a = set()
    for v in x:
        a.add(int(v) - 3)
    a.discard(2)
    total = sum(a), sum(a, 5), max(a), min(a), any(a), all(a), len(a), bool(a), max(a, default=1)
    return total, sorted(a), sorted(a, reverse=True)


def comprehensions(x: Any) -> Any:
    squares = {v * v for v in x}
    pairs = {(i % 3, int(v) % 2) for i, v in enumerate(x) if v > 2}
    return squares, pairs, len({v % 7 for v in x}), set(i // 2 for i in range(len(x)))  # noqa: C401


def display_of_elements(x: Any) -> Any:
    count = 0
    for i in range(len(x) - 2):
        if len({x[i], x[i + 1], x[i + 2]}) == 3:
            count += 1
        if x[i] in {x[i + 1], x[i + 2]}:
            count += 100
    return count, {x[0], x[0] + 1}


def types_of_first_keys(x: Any) -> Any:
    a: set[Any] = {True}
    b: set[Any] = set()
    for i in range(len(x)):
        a.add(x[i] % 7)
        b.add(i % 5)
    return a & b, b & a, a, b


def types_of_first_keys_of_sets(x: Any) -> Any:
    a = set(range(3))
    a.update(x)
    b = {v % 4 for v in x}
    return a | b, b | a, a - b, b ^ a


def helpers(x: Any) -> Any:
    seen = set()

    def is_new(v: Any) -> Any:
        if v in seen:
            return False
        seen.add(v)
        return True

    def note(items: Any, v: Any) -> None:
        items.add(v + 1)

    count = 0
    for v in x:
        if is_new(v):
            count += 1
            note(seen, v)
    return count, seen


def shared(x: Any) -> Any:
    a = set()
    b = a
    for v in x:
        a.add(v)
        b.add(v + 1)
    return a, b, a is b, [a, (b, 3)]


def errors_caught(x: Any) -> Any:
    a = set(x[:5])
    missing = 0
    for v in x:
        try:
            a.remove(v)
        except KeyError:
            missing += 1
    return missing, a


def emptied(x: Any) -> Any:
    a = set(x)
    rounds = 0
    while a:
        a.discard(max(a))
        rounds += 1
    return rounds, a, len(a)


# --------------------------------------------------------------------------- names of another set
def parts_without_repeats(x: Any) -> Any:
    current = set()
    parts = 1
    for v in x:
        if v in current:
            parts += 1
            current = set()
        current.add(v)
    return parts, current


def best_group(x: Any) -> Any:
    best: set[Any] = set()
    current: set[Any] = set()
    for v in x:
        if v % 5 == 0:
            if len(current) > len(best):
                best = current
            current = set()
        current.add(v)
        current.discard(v - 1)
    return sorted(best), len(current)


def counts_by_part(x: Any) -> Any:
    counts: dict[Any, int] = {}
    sizes = []
    for v in x:
        if v % 7 == 3:
            sizes.append(len(counts))
            counts = {}
        counts[v] = counts.get(v, 0) + 1
    return sizes, counts


def layers(x: Any) -> Any:
    frontier = {0}
    seen = {0}
    steps = 0
    while frontier and steps < 30:
        following = set()
        for node in sorted(frontier):
            for step in (1, 3):
                other = int(x[(node + step) % len(x)])
                if other not in seen:
                    seen.add(other)
                    following.add(other)
        frontier = following
        steps += 1
    return steps, seen


def united(x: Any) -> Any:
    seen = set()
    for v in x:
        seen = seen | {v, v + 1}
        if len(seen) > 12:
            seen = seen - {v}
    return seen


NUMBERS = [
    *(distinct, has_duplicate, in_order_of_first_use, duplicates, two_sum, pairs_with_difference),
    *(longest_run, first_missing, windows_without_repeats, distinct_in_windows, tabu_search),
    *(collatz, happy_numbers, sieve, sieve_of_candidates, unique_words, visited_states),
    *(operators, changing_operators, comparisons, more_comparisons, methods, changing_methods),
    more_changing_methods,
    *(with_itself, unordered, comprehensions, display_of_elements, types_of_first_keys),
    *(types_of_first_keys_of_sets, helpers, shared, emptied, parts_without_repeats),
    *(best_group, counts_by_part, layers, united),
]
GRAPHS = [reachable, distances, components, has_cycle, distinct_edges]
GRIDS = [islands, shortest_path, game_of_life, ant]
BOARDS = [valid_sudoku, sudoku_candidates]
PROGRAMS = [
    *((f, (X, X[:9], SMALL)) for f in NUMBERS),
    *((f, (EDGES, EDGES[:7])) for f in GRAPHS),
    *((f, (GRID, GRID[:3, :5].copy())) for f in GRIDS),
    *((f, (SUDOKU, SUDOKU[::-1] % 8)) for f in BOARDS),
]


@pytest.mark.parametrize(("function", "calls"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_as_python(function: Callable[..., Any], calls: tuple[Any, ...]) -> None:
    check(function, *((one,) for one in calls), variants=None)


@pytest.mark.parametrize("function", [duplicates, windows_without_repeats, operators, collatz])
def test_compiled(function: Callable[..., Any]) -> None:
    check(function, (X,), (SMALL,), jit=True, variants=None)


def test_sets_get_room() -> None:
    """Tens of thousands of keys, then few: the same variant serves all sizes."""

    def filled(x: Any) -> Any:
        seen = set()
        pairs = set()
        removed = 0
        for i in range(len(x)):
            if x[i] in seen and x[i] % 3 == 0:
                seen.remove(x[i])
                removed += 1
            else:
                seen.add(x[i])
            pairs.add((i % 700, x[i] % 50))
        return seen, pairs - {(0, 1)}, len(seen | {-1, -2}), removed, sum(seen)

    fused = decorate(filled, jit=True, fullgraph=True)
    for count in (10, 5000, 200, 60_000, 3):
        x = np.random.default_rng(count).integers(0, count, count)
        compare_outcomes(run(filled, (x,)), run(fused, (x,)), Bound(), f"{count} elements")
    assert len(fused.variants) == 1


def test_order_without_removals() -> None:
    """A set to which keys were only added is filled in the same order: CPython's order, too."""

    def added(x: Any) -> Any:
        seen = {7}
        for v in x:
            seen.add(v * 1001 % 5000)
        return seen

    x = RNG.integers(0, 10_000, 300)
    assert [*decorate(added, jit=False)(x)] == [*added(x)]


# ------------------------------------------------------------------------------------------ errors
def missing(x: Any) -> Any:
    found = set(x)
    for v in x:
        found.remove(v + 1)
    return found


def missing_pair(x: Any) -> Any:
    found = {(1, 2)}
    for v in x:
        x[0] = 77
        found.remove((v, v))
    return found


def changed_while_run_over(x: Any) -> Any:
    found = {0}
    for key in found:
        if x[key] >= 0:
            found.add(key + 1)
    return found


def largest_of_none(x: Any) -> Any:
    found = set(x)
    for v in x:
        found.discard(v)
    return max(found)


def set_and_list(x: Any) -> Any:
    found = set(x)
    return found | [1]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [missing, missing_pair, changed_while_run_over, largest_of_none, set_and_list],
)
def test_errors(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for x in (X, SMALL):
        expected = run(function, (x,))
        assert expected.error is not None
        compare_outcomes(expected, run(fused, (x,)), Bound(), function.__name__)


# ---------------------------------------------------------------------------------- left to Python
def in_order_of_the_set(x: Any) -> Any:
    found = set(x)
    out = []
    for v in found:
        out.append(v)
    return out, list(found), [v * 2 for v in found]


def order_after_removals(x: Any) -> Any:
    found = set()
    for v in x:
        found.add(v * 37)
    for v in x[::2]:
        found.discard(v * 37)
    for v in x[::3]:
        found.add(v * 11)
    return list(found), tuple(found)


def order_of_merged_sets(x: Any) -> Any:
    found = {v * 37 for v in x}
    return list(found | {1, 99, 8, 16, 24}), [*enumerate({8, 0, 16, 24, 32, 40})]


def popped(x: Any) -> Any:
    left = {int(v) * 17 for v in x}
    order = []
    while left:
        order.append(left.pop())
    return order


def float_keys(x: Any) -> Any:
    found = set()
    for v in x:
        found.add(v * 0.5)
    return sorted(found)


def mixed_keys(x: Any) -> Any:
    found: set[Any] = set()
    for v in x:
        found.add(v)
        found.add((v, 1))
        found.add(None)
    return len(found), 1.0 in found, "a" in found


def sets_in_a_list(x: Any) -> Any:
    neighbours: list[set[Any]] = [set() for _ in range(6)]
    for i in range(len(x)):
        neighbours[x[i] % 6].add(x[i - 1])
    return [len(one) for one in neighbours], neighbours


def exchanged(x: Any) -> Any:
    a: set[Any] = set()
    b: set[Any] = set()
    for v in x:
        a.add(v)
        if v > 12:
            a, b = b, a
    return a, b


def another_of_two(x: Any) -> Any:
    a: set[Any] = set()
    b = a
    for v in x:
        b.add(v)
        if v > 12:
            a = set()
        a.add(-v)
    return a, b, a is b


def joined_names(x: Any) -> Any:
    a: set[Any] = set()
    b: set[Any] = set()
    for v in x:
        a.add(v)
        if v > 12:
            b = a
        b.add(-v)
    return a, b, a is b


def returned_twice(x: Any) -> Any:
    best: set[Any] = set()
    current: set[Any] = {x[0]}
    for v in x:
        if v > 20:
            best = current
            current = {v}
    return best, current


def frontiers(x: Any) -> Any:
    frontier = {0}
    seen = {0}
    steps = 0
    while frontier and steps < 50:
        following = set()
        for node in frontier:
            for step in (1, 3):
                other = int(x[(node + step) % len(x)])
                if other not in seen:
                    seen.add(other)
                    following.add(other)
        frontier = following
        steps += 1
    return steps, seen


def one_of_two_names(x: Any) -> Any:
    small: set[Any] = set()
    large: set[Any] = set()
    for v in x:
        chosen = small if v < 10 else large
        chosen.add(v)
    return small, large


def two_names_under_a_condition(x: Any) -> Any:
    found: set[Any] = set()
    other = found
    for v in x:
        found.add(v)
        if v == 3:
            other = {100}
        other.add(50)
    return found, other, other is found


def copies_of_few(x: Any) -> Any:
    a: list[int] = []
    b = set(a)
    c = set(b)
    if len(x) > 3:
        c.add(3)
    return b is c, b, c


def frozen(x: Any) -> Any:
    found = set(x)
    return frozenset(found), frozenset([1, 2]) | found, found | frozenset([1, 2])


def sets_of_python(x: Any) -> Any:
    found = {"a", 1.5}
    found.add("b")
    if x[0] > 3:
        found.add("c")
    return found, {3}.union(x), {1}.isdisjoint(x)


def sum_of_several_types(x: Any) -> Any:
    found: set[Any] = set()
    for i in range(len(x)):
        found.add(np.int8(i % 100))
        found.add(int(x[i]) * 1000)
    return len(found)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "function",
    [
        *(in_order_of_the_set, order_after_removals, order_of_merged_sets, popped, float_keys),
        *(mixed_keys, sets_in_a_list, frontiers, one_of_two_names),
        *(errors_caught, exchanged, another_of_two, joined_names, returned_twice),
        *(two_names_under_a_condition, frozen, copies_of_few, sets_of_python, sum_of_several_types),
    ],
)
def test_as_python_wherever_it_runs(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for x in (X, X[:20], SMALL):
        compare_outcomes(run(function, (x,)), run(fused, (x,)), Bound(), function.__name__)


# ------------------------------------------------------------------------------------ from outside
KNOWN = {3, 5, 8}


def of_the_caller(x: Any, given: Any) -> Any:
    count = 0
    for v in x:
        if v in given or v in KNOWN or v in {1, 2}:
            count += 1
    given |= {100}
    given.add(len(given))
    return count


def test_sets_from_outside() -> None:
    fused = decorate(of_the_caller, jit=False)
    for given in ({3, 4}, {1}, set()):
        compare_outcomes(run(of_the_caller, (X, given)), run(fused, (X, given)), Bound(), "outside")
