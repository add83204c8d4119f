"""``tuple(xs)`` of lists that only the kernel counts: results, keys, states, items of lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fusejit_testing.against_python import check_against_python


def rotations(n: int) -> Any:
    out, xs = [], list(range(n))
    for i in range(n):
        xs[i % n], xs[0] = xs[0], xs[i % n]
        out.append(tuple(xs))
    return out


def queens(n: int) -> Any:
    solutions, placed = [], []
    columns, rising, falling = set(), set(), set()

    def put(row: int) -> None:
        if row == n:
            solutions.append(tuple(placed))
            return
        for col in range(n):
            if col in columns or row + col in rising or row - col in falling:
                continue
            columns.add(col)
            rising.add(row + col)
            falling.add(row - col)
            placed.append(col)
            put(row + 1)
            placed.pop()
            columns.remove(col)
            rising.remove(row + col)
            falling.remove(row - col)

    put(0)
    return solutions


def states_seen(n: int) -> Any:
    seen, counts, state = set(), {}, []
    for i in range(n):
        state.append(i * 7 % 3)
        if len(state) > 3:
            state.pop(0)
        key = tuple(state)
        if key in seen:
            counts[key] = counts.get(key, 0) + 1
        seen.add(key)
    return counts, len(seen)


def operators(n: int) -> Any:
    xs = []
    for i in range(n):
        xs.append(i)
    t = tuple(xs)
    u = (*t, n)
    v = t[1:] + t[:1] * 2
    old = t
    t += (5, 6)
    questions = (len(t), t[-1], t == u, t < v, t >= u, 3 in t, t.index(0), t.count(5), old != t)
    return t, u, v, old, questions, isinstance(t, tuple), [*t, 1], list(t)


def of_generators(n: int) -> Any:
    return tuple(i * i for i in range(n)), tuple([i for i in range(n) if i % 2])


def state_of_a_loop(n: int) -> Any:
    words = []
    for i in range(n):
        words.append(i % 3)
    chain, state = {}, tuple(words[:2])
    for word in words[2:]:
        if state in chain:
            chain[state] += 1
        else:
            chain[state] = 1
        state = (*state[1:], word)
    return chain, state


def largest(n: int) -> Any:
    out = []
    for i in range(n):
        xs = []
        for k in range(i):
            xs.append((k * 7) % 5)
        out.append((i % 3, tuple(xs)))
    out.sort()
    return max(out), min(out)[1], out


def beside_texts(n: int) -> Any:
    counts = {}
    for i in range(n):
        word = []
        for k in range(i % 4):
            word.append("ab"[(i + k) % 2])
        key = (tuple(word), i % 2)
        counts[key] = counts.get(key, 0) + 1
    return counts


def of_several_lengths(n: int) -> Any:
    out, xs, seen = [(1, 2), ()], [], set()
    for i in range(n):
        xs.append(i)
        out.append(tuple(xs))
        out.append((i, i + 1))
        seen.add((i, i + 1))
        seen.add(tuple(xs[-2:]))
    k = 0
    for t in out:
        if t in seen:
            k += 1
    out.sort()
    return out, len(seen), k, (0, 1) in seen, () in seen


def grown(n: int) -> Any:
    t, last = (), ()
    for i in range(n):
        t = t + (i,)  # noqa: RUF005
        last += (i * 2,)
        if len(last) > 3:
            last = last[1:]
    return t, last, len(last)


def digits(n: int) -> Any:
    found, n = (), n * 12345
    while n > 0:
        found = (n % 10, *found)
        n //= 10
    return found


def states_of_several_lengths(n: int) -> Any:
    xs, state, seen = [], (0, 0), {(0, 0)}
    other = tuple(xs)
    for i in range(n):
        xs.append(i % 3)
        state = tuple(xs[-2:])
        if state in seen:
            state = (9,)
        seen.add(state)
        if i == 3:
            other = (5, 6, 7)
        if i == 4:
            other = tuple(xs)
    return state, len(seen), other


WHOLE = (
    *(rotations, queens, states_seen, operators, of_generators, state_of_a_loop, largest),
    *(beside_texts, of_several_lengths, grown, digits, states_of_several_lengths),
)


@pytest.mark.parametrize("function", WHOLE)
def test_whole(function: Callable[..., Any]) -> None:
    fused = check_against_python(function, [(n,) for n in (6, 4, 3, 5)])
    assert not fused.variants.fallbacks
    assert fused.variants.newest_segmented is None


@pytest.mark.parametrize("function", [states_seen, queens, state_of_a_loop])
def test_jitted(function: Callable[..., Any]) -> None:
    check_against_python(function, [(n,) for n in (6, 7)], jit=True)


def changed(n: int) -> Any:
    xs = []
    for i in range(n):
        xs.append(i)
    t = tuple(xs)
    if n > 4:
        t[0] = 5
    return t


def of_another_kind(n: int) -> Any:
    xs = []
    for i in range(n):
        xs.append(i)
    return tuple(xs) + xs


def the_list_afterwards(n: int) -> Any:
    xs, out = [], []
    for i in range(n):
        xs.append(i)
        t = tuple(xs)
        out.append(t)
        xs[0] = i * 2
        if i % 3 == 2:
            t = out[0]
    return xs, out, t


def identities(n: int) -> Any:
    xs = []
    for i in range(n):
        xs.append(i)
    t = tuple(xs)
    return t is tuple(t), t is tuple(xs), [t, t]


@pytest.mark.parametrize("function", [changed, of_another_kind, the_list_afterwards, identities])
def test_as_python(function: Callable[..., Any]) -> None:
    check_against_python(function, [(n,) for n in (4, 6, 3)])


def empty_tuples(n: int) -> Any:
    found, none = [], []
    for _ in range(n):
        found.append(tuple(none))
    return found, tuple(none)


def displayed_empty_tuples(n: int) -> Any:
    found = []
    for _ in range(n):
        found.append(())
    return found


@pytest.mark.parametrize("program", [empty_tuples, displayed_empty_tuples])
def test_a_list_of_empty_tuples_has_no_columns(program: Any) -> None:
    """Regression: the launcher's text was no Python. Found by a random program (states)."""
    check_against_python(program, [(30,), (50,), (0,)])
