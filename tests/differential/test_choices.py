"""``np.select``, ``np.piecewise``, ``np.sinc`` and windows that slide, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, check_not_compiled

windows = np.lib.stride_tricks.sliding_window_view
SUM = Bound(ulps=64, absolute=1e-12)


def vector(n: int, dtype: str = "f8") -> Any:
    return (np.random.default_rng(n).normal(size=n) * 3).astype(dtype)


def table(n: int, m: int) -> Any:
    return np.random.default_rng(n).normal(size=(n, m))


SELECTS: dict[str, Callable[[Any], Any]] = {
    "three": lambda x: np.select([x < -1, x < 0, x < 1], [x * 0 - 1, x, x**2], default=5.0),
    "numbers": lambda x: np.select([x < 0, x > 1], [1, 2]),
    "ints and floats": lambda x: np.select([x < 0, x > 1], [1, x], 7),
    "small ints": lambda x: np.select([x > 0], [np.int8(3)], np.int16(4)),
    "broadcast": lambda x: np.select([(x > 0)[:, None], x[None] > 1], [x[:, None], x[None]]),
    "reduced": lambda x: np.select([x < 0], [x], x * 2).sum(),
}


@pytest.mark.parametrize("name", SELECTS)
def test_select(name: str) -> None:
    for dtype in ("f8", "f4"):
        calls = [(vector(n, dtype),) for n in (9, 30)]
        check(SELECTS[name], *calls, bound=SUM, inner_bound=SUM, jit=dtype == "f8")


def test_select_of_a_transposed_array_lies_in_c_order() -> None:
    check(lambda x: np.select([x.T > 0], [x.T], 1.0), (table(4, 5),), (table(3, 7),))


def test_what_select_refuses() -> None:
    check(lambda x: np.select([x > 0, x < 0], [x]), (vector(5),), variants=None)
    check(lambda x: np.select([], []), (vector(5),), variants=None)
    check(lambda x: np.select([x], [x]), (vector(5),), variants=None)


PIECES: dict[str, Callable[[Any], Any]] = {
    "two": lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 2]),
    "otherwise": lambda x: np.piecewise(x, [x < -1, x > 1], [0, 1, lambda v: np.sqrt(abs(v))]),
    "arguments": lambda x: np.piecewise(x, [x < 0], [lambda v, k: v * k, 3], 2.0),
}


@pytest.mark.parametrize("name", PIECES)
def test_piecewise(name: str) -> None:
    check(PIECES[name], *((vector(n),) for n in (9, 30)), jit=True)


def test_sinc() -> None:
    close = Bound(ulps=16, absolute=1e-16)
    for dtype in ("f8", "f4", "i8"):
        calls = [(np.append(vector(n, dtype), vector(1, dtype) * 0),) for n in (9, 30)]
        loose = close if dtype != "f4" else Bound(ulps=16, absolute=1e-7)
        check(lambda x: np.sinc(x) * 2, *calls, bound=loose, inner_bound=loose)


# ------------------------------------------------------------------------------ sliding windows
WINDOWS: dict[str, Callable[..., Any]] = {
    "sums": lambda x, k: windows(x, k).sum(axis=1),
    "means and maxima": lambda x, k: (windows(x, k).mean(axis=-1), windows(x, k).max(axis=1)),
    "products": lambda x, k: windows(x, k) @ x[:k],
    "differences": lambda x, k: windows(x, k) - x[: x.shape[0] - k + 1, None],
    "a copy": lambda x, k: windows(x, k).copy(),
    "every second": lambda x, k: windows(x[::2], k)[::-1, 1:] * 2,
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str) -> None:
    check(WINDOWS[name], (vector(20), 3), (vector(31), 5), bound=SUM, inner_bound=SUM, jit=True)


def test_windows_of_tables() -> None:
    def blur(x: Any) -> Any:
        return windows(x, (3, 3)).mean(axis=(2, 3)), windows(x, 2, axis=1).max(axis=-1)

    def twice(x: Any) -> Any:
        return windows(x, (2, 3), axis=(0, 0)).sum(axis=(-1, -2))

    for program in (blur, twice):
        check(program, (table(6, 7),), (table(9, 5),), bound=SUM, inner_bound=SUM)
        check(program, (table(6, 7).T,), (table(9, 5).T,), bound=SUM, inner_bound=SUM)


def test_windows_are_views() -> None:
    check(lambda x: windows(x, 3), (vector(9),), (vector(12),))
    check(lambda x: windows(x.T, (2, 2))[1:], (table(4, 6),), (table(5, 7),))


def test_windows_see_later_stores() -> None:
    def program(x: Any) -> Any:
        w = windows(x, 3)
        x += 1
        return w.sum(axis=1)

    check(program, (vector(9),), (vector(12),), bound=SUM, inner_bound=SUM)


def test_windows_that_numpy_refuses() -> None:
    check(lambda x: windows(x, 12) * 2, (vector(5),), variants=None)
    check(lambda x: windows(x, (2, 2)) * 2, (vector(5),), variants=None)
    check(lambda x: windows(x, -1) * 2, (vector(5),), variants=None)

    def stored(x: Any) -> Any:
        windows(x, 2)[0] = 1.0

    check(stored, (vector(5),), variants=None)
    check_not_compiled(lambda x: windows(x, 2, writeable=True) + 1, (vector(5),), "writeable=True")
