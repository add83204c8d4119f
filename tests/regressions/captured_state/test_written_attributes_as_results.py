"""A function returns what it has written to an attribute, not what the attribute held before.

Regression: `o.k = o.k + int(x[0] > 0); return o.k` returned the old number, silently: a number of
the kernel that lay under a path was taken for one that the caller had put there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

X = np.array([1.0, -2.0, 3.0, 0.5])


class Counter:
    """An object with numbers, a text and an array."""

    def __init__(self) -> None:
        self.k = 2
        self.t = 1.5
        self.z = 1 + 2j
        self.name = "a"
        self.nothing: Any = None
        self.is_new = True
        self.v = np.zeros(4)


def one(x: Any, o: Any) -> Any:
    o.k = o.k + int(x[0] > 0)
    return o.k


def beside_an_array(x: Any, o: Any) -> Any:
    o.k = o.k + int(x[0] > 0)
    o.v += x
    return o.v, o.k


def in_a_list(x: Any, o: Any) -> Any:
    o.k += int(x[0])
    first = {"k": o.k}
    o.k += int(x[1])
    return first, [o.k, o.k * 2], x * o.k


def old_and_new(x: Any, o: Any) -> Any:
    old = o.k
    o.k = old + int(x[0])
    return old, o.k, o.k + old


def floats(x: Any, o: Any) -> Any:
    o.t = float(x[1]) * o.t
    return o.t, (o.t, o.k)


def elements(x: Any, o: Any) -> Any:
    o.t = x[1] * o.t
    o.k = x.sum()
    return o.t, o.k


def booleans(x: Any, o: Any) -> Any:
    o.is_new = bool(x[0] > 5)
    o.nothing = x[1] < 0
    return o.is_new, o.nothing


def complex_numbers(x: Any, o: Any) -> Any:
    old = o.z
    o.z = old * complex(x[1])
    return old, o.z, o.z * 2


def texts(x: Any, o: Any) -> Any:
    o.name = o.name + "b"
    o.nothing = 3
    return o.name, o.nothing, x * 2


def in_a_loop(x: Any, o: Any) -> Any:
    for i in range(len(x)):
        o.k = o.k + int(x[i] > 0)
        o.v[i % 4] += x[i] * o.k
    return o.v, o.k


PROGRAMS = (
    *(one, beside_an_array, in_a_list, old_and_new, floats, elements, booleans, complex_numbers),
    *(texts, in_a_loop),
)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_what_was_written(program: Callable[..., Any], jit: bool) -> None:
    fused = decorate(program, jit=jit)
    for sign in (1.0, -1.0, 2.0):
        plain, given = Counter(), Counter()
        assert_same(program(X * sign, plain), fused(X * sign, given))
        assert_same(vars(plain), vars(given))
