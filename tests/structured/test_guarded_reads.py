"""Reads that a condition on indices guards, at the borders of their operands."""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.structured import Output, Shape, Tensor, generic, index, structured_op
from fusejit_testing.compare import assert_same


@structured_op
def previous(X: Tensor["T", "N"], O: Output["T", "N"]):
    O[n] = where(index(n) > 0, X[n - 1], X[n])


@structured_op
def following(X: Tensor["T", "N"], O: Output["T", "N"]):
    O[n] = where(index(n) + 1 >= N, X[n], X[n + 1])


@structured_op
def not_first(X: Tensor["T", "N"], O: Output["T", "N"]):
    O[n] = where(index(n) == 0, 0, X[n - 1])


@structured_op
def not_last(X: Tensor["T", "N"], O: Output["T", "N"]):
    O[n] = where(index(n) != N - 1, X[n + 1], 0)


@structured_op
def inner(X: Tensor["T", "N"], O: Output["T", "N"]):
    O[n] = where((index(n) > 0) & (index(n) < N - 1), X[n + 1] - X[n - 1], X[n])


@structured_op
def outer(X: Tensor["T", "N"], O: Output["T", "N"]):
    O[n] = where((index(n) < 2) | ~(index(n) < N - 2), X[n], X[n - 2] + X[n + 2])


@structured_op
def edges(X: Tensor["T", "M", "N"], O: Output["T", "M", "N"]):
    left = where(index(j) > 0, X[i, j - 1], X[i, j])
    up = where(index(i) > 0, X[i - 1, j], X[i, j])
    O[i, j] = where(index(i) > 0, where(index(j) > 0, X[i - 1, j - 1], left), up) + left


def python_of(op, x):
    """The same in Python."""
    size, o = len(x), np.zeros_like(x)
    for n in range(size):
        o[n] = {
            "previous": lambda: x[n - 1] if n > 0 else x[n],  # noqa: B023
            "following": lambda: x[n] if n + 1 >= size else x[n + 1],  # noqa: B023
            "not_first": lambda: 0 if n == 0 else x[n - 1],  # noqa: B023
            "not_last": lambda: x[n + 1] if n != size - 1 else 0,  # noqa: B023
            "inner": lambda: x[n + 1] - x[n - 1] if 0 < n < size - 1 else x[n],  # noqa: B023
            "outer": lambda: x[n] if n < 2 or n >= size - 2 else x[n - 2] + x[n + 2],  # noqa: B023
        }[op.__name__]()
    return o


@pytest.mark.parametrize("op", [previous, following, not_first, not_last, inner, outer])
def test_every_border(op):
    rng = np.random.default_rng(0)
    traced = fuse_jit(lambda x: op(x * 2) + 1, fullgraph=True)
    for size in (0, 1, 2, 3, 4, 5, 30):
        for dtype in ("f8", "i4"):
            x = rng.integers(-9, 9, size).astype(dtype)
            for run in (op, op.reference):
                assert_same(python_of(op, x), run(x))
            assert_same(python_of(op, x * 2) + 1, traced(x))


def test_two_axes():
    x = np.random.default_rng(0).random((6, 7))
    p = np.pad(x, ((1, 0), (1, 0)), "edge")
    left, up, corner = p[1:, :-1], p[:-1, 1:], p[:-1, :-1]
    inner_ = np.where(np.arange(7) > 0, corner, left)
    expected = np.where(np.arange(6)[:, None] > 0, inner_, up) + left
    for run in (edges, edges.reference):
        np.testing.assert_array_equal(run(x), expected)
    np.testing.assert_array_equal(edges(x[:1, :1]), x[:1, :1] * 2)


def test_a_guard_that_does_not_keep_a_read_inside():
    @structured_op
    def too_far(X: Tensor["T", "N"], O: Output["T", "N"]):
        O[n] = where(index(n) > 0, X[n - 2], X[n])

    @structured_op
    def elsewhere(X: Tensor["T", "N"], O: Output["T", "N"]):
        O[n] = where(index(n) > 0, X[n - 1], X[n]) + X[n - 1]

    for op in (too_far, elsewhere):
        for run in (op, op.reference):
            with pytest.raises(ValueError, match="of X reaches -1, and axis 0 has 4 elements"):
                run(np.arange(4.0))


def test_the_explicit_form():
    x = np.arange(5.0)
    found = generic(
        [x, x],
        [np.zeros(5)],
        ["(n) -> (n - 1)", "(n) -> (n)", "(n) -> (n)"],
        ["parallel"],
        lambda before, here, o: np.where(index("n") > 0, here - before, here),
    )
    np.testing.assert_array_equal(found, np.diff(x, prepend=0.0))


def test_a_windowed_sum_with_a_border():
    @structured_op
    def moving(X: Tensor["T", "N"], K: Shape["T", "W"], O: Output["T", "N"]):
        K[w]
        O[n] += where(index(n) >= index(w), X[n - w], 0)

    x = np.arange(1.0, 8.0)
    expected = np.convolve(x, np.ones(3))[:7]
    for run in (moving, moving.reference):
        np.testing.assert_array_equal(run(x, np.empty(3)), expected)
