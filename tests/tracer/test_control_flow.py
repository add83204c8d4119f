"""Loops and conditionals of the traced program: staged ones against NumPy, and what is decided."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import UnsupportedError
from fusejit.ir.ops import Cond, Loop, walk
from fusejit_testing.compare import Bound, assert_same

CLOSE = Bound(ulps=8)


def heat(u: Any, steps: Any) -> Any:
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u.sum()


def swapped(u: Any, steps: Any) -> Any:
    v = np.zeros_like(u)
    for _ in range(steps):
        v[1:-1] = (u[2:] + u[:-2]) * 0.5
        u, v = v, u
    return u, v


def rotated(a: Any, b: Any, c: Any, steps: Any) -> Any:
    for _ in range(steps):
        c[:] = a + 2 * b
        a, b, c = b, c, a
    return a * 1, b * 1, c * 1


def fibonacci(a: Any, b: Any, n: Any) -> Any:
    for _ in range(n):
        a, b = b, a + b
    return a + 0, b + 0


def total(x: Any) -> Any:
    s = 0
    for v in x:
        s += v * v
    return s


def recurrence(x: Any) -> Any:
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i]
    return y


def backwards(x: Any) -> Any:
    for i in range(len(x) - 2, -1, -1):
        x[i] += x[i + 1]
    return x


def triangle(a: Any) -> Any:
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        out[i] = a[i, :i].sum() - a[i, i:].max()
    return out


def counts(x: Any, limit: Any) -> Any:
    low = high = 0
    for v in x:
        if v < limit:
            low += 1
        elif v > limit:
            high += 1
        else:
            continue
    return low, high


def first_above(x: Any, limit: Any) -> Any:
    for i in range(len(x)):
        if x[i] > limit:
            return i, x[i]
    return -1, limit


def searched(x: Any, limit: Any) -> Any:
    found = -1
    for i in range(len(x)):
        if x[i] <= limit:
            continue
        found = i
        break
    else:
        found = len(x)
    return found


def nested_break(a: Any, limit: Any) -> Any:
    n = 0
    for row in a:
        for v in row:
            if v > limit:
                break
            n += 1
    return n


def halving(x: Any, tol: Any) -> Any:
    k = 0
    while np.abs(x).max() > tol:
        x = x * 0.5
        k += 1
    return x, k


def insertion_sort(x: Any) -> Any:
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def newton(a: Any) -> Any:
    x = a
    for _ in range(60):
        step = (x * x - a) / (2 * x)
        x = x - step
        if abs(step) < 1e-12:
            break
    return x


def lcs(a: Any, b: Any) -> Any:
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


def rows(indptr: Any, data: Any, x: Any) -> Any:
    out = np.zeros(len(indptr) - 1)
    for i in range(len(out)):
        lo, hi = indptr[i], indptr[i + 1]
        out[i] = data[lo:hi].sum() + x[lo]
    return out


def last_view(a: Any) -> Any:
    for row in a:  # noqa: B007
        pass
    row *= 2
    return a


def late(x: Any, n: Any) -> Any:
    for i in range(n):
        y = x * i
        z = y[::-1]
    y[0] = 7.0
    return z, i


def best(x: Any) -> Any:
    top, where = x[0], 0
    for i, v in enumerate(x):
        if v > top:
            top, where = v, i
    return top, where


def expression(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(k):
        s += x[i] if x[i] > 0.5 else -x[i]
        s += 1.0 if i % 2 == 0 and not x[i] > 0.75 else 0.0
    return s


def mathematics(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(1, k):
        s += math.sqrt(i) * x[i] + i / 3 + i // 2 + float(i) ** 2 + min(i, 5) + int(x[i] * 10)
    return s


def helper_with_return(v: Any) -> Any:
    if v > 0.5:
        return v * 2
    return v + 1


def inlined(x: Any) -> Any:
    s = 0.0
    for v in x:
        s += helper_with_return(v)
    return s


def shapes_from_zip(x: Any, y: Any) -> Any:
    s = 0.0
    for a, b in zip(x, y):  # noqa: B905
        s += a * b
    return s


def smooth(n: int) -> np.ndarray:
    return np.cos(np.arange(n) * 0.7) * 0.5 + 0.5


def pointers(n: int) -> np.ndarray:
    return np.minimum(np.arange(n) * 2, 2 * n - 4)


# function -> the arguments for a size
CASES: dict[Callable[..., Any], Callable[[int], tuple[Any, ...]]] = {
    heat: lambda n: (smooth(n), 6 + n % 2),
    swapped: lambda n: (smooth(n), 7),
    rotated: lambda n: (smooth(n), smooth(n) + 1, smooth(n), 8),
    fibonacci: lambda n: (np.arange(n), np.ones(n, np.int64), 9),
    total: lambda n: (smooth(n),),
    recurrence: lambda n: (smooth(n),),
    backwards: lambda n: (smooth(n),),
    triangle: lambda n: (smooth(n * n).reshape(n, n),),
    counts: lambda n: (np.arange(n) % 5, 2),
    first_above: lambda n: (smooth(n), 0.9),
    searched: lambda n: (smooth(n), 2.0),
    nested_break: lambda n: (smooth(n * n).reshape(n, n), 0.95),
    halving: lambda n: (smooth(n), 1e-3),
    insertion_sort: lambda n: (smooth(n),),
    newton: lambda n: (float(n),),
    lcs: lambda n: (np.arange(n) % 3, np.arange(n + 2) % 4),
    rows: lambda n: (pointers(n), smooth(2 * n), smooth(2 * n)),
    last_view: lambda n: (smooth(n * 3).reshape(n, 3),),
    late: lambda n: (smooth(n), 6),
    best: lambda n: (smooth(n),),
    expression: lambda n: (smooth(n), n),
    mathematics: lambda n: (smooth(n), n),
    inlined: lambda n: (smooth(n),),
    shapes_from_zip: lambda n: (smooth(n), smooth(n) + 1),
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("jitted", [False, True], ids=["unjitted", "jitted"])
def test_staged(
    function: Callable[..., Any], jitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NumPy's results and arguments, one variant for two sizes."""
    monkeypatch.setenv("FUSEJIT_UNJITTED", "" if jitted else "1")
    fused = fuse_jit(function)
    for n in (9, 16, 33):
        expected_arguments, arguments = CASES[function](n), CASES[function](n)
        with np.errstate(all="ignore"):
            expected = function(*expected_arguments)
            result = fused(*arguments)
        assert_same(expected, result, CLOSE, function.__name__)
        for one, other in zip(expected_arguments, arguments, strict=True):
            assert_same(one, other, CLOSE, function.__name__)
    assert not fused.variants.fallbacks
    assert len(fused.variants) == 1
    ops = list(walk(fused.trace(*CASES[function](9)).graph.block))
    assert any(isinstance(op, Loop) for op in ops)


