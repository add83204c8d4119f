"""A list grew once, not in each iteration: a traced loop body runs only once.

The body runs once while it is traced, so lists were appended to once, attributes and nonlocal names
counted up once, iterators moved on once, and conditionals changed them whatever the condition.
Now a loop whose body does that is unrolled, and a conditional is refused, if it is no list that the
function has made: kernels change these themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.array([1.5, -2.0, 0.25, 4.0, -0.5, 3.0])


def nonlocal_name(x: Any) -> Any:
    count = 0

    def add() -> None:
        nonlocal count
        count += 1

    for _ in range(len(x)):
        add()
    return count


def appended(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append(x[i] * i)
    return out


def extended_in_place(x: Any) -> Any:
    numbers = [1]
    for i in range(len(x)):
        numbers += [i]
    return len(numbers), numbers


def dict_entry(x: Any) -> Any:
    d = {"n": 0}
    for _ in range(len(x)):
        d["n"] += 1
        d.update(m=d["n"] * 2)
    return d


class Box:
    def __init__(self) -> None:
        self.n = 0

    def count(self) -> None:
        self.n += 1


def attribute(x: Any) -> Any:
    box = Box()
    for _ in range(len(x)):
        box.count()
    return box.n


def mutable_default(x: Any) -> Any:
    def count(seen: list[int] = [0]) -> int:  # noqa: B006
        seen[0] += 1
        return seen[0]

    s = 0
    for _ in range(len(x)):
        s += count()
    return s


def iterator(x: Any) -> Any:
    numbers = iter(range(10))
    s = 0
    for _ in range(len(x)):
        s += next(numbers)
    return s


def generator(x: Any) -> Any:
    def numbers() -> Any:
        n = 0
        while True:
            n += 1
            yield n

    g = numbers()
    s = 0
    for _ in range(len(x)):
        s += next(g)
    return s


def pairs(x: Any) -> Any:
    numbers = zip(range(10), [3, 1, 4, 1, 5, 9, 2], strict=False)
    s = 0
    for _ in range(len(x)):
        a, b = next(numbers)
        s += a * b
    return s


def arrays_in_a_list(x: Any) -> Any:
    a = [x.copy(), x + 1]
    for i in range(len(x)):
        a[0], a[1] = a[1], a[0]
        a[0][i] = 5
    return a[0], a[1]


def functions(x: Any) -> Any:
    made = []
    for i in range(len(x)):
        made.append(lambda: i)  # noqa: B023
    return [f() for f in made]


def unchanged(x: Any) -> Any:
    weights = [0.5, 0.25]
    box = Box()
    s = np.float64(0.0)
    for i in range(len(x)):
        work = [x[i], 1.0]
        work.append(2.0)
        s += work[0] * weights[0] + weights[1] * work[2] + box.n
    return s


LOOPS = [
    nonlocal_name,
    appended,
    extended_in_place,
    dict_entry,
    attribute,
    mutable_default,
    iterator,
    generator,
    pairs,
    arrays_in_a_list,
    functions,
]


@pytest.mark.parametrize("function", LOOPS)
def test_loops(function: Callable[..., Any]) -> None:
    check(function, (X,))


def test_what_the_body_makes_itself_does_not_count() -> None:
    variants = check(unchanged, (X,), (X[:3],), (X[:5],)).variants
    assert len(variants) == 1


def list_under_a_condition(x: Any) -> Any:
    out = []
    if x[0] > 0:
        out.append(1)
    return len(out)


def set_under_a_condition(x: Any) -> Any:
    seen = set()
    for i in range(len(x)):
        if x[i] > 100:
            seen.add(1)
    return len(seen)


def nonlocal_under_a_condition(x: Any) -> Any:
    flag = False

    def mark() -> None:
        nonlocal flag
        flag = True

    for i in range(len(x)):
        if x[i] > 100:
            mark()
    return flag


def in_an_expression(x: Any) -> Any:
    out: list[int] = []
    x[0] > 0 and out.append(1)
    return len(out)


@pytest.mark.parametrize(
    "function",
    [
        list_under_a_condition,
        set_under_a_condition,
        in_an_expression,
        nonlocal_under_a_condition,
    ],
)
def test_state_of_the_function(function: Callable[..., Any]) -> None:
    check(function, (X,), (-X,))
