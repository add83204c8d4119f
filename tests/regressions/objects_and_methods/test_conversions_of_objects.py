"""`if o` kept its first answer: the tracer converted the object during tracing.

Where a function of the tracer asked in place of Python, the first answer stayed in the variant,
and the effects of such a method were done while tracing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit

X = np.arange(4.0)


class Thing:
    def __init__(self) -> None:
        self.n = 1
        self.asked: list[str] = []

    def _answer(self, name: str) -> int:
        self.asked.append(name)
        return self.n

    def __bool__(self) -> bool:
        return self._answer("bool") > 0

    def __index__(self) -> int:
        return self._answer("index")

    def __float__(self) -> float:
        return float(self._answer("float"))

    def __len__(self) -> int:
        return self._answer("len")

    def __str__(self) -> str:
        return str(self._answer("str"))

    def __iter__(self) -> Iterator[int]:
        return iter([self._answer("iter")] * 2)

    def __contains__(self, k: object) -> bool:
        return self._answer("contains") > 0

    def __enter__(self) -> Thing:
        self.asked.append("enter")
        return self

    def __exit__(self, *error: object) -> None:
        self.asked.append("exit")


def branch(x: Any, o: Any) -> Any:
    return x * 2 if o else x


def condition(x: Any, o: Any) -> Any:
    while o:
        return x * 2
    return x if not o else x * 3


def index(x: Any, o: Any) -> Any:
    return x[o] * 2, x[o:] * 2, np.zeros(o)


def text(x: Any, o: Any) -> Any:
    return str(o), f"{o}", x + 1


def number(x: Any, o: Any) -> Any:
    return x * float(o), x * len(o)


def elements(x: Any, o: Any) -> Any:
    return [t * x for t in o], sum(o) * x, 3 in o


def context(x: Any, o: Any) -> Any:
    y = x * 2
    with o:
        y = y + 1
    return y * 2


@pytest.mark.parametrize(
    "function",
    [branch, condition, index, text, number, elements, context],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy")
def test_conversions(function: Any) -> None:
    fused = fuse_jit(function)
    one, other = Thing(), Thing()
    for n in (1, 2, 0, 1):
        one.n = other.n = n
        expected, actual = function(X, one), fused(X, other)
        assert repr(actual) == repr(expected)
        assert other.asked == one.asked