def test_a_trip_count_is_a_number_of_the_call() -> None:
    def grown(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = x + 1
        return x

    fused = fuse_jit(grown)
    for n in (5, 6, 50, 1000):
        assert_same(grown(np.zeros(3), n), fused(np.zeros(3), n))
    assert len(fused.variants) == 1
    assert_same(grown(np.zeros(3), 0), fused(np.zeros(3), 0))  # does not run: another variant


def test_short_ranges_are_unrolled() -> None:
    def powers(x: Any) -> Any:
        for k in range(4):
            x = x * k
        return x

    graph = fuse_jit(powers).trace(np.ones(3)).graph
    assert not any(isinstance(op, Loop) for op in walk(graph.block))


def test_what_cannot_be_staged_is_unrolled() -> None:
    weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]

    def weighted(x: Any) -> Any:
        parts = []
        for k in range(6):
            parts.append(x * weights[k])
        return parts

    fused = fuse_jit(weighted)
    assert_same(weighted(np.ones(3)), fused(np.ones(3)))


def test_a_condition_on_elements_is_a_conditional_of_the_graph() -> None:
    def signed(x: Any) -> Any:
        y = x * 2
        if y[0] > 0:
            y = y + 1
        return y

    fused = fuse_jit(signed)
    for x in (np.ones(3), -np.ones(4)):
        assert_same(signed(x), fused(x))
    assert len(fused.variants) == 1
    assert any(isinstance(op, Cond) for op in walk(fused.trace(np.ones(3)).graph.block))


def test_an_argument_that_may_be_returned_is_the_argument() -> None:
    def chosen(x: Any) -> Any:
        if x[0] > 0:
            return x
        return -x

    fused = fuse_jit(chosen)
    x = np.ones(3)
    assert fused(x) is x
    assert_same(chosen(-x), fused(-x))
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks


def test_an_index_out_of_bounds_leaves_what_numpy_leaves() -> None:
    def marked(x: Any, k: Any) -> Any:
        for i in range(len(k)):
            x[k[i]] = i
        return x

    fused = fuse_jit(marked)
    k = np.array([1, 0, -1, 7, 2])
    one, other = np.zeros(4), np.zeros(4)
    with pytest.raises(IndexError, match="out of bounds"):
        marked(one, k)
    with pytest.raises(IndexError, match="out of bounds"):
        fused(other, k)
    assert_same(one, other)
    assert_same(marked(np.zeros(9), k), fused(np.zeros(9), k))


def test_names_of_one_branch_are_refused_where_they_are_used() -> None:
    def unbound(x: Any) -> Any:
        if x[0] > 0:
            y = x + 1
        return y * 2

    with pytest.raises(UnsupportedError, match="'y' is not defined in both branches"):
        fuse_jit(fullgraph=True)(unbound)(np.ones(3))
