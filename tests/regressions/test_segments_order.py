"""What is computed in front of a statement of Python is computed in Python's order.

Values of an f-string were all computed before the text of the first was made; the object of a
method, the target of an augmented assignment, names that inner functions bind, and what a lambda
or a generator evaluates where it is made were read too late.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fusejit.testing.segments_check import check_segments

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


@pytest.mark.parametrize(
    "function",
    [text, object_of_a_method, augmented, bound_by_inner, generator, default_of_a_lambda],
    ids=lambda f: f.__name__,
)
def test_order(function: Any) -> None:
    check_segments(function, (X, Log()))
