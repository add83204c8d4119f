"""Views of broadcasts and windows were writeable, so a store changed other elements too.

NumPy makes views of broadcasts, windows and diagonals read-only, overlapping or not.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit_testing.oracle import check, compare_outcomes, run

X = np.arange(12.0).reshape(3, 4)
windows = np.lib.stride_tricks.sliding_window_view


def part_of_windows(x: Any) -> Any:
    w = windows(x, 2, axis=1)
    return w.T[0], w[..., 0], x[1:]


def part_of_a_broadcast(x: Any) -> Any:
    return np.broadcast_to(x, (5, *x.shape))[0], np.broadcast_to(x, x.shape)


def part_of_a_diagonal(x: Any) -> Any:
    d = np.diagonal(x)
    return d[:2], d[1:][::-1], np.diag(x)[:1]


def computed(x: Any) -> Any:
    y = x + 1
    b = np.broadcast_to(y, (2, *y.shape))
    return b[1], y, b[1, 1:], b


def the_whole(x: Any) -> Any:
    y = x + 1
    return np.broadcast_to(y, y.shape), y


def twice(x: Any) -> Any:
    w = windows(x, 2, axis=0)[0]
    return w, w


def reshaped(x: Any) -> Any:
    return np.broadcast_to(x, (2, *x.shape))[1].reshape(-1), np.broadcast_to(x, x.shape)[::2]


def bound_in_a_loop(x: Any) -> Any:
    for i in range(len(x)):
        w = np.broadcast_to(x, (2, *x.shape))[1, i:]
    return w


def chosen(x: Any) -> Any:
    b = np.broadcast_to(x, (2, *x.shape))[1]
    w = b if x[0, 0] > 0 else x + 1
    return w, b


def imaginary(x: Any) -> Any:
    return np.broadcast_to(x + 1j, (2, *x.shape))[0].imag


FUNCTIONS = [
    part_of_windows,
    part_of_a_broadcast,
    part_of_a_diagonal,
    computed,
    the_whole,
    twice,
    reshaped,
    bound_in_a_loop,
    chosen,
    imaginary,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_parts_are_read_only(function: Any) -> None:
    frozen = X.copy()
    frozen.flags.writeable = False
    check(function, (X,), (X + 1,), (frozen,))
    check(function, (frozen,), (X,), (X + 1,))


def test_compiled() -> None:
    check(computed, (X,), jit=True)


def test_a_store_into_what_may_be_a_read_only_part_is_left_to_numpy() -> None:
    def stored(x: Any, c: Any) -> None:
        b = np.broadcast_to(x, (2, *x.shape))[1]
        w = x if c[0] > 0 else b
        w[0] = 1

    fused = fuse_jit(stored)
    for c in (np.ones(1), -np.ones(1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            compare_outcomes(run(stored, (X, c)), run(fused, (X, c)))


def test_a_store_into_a_part_is_numpys_error() -> None:
    @fuse_jit
    def stored(x: Any) -> None:
        np.broadcast_to(x, (2, *x.shape))[0][0] = 1

    x = X.copy()
    with pytest.raises(ValueError, match="read-only"):
        stored(x)
    assert (x == X).all()
