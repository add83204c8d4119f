"""A list that stands in several places of a result is one object there, as in Python.

Regression: Kernels hold a copy for each place, and each became a list of its own: who changed
``result[0]`` did not change ``result[1]``. Found by a random program (lists, seed 71000025).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python
from fusejit_testing.oracle import decorate

Program = Callable[..., Any]


def replaced(x: Any) -> Any:
    rows = []
    for _ in range(len(x)):
        rows.append([5])
        if len(rows) > 1:
            rows[0] = rows[1]
    return rows


def repeated(x: Any) -> Any:
    rows, found = [], []
    for i in range(len(x)):
        rows.append([i])
    for i in range(len(x)):
        found.append(rows[i // 2])
    return found


def handed_on(x: Any) -> Any:
    rows = []
    for i in range(len(x)):
        rows.append([i])
    for i in range(1, len(x)):
        rows[i] = rows[i - 1]
    return rows


def of_groups(x: Any) -> Any:
    groups: dict[int, list[int]] = {}
    for i in range(len(x)):
        groups.setdefault(i % 3, []).append(i)
    return [groups[i % 3] for i in range(len(x))]


def under_keys(x: Any) -> Any:
    groups: dict[int, list[int]] = {}
    for i in range(len(x)):
        groups.setdefault(i % 3, []).append(i)
    found = {}
    for i in range(len(x)):
        found[i] = groups[i % 3]
    return found


def of_lists_that_are_gone(x: Any) -> Any:
    """Each of them began with its first list."""
    rows, found = [], []
    for i in range(len(x)):
        rows.append([i, i + 1])
    for i in range(len(x)):
        inner = []
        inner.append([i])
        found.append(inner[0])
        found.append(rows[0])
    return found


def exchanged(x: Any) -> Any:
    rows = []
    for i in range(len(x)):
        rows.append([i])
    rows[0], rows[1] = rows[1], rows[0]
    return [rows[0], rows[2], rows[0]]


def reversed_and_chosen(x: Any) -> Any:
    rows = [[i % 3] for i in range(len(x))]
    rows.reverse()
    found = [row for row in rows if row[0] != 1]
    found.append(found[0])
    found.insert(0, [9])
    rows.clear()
    rows.append([7])
    return found


PROGRAMS = (
    *(replaced, repeated, handed_on, of_groups, under_keys, of_lists_that_are_gone),
    *(exchanged, reversed_and_chosen),
)


def places(result: Any) -> list[list[int]]:
    """Where each list stands."""
    rows = [*result.values()] if isinstance(result, dict) else result
    return [[at for at, other in enumerate(rows) if other is row] for row in rows]


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_python(program: Program, jit: bool) -> None:
    fused = decorate(program, jit=jit, fullgraph=True)
    for n in (6, 9, 4):
        expected, actual = program(np.arange(n)), fused(np.arange(n))
        assert expected == actual
        assert places(expected) == places(actual)


def taken_out_of_two_places(n: int) -> Any:
    rows = []
    for i in range(n):
        rows.append([i, i + 1])
    for i in range(n):
        rows.append(rows[i])
    row = rows.pop()
    row.append(99)
    row[0] = 7
    return rows[n - 1], len(rows)


def test_a_list_that_is_taken_out_of_one_of_two_places() -> None:
    """``rows.pop()`` gave a copy: items appended to it were missing in the other place."""
    check_against_python(taken_out_of_two_places, [(3,), (5,)])


def rows_of(n: int) -> list[list[int]]:
    rows = []
    for i in range(n):
        rows.append([i, 1])
    return rows


def in_pairs(n: int) -> Any:
    rows = rows_of(n)
    return list(zip(rows, rows, strict=True))


def in_nested_tuples(n: int) -> Any:
    rows, found = rows_of(n), []
    for i in range(n):
        found.append((1, (rows[i], 2), rows[-1]))
    return found


def one_pair(n: int) -> Any:
    rows, found = rows_of(n), []
    for i in range(n):
        found.append((rows[i], rows[i]))
    return found[0]


def pairs_under_keys(n: int) -> Any:
    pairs, found = in_pairs(n), {}
    for i in range(n):
        found[i] = pairs[i]
    return found


@pytest.mark.parametrize("program", [in_pairs, in_nested_tuples, one_pair, pairs_under_keys])
def test_a_list_in_two_parts_of_a_tuple(program: Program) -> None:
    """Each part became a list of its own."""
    check_against_python(program, [(3,), (5,)])


def a_set_behind_another_return(x: Any) -> Any:
    found = {int(w) for w in x}
    other = found
    for i in range(len(x)):
        if x[i] < 1:
            return found, 5
    return found, other, 6


def a_list_behind_another_return(x: Any) -> Any:
    rows, counts = [], []
    for w in x:
        rows.append(int(w))
        counts.append(1)
    if x[0] > 5:
        return counts, counts, rows
    return rows, rows


def a_dictionary_or_two(x: Any) -> Any:
    found = {}
    for w in x:
        found[int(w)] = 1
    if x[0] > 5:
        return found
    return found, found


RETURNS = [a_set_behind_another_return, a_list_behind_another_return, a_dictionary_or_two]


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("program", RETURNS, ids=lambda p: p.__name__)
def test_one_container_in_one_of_several_results(program: Program, jit: bool) -> None:
    """It became two where results of other lengths are returned, too (sets, seed 97000353)."""
    calls = [(np.array(values),) for values in ([5, 9, 7], [5, 0, 7], [9, 0, 7], [9, 2, 7])]
    check_against_python(program, calls, jit=jit)
    fused = decorate(program, jit=jit, fullgraph=True)
    for (x,) in calls:
        assert fused(x) == program(x)
