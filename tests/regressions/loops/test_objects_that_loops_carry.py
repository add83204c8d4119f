"""Results had other strides or identities: all arrays that a loop carries shared one layout.

Each loop carried arrays of one rank and dtype as if they all lay in memory alike. An argument that
is a broadcast array has no say in the strides of a result, and a view that the body makes has
strides of its own: results came back with the order of axes, or the direction, of another array. A
view of all of an argument was taken for the argument itself, as if ``x[:] is x``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.arange(16.0).reshape(4, 4)
LAYOUTS = {
    "C": X,
    "F": np.asfortranarray(X),
    "rows": np.broadcast_to(X[0], (4, 4)),
    "columns": np.broadcast_to(X[0][:, None], (4, 4)),
    "step": X[:, ::2],
    "one": np.broadcast_to(X[0, 0], (4, 4)),
}


def sums(x: Any) -> Any:
    w = x
    for _ in range(5):
        w = w * 2 + x
    return w, w + x


def nested(x: Any) -> Any:
    w = x
    for i in range(len(x)):
        for _ in range(i):
            w = w + 1
    return w


def until_large(x: Any) -> Any:
    w = x
    while w.sum() < 1000:
        w = w + 10
    return w


def with_new_axis(x: Any) -> Any:
    v = x[..., None][:-1]
    w = v
    for _ in range(6):
        w = w - v
    return w + v


def transposed(x: Any) -> Any:
    w = x
    for _ in range(5):
        w = (w + 1).T
    return w


def flipped(x: Any) -> Any:
    w = x
    for _ in range(5):
        w = (w + 1)[:, ::-1]
    return w


def broadcast(x: Any) -> Any:
    w = x
    for _ in range(5):
        w = np.broadcast_to(w.sum(axis=0), w.shape)
    return w


@pytest.mark.filterwarnings("ignore:.* runs as plain NumPy")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "function", [sums, nested, until_large, with_new_axis, transposed, flipped, broadcast]
)
def test_strides_of_what_a_loop_carries(function: Any, layout: str) -> None:
    check(function, (LAYOUTS[layout],), variants=None)


def test_broadcast_arguments_are_compiled() -> None:
    check(sums, (LAYOUTS["rows"],), variants=1)
    check(transposed, (LAYOUTS["C"],), variants=1)


def test_a_view_that_is_only_read_behind_the_loop() -> None:
    def read(x: Any) -> Any:
        w = x
        for _ in range(5):
            w = (w + 1)[::-1]
        return w * 2

    check(read, (np.arange(4.0),), variants=1)


def swapped(x: Any) -> Any:
    v = x.transpose(1, 0).T
    for _ in range(5):
        x, v = v, x
    return x, v


def renewed(x: Any) -> Any:
    for _ in range(5):
        x = x[:]
    return x, x[0]


def renewed_here_and_there(x: Any) -> Any:
    if x[0, 0] > 0:
        x = x[:]
    return x


def one_view(x: Any) -> Any:
    for _ in range(6):
        y = x = x[...]
    return y, x


@pytest.mark.filterwarnings("ignore:.* runs as plain NumPy")
@pytest.mark.parametrize("function", [swapped, renewed, renewed_here_and_there, one_view])
def test_which_object_is_returned(function: Any) -> None:
    check(function, (X,), (X + 1,), (X - 1,), variants=None)


def test_a_view_instead_of_the_argument_is_compiled() -> None:
    check(swapped, (X,), variants=1)
    check(renewed, (X,), variants=1)
