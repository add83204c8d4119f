"""Values of an f-string came out of order: segments computed them before the texts.

Values of an f-string were all computed before the text of the first was made; the object of a
method, the target of an augmented assignment, names that inner functions bind, and what a lambda or
a generator evaluates where it is made were read too late. So were methods and functions that an
argument binds again, keys of a dict, global names that ``+=`` binds, and text of an array into
which a function of NumPy stores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fusejit_testing.programs.segments_check import check_segments

X = np.arange(6.0) / 4 - 0.5


@dataclass
class Log:
    items: list[Any] = field(default_factory=list)
    n: float = 1.0
    inner: Any = None

    def add(self, *values: Any) -> None:
        self.items.append(values)


def raised(a: Any) -> Any:
    a += 1
    return a.sum()


def replaced(log: Any) -> Any:
    log.inner = Log()
    return 5.0


def text(x: Any, log: Any) -> Any:
    log.add(f"{x} {raised(x)}", f"{x[0]:.2f} and {x.sum():.2f}")
    return x * 2


def object_of_a_method(x: Any, log: Any) -> Any:
    log.inner = first = Log()
    log.inner.add(replaced(log) * 2)
    return first.items, log.inner.items, x * 2


def augmented(x: Any, log: Any) -> Any:
    log.inner = first = Log()
    log.inner.n += replaced(log) * x.sum()
    return first.n, log.inner.n


def bound_by_inner(x: Any, log: Any) -> Any:
    calls = 0

    def step(t: Any) -> Any:
        nonlocal calls
        calls += 1
        return t + 1

    log.add(calls, step(x), calls)
    y = x * 2
    log.add(calls, step(y) * 2)
    return calls


def generator(x: Any, log: Any) -> Any:
    def noted(v: Any) -> Any:
        log.add(v)
        return v

    def consumed(values: Any, k: Any) -> Any:
        return sum(values) + k

    return consumed((t for t in noted([1, 2])), noted(3)) + x.sum()


def default_of_a_lambda(x: Any, log: Any) -> Any:
    def noted(v: Any) -> Any:
        log.add(v)
        return v

    def called(function: Any, k: Any) -> Any:
        return function(2) + k

    return called(lambda t, k=noted(7): t * k, noted(3)) + x.sum()  # noqa: B008


TOTAL = 0.0


def counted(a: Any) -> Any:
    global TOTAL
    TOTAL += 10.0
    return a * 2


def global_name_in_place(x: Any, log: Any) -> Any:
    global TOTAL
    TOTAL = 1.0
    TOTAL += counted(x).sum()
    log.add(TOTAL)
    return x + TOTAL


def inner_name_in_place(x: Any, log: Any) -> Any:
    n = 1.0

    def step(t: Any) -> Any:
        nonlocal n
        n += 10.0
        log.add(n)
        return t * 2

    n += step(x).sum() + 1
    return n


def stored_by_position(x: Any, log: Any) -> Any:
    log.add(f"{x} {np.multiply(x, 2, x)[0]} {x.clip(-1, 1, x)[0]}")
    return x


def method_bound_anew(x: Any, log: Any) -> Any:
    log.method = lambda t: log.add("first", t)

    def other() -> Any:
        log.method = lambda t: log.add("second", t)
        return x

    log.method(other() * 2)
    log.method = None
    return x


def function_bound_anew(x: Any, log: Any) -> Any:
    def shown(t: Any) -> Any:
        log.add("first", t)

    def other() -> Any:
        nonlocal shown
        shown = log.add
        return x

    shown(other() * 2)
    return x


def key_of_a_dict(x: Any, log: Any) -> Any:
    log.inner = "first"
    made = {log.inner: replaced(log) + x.sum(), "n": 2}
    return sorted(made)


def format_of_a_value(x: Any, log: Any) -> Any:
    log.add(f"{x.sum():{int(raised(x) * 0) + 5}} {x[0]}")
    return x


@pytest.mark.parametrize(
    "function",
    [
        text,
        object_of_a_method,
        augmented,
        bound_by_inner,
        generator,
        default_of_a_lambda,
        global_name_in_place,
        inner_name_in_place,
        stored_by_position,
        method_bound_anew,
        function_bound_anew,
        key_of_a_dict,
        format_of_a_value,
    ],
    ids=lambda f: f.__name__,
)
def test_order(function: Any) -> None:
    check_segments(function, (X, Log()))
