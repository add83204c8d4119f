"""``where=`` as an array of reductions and ufuncs, ``initial=``, and ``np.place``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit.errors import UnsupportedError
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

RNG = np.random.default_rng(7)
X = np.round(RNG.normal(size=(6, 5)), 2)
M = RNG.random((6, 5)) > 0.4
ROW = np.array([True, False, True, True, False])
K = RNG.integers(-9, 9, (6, 5))
CLOSE = Bound(absolute=1e-13)

REDUCTIONS: dict[str, Any] = {
    "sum": lambda x, m: np.sum(x, where=m),
    "sum of rows": lambda x, m: x.sum(axis=1, where=m),
    "sum of columns": lambda x, m: x.sum(axis=0, where=m, keepdims=True),
    "sum with initial": lambda x, m: x.sum(1, where=m, initial=3),
    "sum from initial": lambda x, m: np.sum(x, initial=2) + m.sum(),
    "product": lambda x, m: np.prod(x.astype(int), axis=1, where=m),
    "largest": lambda x, m: np.max(x, where=m, initial=-1),
    "largest of rows": lambda x, m: x.max(axis=1, where=m, initial=-100),
    "smallest of columns": lambda x, m: np.min(x, axis=0, where=m, initial=4, keepdims=True),
    "smallest from initial": lambda x, m: np.amin(x, 1, initial=-2) + m.sum(),
    "largest of none": lambda x, m: x[:0].max(initial=5) + m.sum(),
    "mean": lambda x, m: np.mean(x, where=m),
    "mean of columns": lambda x, m: x.mean(axis=0, where=m, keepdims=True),
    "any": lambda x, m: np.any(x > 1, axis=1, where=m),
    "all": lambda x, m: (x > -1).all(axis=0, where=m),
    "into an array": lambda x, m: np.sum(x, axis=1, out=np.zeros(6), where=m),
    "reduce": lambda x, m: np.add.reduce(x, axis=1) + np.sum(x, axis=1, where=m),
    "a computed mask": lambda x, m: np.sum(x * 2, axis=0, where=(x > 0) & m),
}


@pytest.mark.parametrize("mask", [M, ROW, M[:, :1]], ids=["whole", "row", "column"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, mask: Any) -> None:
    for x in (X, K, X.astype(np.float32)):
        bound = Bound(absolute=1e-5) if x.dtype == np.float32 else CLOSE
        check(REDUCTIONS[name], (x, mask), (x * 2, ~mask | mask[::-1]), bound=bound)


def test_reductions_jitted() -> None:
    def f(x: Any, m: Any) -> Any:
        return np.sum(x, axis=0, where=m), x.max(axis=1, where=m, initial=-9), np.mean(x, where=m)

    check(f, (X, M), jit=True, bound=CLOSE)


def of_a_loop(x: Any, m: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.sum(x[i], where=m[i]) + np.max(x[i], where=m[i], initial=0)
    return out


def test_reductions_in_a_loop() -> None:
    check(of_a_loop, (X, M), bound=CLOSE)


def added(a: Any, b: Any, m: Any) -> Any:
    c = np.full(a.shape, 7.0)
    np.add(a, b, out=c, where=m)
    return c


def divided(a: Any, b: Any, m: Any) -> Any:
    return np.divide(a, b, out=np.zeros_like(a), where=(b != 0) & m)


def in_place(a: Any, b: Any, m: Any) -> Any:
    np.multiply(a, b, a, where=m)
    np.negative(a[1:], out=a[:-1], where=m)
    return a


def logarithm(a: Any, b: Any, m: Any) -> Any:
    out = np.empty_like(a)
    out[...] = b
    np.log(a, out=out, where=a > 0)
    return out + m


def nowhere(a: Any, b: Any, m: Any) -> Any:
    return np.add(a, b, out=b.copy(), where=False) + m


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("f", [added, divided, in_place, nowhere])
def test_ufuncs(f: Any, jit: bool) -> None:
    zeros = np.where(np.abs(X) < 0.6, 0.0, X)
    check(f, (X, zeros, ROW), (zeros, X, ROW[::-1].copy()), jit=jit)


def test_what_is_left_out_is_not_seen() -> None:
    check(logarithm, (X, X * 0 + 3, ROW), bound=CLOSE)


def test_without_out_elements_have_no_value() -> None:
    def unset(a: Any, m: Any) -> Any:
        return np.add(a, 1, where=m)

    with pytest.raises(UnsupportedError, match="give out="):
        decorate(unset, jit=False, fullgraph=True)(X, M)
    f = decorate(unset, jit=False)
    with pytest.warns(UserWarning, match="'where' used without 'out'"):
        made = f(X, M)
    assert np.array_equal(made[M], (X + 1)[M])


ERRORS: dict[str, Any] = {
    "no initial": lambda x, m: np.max(x, where=m),
    "a mask of integers": lambda x, m: np.sum(x, where=m * 1),
    "a mask of another shape": lambda x, m: np.sum(x, where=m[:2]),
    "an integer result": lambda x, m: np.add(x, 1, out=np.zeros(x.shape, int), where=m),
    "np.place of nothing": lambda x, m: np.place(x, m, []),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_numpys(name: str) -> None:
    expected = run(ERRORS[name], (X, M))
    assert expected.error is not None
    compare_outcomes(expected, run(decorate(ERRORS[name], jit=False), (X, M)))


def placed(x: Any, m: Any, v: Any) -> Any:
    np.place(x, m, v)
    return x


def placed_number(x: Any, m: Any, v: Any) -> Any:
    np.place(x, m, 9)
    np.place(x[1:], x[1:] > 0, [v[0], 2])
    return x


def placed_by_numbers(x: Any, m: Any, v: Any) -> Any:
    y = x * 2
    np.place(y, x.astype(int), v)
    return y


@pytest.mark.parametrize("f", [placed, placed_number, placed_by_numbers])
def test_place(f: Any) -> None:
    for x in (X, K):
        check(f, (x, M, np.array([10, 20, 30])), (x, M[::-1].copy(), np.arange(8)))
    check(f, (X, M, np.array([1.5, 2.5])), jit=True)
