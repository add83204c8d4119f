"""Generators of numbers and texts, which run at once where a loop over them begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python


def neighbours(i: int, j: int, n: int, m: int) -> Iterator[tuple[int, int]]:
    for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        a, b = i + di, j + dj
        if 0 <= a < n and 0 <= b < m:
            yield a, b


def sums_of_neighbours(n: int) -> Any:
    grid, total, first = np.arange(n * n).reshape(n, n) * 0.5, 0.0, 0
    for i in range(n):
        for j in range(n):
            for a, b in neighbours(i, j, n, n):
                total += grid[a, b]
            for a, b in neighbours(i, j, n, n):
                if a == 1:
                    first += b
                    break
    return total, first


def words(line: str) -> Iterator[str]:
    word = ""
    for c in line:
        if c.isalpha():
            word += c.lower()
        elif word:
            yield word
            word = ""
    if word:
        yield word


def word_counts(lines: list[str]) -> Any:
    counts: dict[str, int] = {}
    for line in lines:
        for word in words(line):
            counts[word] = counts.get(word, 0) + 1
    return counts


def collatz(n: int) -> Iterator[int]:
    while n != 1:
        yield n
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    yield 1


def longest_collatz(n: int) -> Any:
    best = 0
    for i in range(1, 4 * n):
        best = max(best, len(list(collatz(i))))
    return best, sum(collatz(7)), max(collatz(n)), [x * 2 for x in collatz(n)], tuple(collatz(n))


def permutations(iterable: Any, r: int | None = None) -> Iterator[tuple[int, ...]]:
    pool = tuple(iterable)
    n = len(pool)
    if r is None:
        r = n
    indices = list(range(n))
    cycles = list(range(n - r + 1, n + 1))[::-1]
    yield tuple(pool[i] for i in indices[:r])
    while n:
        for i in reversed(range(r)):
            cycles[i] -= 1
            if cycles[i] == 0:
                indices[i:] = indices[i + 1 :] + indices[i : i + 1]
                cycles[i] = n - i
            else:
                j = cycles[i]
                indices[i], indices[-j] = indices[-j], indices[i]
                yield tuple(pool[i] for i in indices[:r])
                break
        else:
            return


def permuted(n: int) -> Any:
    total = 0
    for one in permutations(range(min(n, 4))):
        total = total * 31 % 1000003 + one[0] * 7 + one[-1]
    return total


@pytest.mark.parametrize("function", [sums_of_neighbours, longest_collatz, permuted])
def test_whole(function: Callable[..., Any]) -> None:
    fused = check_against_python(function, [(n,) for n in (20, 3, 5)])
    assert not fused.variants.fallbacks
    assert fused.variants.newest_segmented is None


def test_texts() -> None:
    lines = ["The cat, the dog", "and A cat", "", "x", "on the mat.", "the end"]
    fused = check_against_python(word_counts, [(lines,), (lines[2:] * 2,)])
    assert not fused.variants.fallbacks
    assert fused.variants.newest_segmented is None


def first_beyond(n: int) -> Any:
    """The loop ends early, and the generator would raise in the end; stores come first."""
    out = np.zeros(2)
    for k in range(n):
        out[0] += k
        for x in tenths(n):
            out[1] += x
            if x > 1:
                break
    return out


def test_jitted() -> None:
    check_against_python(longest_collatz, [(6,), (20,)], jit=True)


def forever() -> Iterator[int]:
    k = 0
    while True:
        yield k
        k += 1


def ended_by_the_loop(n: int) -> Any:
    total = 0
    for i in range(n):
        for x in forever():
            if x > i:
                break
            total += x
    return total, [a for a, _ in zip(forever(), range(n), strict=False)], next(forever())


def ended_by_an_error(n: int) -> Any:
    total = 0
    for x in forever():
        if x > n:
            raise ValueError(x)
        total += x
    return total


def naturals(k: int) -> Iterator[int]:
    while k >= 0:
        yield k
        k += 1


def ended_by_an_error_only(n: int) -> Any:
    total = 0
    for x in naturals(0):
        if x > n:
            raise ValueError(x)
        total += x
    return total


def test_generators_without_an_end() -> None:
    """Compiled code asked `naturals` for all items before the loop began, and did not return."""
    check_against_python(ended_by_an_error_only, [(3,), (5,)], jit=True)


def tenths(n: int) -> Iterator[int]:
    for i in range(n, -1, -1):
        yield 10 // i


def before_an_error(n: int) -> Any:
    out = np.zeros(3)
    total = 0
    out[0] = 1
    for x in tenths(n):
        total += x
        if total > 12:
            return total, out
    return total, any(x > 1 for x in tenths(n)), out


def of_texts(n: int) -> Any:
    text = ""
    for _ in range(n):
        text += "ab "
    found = words(text)
    text += "zz "
    return list(found), text


def that_changes_a_list(n: int) -> Iterator[Any]:
    row = [0]
    for k in range(n):
        row[0] = k
        yield row


def of_one_list(n: int) -> Any:
    seen = []
    for row in that_changes_a_list(n):
        seen.append(row[0])
    return seen, list(that_changes_a_list(n))


def read_twice(n: int) -> Any:
    found = collatz(n)
    first = list(found)
    other = collatz(n)
    return first, list(found), next(other), list(other), 4 in collatz(n)


def of_a_list(items: Any) -> Iterator[Any]:
    for k in range(len(items)):
        yield items[k]


def of_a_list_that_changes(n: int) -> Any:
    items, total = [1] * n, 0
    for k, x in enumerate(of_a_list(items)):
        total = total * 2 + x
        if k + 1 < n:
            items[k + 1] = k
    return total


def squares(n: int) -> Iterator[Any]:
    for k in range(n):
        yield [word * k for word in range(3)]


def of_comprehensions(n: int) -> Any:
    return [sum(row) for row in squares(n)]


LIMIT = [3]


def up_to_the_limit(n: int) -> Iterator[int]:
    for k in range(n):
        if k < LIMIT[0]:
            yield k


def with_a_limit_that_changes(n: int) -> Any:
    LIMIT[0], total = 3, 0
    for k in up_to_the_limit(n):
        total += k
        LIMIT[0] = 5
    LIMIT[0] = 3
    return total


@pytest.mark.parametrize(
    "function",
    [
        *(ended_by_the_loop, ended_by_an_error, before_an_error, read_twice),
        *(of_a_list_that_changes, with_a_limit_that_changes, of_comprehensions),
        *(of_texts, of_one_list, first_beyond),
    ],
)
def test_as_python(function: Callable[..., Any]) -> None:
    check_against_python(function, [(n,) for n in (6, 3, 9)])
