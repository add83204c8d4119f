"""Indexing, views, stores, creation: who shares memory with whom, and who is modified."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit_testing.oracle import check

S = np.s_


def grid(*shape: int, dtype: Any = float) -> np.ndarray:
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) * 3 - 7).astype(dtype)


INDICES = [
    S[1:], S[:-1], S[::2], S[::-1], S[::-2], S[1:-1], S[-2:], S[4:1:-1], S[100:], S[:100],
    S[-100::3],
    S[2], S[-1], S[1, 2], S[..., 0], S[..., 1:], S[None], S[:, None], S[1:, ::-1], S[::2, 1:-1],
    S[0, ::-1], S[:, 0], S[::-1, ::-1], S[None, ..., None], S[()], S[...], S[2:2], S[-1:0:-2, 1],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_reading_and_storing_an_index(index: Any) -> None:
    """A slice as a value, as an operand, as a target, and as a result that is a view."""

    def f(x: Any, y: Any) -> Any:
        z = np.zeros_like(x)
        z[index] = x[index] * 2
        z[index] += 1
        part = x[index] + y[index]
        y[index] = 5.0
        return part, z

    calls = [(grid(6, 5), -grid(6, 5)), (grid(8, 7), -grid(8, 7))]
    check(f, *calls)
    check(f, (np.asfortranarray(grid(6, 5)), grid(5, 6).T))


@pytest.mark.parametrize("index", [S[1:], S[::-2], S[0, ::-1], S[None, 1:-1]], ids=str)
def test_indices_jitted(index: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        y[index] = x[index] * 2
        y[index] -= y[::-1][index]
        return x[index] + y[index]

    check(f, (grid(6, 5), -grid(6, 5)), (grid(8, 7), -grid(8, 7)), jit=True)
    check(f, (grid(5, 6).T, -grid(12, 5)[::2]), jit=True)


@pytest.mark.parametrize(
    "index", [S[1:], S[::-1], S[:, None], S[None], S[0], S[::2, ::-2], S[..., 1]], ids=str
)
def test_views_that_are_returned(index: Any) -> None:
    def f(x: Any) -> Any:
        z = x * 1
        return x[index], z[index], z, x

    check(f, (grid(6, 5),), (grid(7, 9),), jit=True)


def test_transposes_and_newaxis() -> None:
    def f(x: Any) -> Any:
        return x.T + 1, x.transpose(1, 0) * x.T, x[:, None] - x[None], np.transpose(x)[1:]

    check(f, (grid(4, 4),), (grid(6, 6),), jit=True)


def shift_left(x: Any) -> Any:
    x[:-1] = x[1:]


def shift_right(x: Any) -> Any:
    x[1:] = x[:-1]


def reverse(x: Any) -> Any:
    x[:] = x[::-1]


def difference(x: Any) -> Any:
    x[1:] -= x[:-1]


def stencil(x: Any) -> Any:
    x[1:-1] = (x[:-2] + x[2:]) / 2


def add_transposed(x: Any) -> Any:
    x += x.T


def through_a_view(x: Any) -> Any:
    v = x[::2]
    w = v[1:]
    w *= 2
    v[0] = -1
    return x + 1, w


def twice_through_views(x: Any) -> Any:
    a, b = x[1:], x[:-1]
    a += b
    b -= a
    return a


def swap_rows(x: Any) -> Any:
    x[0], x[1] = x[1].copy(), x[0].copy()


def swap_rows_wrongly(x: Any) -> Any:
    x[0], x[1] = x[1], x[0]


def steps_in_place(x: Any) -> Any:
    for _ in range(3):
        x[1:-1] += 0.25 * (x[2:] - 2 * x[1:-1] + x[:-2])
    return x


def read_store_read(x: Any) -> Any:
    before = x + 0
    x[1] = 9
    after = x + 0
    return before, after, before - after


def old_value_is_kept(x: Any) -> Any:
    y = x * 2
    x[...] = 0
    return y, x


def swap_names(x: Any) -> Any:
    y = np.zeros_like(x)
    for _ in range(3):
        y[1:] = x[:-1]
        x, y = y, x
    return x, y


@pytest.mark.parametrize(
    "function",
    [shift_left, shift_right, reverse, difference, stencil, add_transposed, through_a_view,
     twice_through_views, swap_rows, swap_rows_wrongly, steps_in_place, read_store_read,
     old_value_is_kept, swap_names],
)  # fmt: skip
def test_stores_that_read_what_they_write(function: Callable[..., Any]) -> None:
    for make in (np.array, np.asfortranarray, lambda a: a[::-1], lambda a: np.repeat(a, 2, 0)[::2]):
        check(function, (make(grid(5, 5)),), (make(grid(7, 7)),))
    check(function, (grid(5, 5),), (grid(9, 9),), jit=True)


def test_overlapping_arguments() -> None:
    """Arguments that share memory are served right: as NumPy does it, with a warning or without."""

    def f(x: Any, y: Any) -> Any:
        x[1:] = y[:-1] * 2
        y += x
        return x - y

    base = grid(9)
    for pair in ((base, base), (base[1:], base[:-1]), (base[::-1], base), (base[:4], base[4:8])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            check(f, pair, variants=None)
            check(f, (grid(5), grid(5)), pair, (grid(6), grid(6)), jit=True, variants=None)


@pytest.mark.parametrize("target", ["?", "u1", "i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("source", ["?", "u1", "i4", "i8", "f4", "f8"])
def test_stores_cast(target: str, source: str) -> None:
    def f(x: Any, y: Any) -> Any:
        z = np.zeros(x.shape, dtype=target)
        z[...] = x
        y[1:] = x[:-1]
        return z

    check(f, (np.arange(6).astype(source), np.zeros(6, target)), jit=target == "u1")
    check(lambda x, y: x.__iadd__(y), (np.ones(3, target), np.ones(3, source)), variants=None)


def test_casting_errors_are_numpys() -> None:
    def f(x: Any, y: Any) -> Any:
        x += y

    for target, source in (("i4", "f8"), ("?", "i8"), ("u1", "i8"), ("i8", "u8"), ("f4", "f8")):
        check(f, (np.ones(3, target), np.ones(3, source)), variants=None)


def test_store_errors_leave_numpys_partial_effects() -> None:
    def f(x: Any, y: Any) -> Any:
        x[0] = 1
        x[1:] = y
        x[2] = 3

    check(f, (grid(5), grid(3)), variants=0)
    check(f, (grid(5), grid(4)), (grid(5), grid(3)), (grid(6), grid(5)))

    def g(x: Any) -> Any:
        x[...] = 0
        return x[7]

    check(g, (grid(5),), variants=0)
    check(g, (grid(9),), (grid(5),))


def test_creation() -> None:
    def f(x: Any) -> Any:
        n, m = x.shape
        a = np.empty((n, m))
        a[...] = x
        return (
            np.zeros(n), np.zeros((m, n), np.float32), np.ones_like(x), np.full((n, 2), 7),
            np.full_like(x, 2.5), np.zeros_like(x, dtype=np.int32), np.ones(x.shape, dtype=bool), a,
            np.full(3, 0.1, dtype=np.float32), x.copy(),
        )  # fmt: skip

    check(f, (grid(3, 4),), (grid(5, 2),), jit=True)
    check(f, (np.asfortranarray(grid(3, 4)),), (np.asfortranarray(grid(5, 2)),))
    check(f, (grid(3, 8)[:, ::2].astype(np.float32),))


def test_arange() -> None:
    def f(x: Any, k: Any) -> Any:
        n = x.shape[0]
        return (
            np.arange(n), np.arange(1, n), np.arange(0, n, 2), np.arange(n, 0, -1), np.arange(k),
            np.arange(n, dtype=np.float32), np.arange(2.0, 5.0, 0.5), np.arange(n) * x,
            np.arange(-k, k),
        )  # fmt: skip

    check(f, (grid(7), 4), (grid(12), 9), jit=True)


def test_arrays_made_inside_and_filled() -> None:
    def f(x: Any, dt: Any) -> Any:
        out = np.zeros(len(x) + 2)
        out[1:-1] = x
        out[0] = out[-2]
        out[-1] = out[1]
        lap = out[2:] - 2 * out[1:-1] + out[:-2]
        x += dt * lap
        return out, lap

    check(f, (grid(6), 0.1), (grid(11), 0.2), jit=True)


def test_scalar_elements() -> None:
    def f(x: Any) -> Any:
        a, b = x[0], x[-1]
        x[0] = b
        x[-1] = a * 2
        return a, b, a + b, x[1] * 0.5

    for dtype in ("f8", "f4", "i4", "u1", "?"):
        check(f, (np.arange(5).astype(dtype),), (np.arange(8).astype(dtype),), jit=dtype == "f4")
