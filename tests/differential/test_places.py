"""argmax, argmin, diagonals and triangles against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import check

ROWS = np.array([[3.0, 1.0, 3.0, -2.0], [0.0, -0.0, 0.0, -1.0], [2.0, 7.0, 7.0, 7.0]])
WITH_NAN = np.where(ROWS == 7, np.nan, ROWS)


@pytest.mark.parametrize("x", [ROWS, WITH_NAN, -WITH_NAN, ROWS > 1, ROWS.astype("i2"), ROWS.T])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_the_first_extremum(x, axis):
    def f(x):
        return (
            np.argmax(x, axis),
            x.argmin(axis),
            np.argmax(x, axis, keepdims=True),
            x[np.argmax(x, 0), np.arange(x.shape[1])],
        )

    check(f, (x,), jit=x is WITH_NAN, variants=None)


def test_extrema_of_expressions_and_of_nothing():
    def f(x):
        return np.argmax(np.abs(x) * 2, axis=1) + 1, np.argmin(x[0])

    check(f, (ROWS,), (ROWS[:, :0],), (ROWS[:0],), variants=None)
    check(lambda x: np.argmax(x, axis=1), (ROWS,), (ROWS[:0],), variants=None)
    cube = np.arange(24.0).reshape(2, 3, 4) % 5
    for y in (cube, np.asfortranarray(cube)):
        check(lambda x: (x.argmax(0), x.argmax(1), x.argmin(2), x.argmax()), (y,))


def test_extrema_into_an_array():
    def f(x, out):
        np.argmax(x, axis=1, out=out)
        return out + 1

    check(f, (ROWS, np.zeros(3, np.int64)))


@pytest.mark.parametrize("k", [-4, -1, 0, 2, 9])
def test_triangles(k):
    def f(x, n):
        return np.tril(x, k), np.triu(x, k) * 2, np.tril(x[0], k), np.tri(n, 3, k), np.eye(n, k=k)

    for x in (ROWS, np.asfortranarray(ROWS), np.arange(24).reshape(2, 3, 4)):
        check(f, (x, 4), jit=k == 0 and x is ROWS, variants=None)


@pytest.mark.parametrize("k", [-4, -1, 0, 2, 9])
def test_diagonals(k):
    def f(x):
        return x.diagonal(k) + 1, np.trace(x, k), np.diagonal(x, k).sum(), np.diag(x[0])

    check(f, (ROWS,), (np.arange(30.0).reshape(6, 5),), jit=k == 0, variants=None)

    def g(x):
        return np.trace(x, k, 2, 0), x.diagonal(k, 0, 2) * 2, np.identity(3) + x[0, :3, :3]

    check(g, (np.arange(60).reshape(3, 4, 5),), variants=None)


def test_a_diagonal_is_a_view():
    def returned(x):
        return np.diag(x), x.diagonal(1)

    def current(x):
        d = np.diag(x)
        x[0] = 7
        return d * 1

    check(returned, (ROWS[:3, :3],))
    check(current, (ROWS[:3, :3].copy(),))
