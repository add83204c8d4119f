"""Generator expressions and lists under sum, any, all, max, min and len: loops of any length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate

X = np.random.default_rng(0).normal(size=40)
Y = np.random.default_rng(1).normal(size=40)
A = np.random.default_rng(2).normal(size=(7, 6))


def sums(x: Any, y: Any) -> Any:
    n = len(x)
    w = 2.0
    a = sum(v * v for v in x)
    b = sum(x[i] * y[i + 1] * w for i in range(n - 1))
    c = sum((p * q for p, q in zip(x, y, strict=False)), 10)
    d = sum(i * v for i, v in enumerate(x))
    e = sum([abs(v) for v in x]) + sum((v for v in y), start=0.5)
    w = 3.0
    return a, b, c, d, e, w, n


def filtered(x: Any, y: Any) -> Any:
    a = sum(v for v in x if v > 0)
    b = sum(1 for v in x if v > 0)
    c = sum(1 for i in range(len(x)) if x[i] > 0 if y[i] > 0)
    d = len([v for v in x if -1 < v < 1])
    return a, b, c, d


def nested(a: Any) -> Any:
    n, m = a.shape
    s = sum(a[i, j] for i in range(n) for j in range(i, m))
    t = sum(sum(v for v in row if v > 0) for row in a)
    u = sum(max(abs(a[i, j]) for j in range(m)) for i in range(n))
    return s, t, u, sum(row[0] for row in a), max(row.max() for row in a)


def questions(x: Any) -> Any:
    a = any(v > 1.5 for v in x) + 2 * all(v > -3 for v in x)
    b = any(x[i] == x[i + 1] for i in range(len(x) - 1))
    c = all(x[i] <= x[i + 1] for i in range(len(x) - 1))
    if any(v > 100 for v in x) and not all(v < 0 for v in x):
        return a, b, not c
    return a, b, c


def extrema(x: Any) -> Any:
    a = max(abs(v) for v in x), min(v * v for v in x), max([v + 1 for v in x])
    b = max((v for v in x), default=0.0)
    c = max(x), min(x), sum(x), max(x, default=None), sum(x, 1.5)
    d = max(i * v for i, v in enumerate(x))
    return a, b, c, d


def in_loops_and_conditions(x: Any, y: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        if sum(x[k] for k in range(i)) > 0 or any(y[k] > 2 for k in range(i)):
            out[i] = sum(x[k] * y[i - k] for k in range(i + 1))
        else:
            out[i] = -max(v * y[i] for v in x)
    return out


def early_ends(x: Any) -> Any:
    """The rest is not looked at: no index is out of bounds."""
    return any(x[i] > x[i + 1] for i in range(len(x)))


def inside_functions(x: Any) -> Any:
    def norm(v: Any, p: int = 2) -> Any:
        return sum(abs(t) ** p for t in v) ** (1 / p)

    total = 0.0
    while total < 100:
        total += norm(x) + norm(x, p=1)
        x = x * 2
    return total


def of_static_things(x: Any) -> Any:
    parts = [x, x + 1, x * 2]
    names = ["a", "bc"]
    s = sum(p * k for k, p in enumerate(parts))
    t = sum((len(p) for p in parts), 0.0)
    return s, t, max(len(n) for n in names), all(names)


def several_on_one_line(x: Any) -> Any:
    return sum(v for v in x) / max(abs(v) for v in x), sum(v for v in x) + sum(1 for v in x)


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize(
    "program",
    [sums, filtered, in_loops_and_conditions],
)
def test_of_two(program: Any, jit: bool) -> None:
    """One variant serves all lengths."""
    check(program, (X, Y), (X[:30], Y[:30]), (X[::2], Y[::2]), jit=jit, variants=2)


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize(
    "program", [questions, extrema, inside_functions, of_static_things, several_on_one_line]
)
def test_of_one(program: Any, jit: bool) -> None:
    check(program, (X,), (X[:30],), (np.sort(X),), jit=jit)


@pytest.mark.parametrize(
    "program", [questions, extrema, of_static_things, several_on_one_line, early_ends]
)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_items(program: Any, n: int) -> None:
    check(program, (X[:n],), variants=None)


def test_nested() -> None:
    check(nested, (A,), (A[:5],), (A[:6, :5],), (A.T.copy(),), variants=None)
    check(nested, (A[:0],), variants=None)


def test_nan() -> None:
    """Python compares one by one: which of them is the largest depends on their order."""
    for at in (0, 3, 9):
        x = X[:10].copy()
        x[at] = math.nan
        check(extrema, (x,), variants=None)


def test_the_end_of_any() -> None:
    check(early_ends, (X,))
    check(early_ends, (np.arange(9.0),), variants=None)


def test_long_arrays() -> None:
    """They are not unrolled."""
    decorated = decorate(filtered, jit=True)
    x, y = np.random.default_rng(3).normal(size=(2, 50_000))
    assert decorated(x, y)[1] == np.count_nonzero(x > 0)
    assert len(decorated.variants) == 1


def sum_of_its_own(x: Any) -> Any:
    def sum(items: Any) -> Any:
        return len(list(items))

    return sum(v for v in x)


def test_another_sum() -> None:
    check(sum_of_its_own, (X[:3],), variants=None)
