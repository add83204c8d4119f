"""diff, gradient, ediff1d, trapezoid, convolve, correlate against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound, gamma
from fusejit_testing.oracle import check, check_not_compiled, decorate


def numbers(shape: Any, dtype: Any = "f8", order: Any = "C") -> Any:
    rng = np.random.default_rng(np.prod(shape))
    if np.dtype(dtype).kind == "f":
        return np.array(rng.normal(size=shape), dtype, order=order)
    return np.array(rng.integers(0, 2 if dtype == "?" else 100, shape), dtype, order=order)


# ---------------------------------------------------------------------------------- diff, ediff1d
@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f4", "f8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_diff(dtype: str, axis: int) -> None:
    def f(x: Any) -> Any:
        return np.diff(x, axis=axis), np.diff(x, 2, axis), np.diff(x, n=3, axis=axis)

    for order in "CF":
        check(f, (numbers((5, 6), dtype, order),), (numbers((7, 4), dtype, order),))
    check(f, (numbers((9, 8), dtype)[::2, ::-1],))


def test_ends_of_diff() -> None:
    def f(x: Any, a: Any) -> Any:
        return (
            np.diff(x, prepend=0),
            np.diff(x, append=a),
            np.diff(x, prepend=x[:, :1], append=x[:, -2:]),
            np.diff(x, n=2, axis=0, prepend=a, append=1),
            np.diff(x, n=0),
        )

    check(f, (numbers((4, 5)), 2.5), (numbers((3, 7)), 1.0))
    check(f, (numbers((4, 5), "i4"), 2.5))


def test_short_axes_and_errors_of_diff() -> None:
    for n in (0, 1, 2):
        check(lambda x: np.diff(x, 2), (np.ones(n),), variants=None)
    check(lambda x: np.diff(x), (np.array(1.0),), variants=None)
    check(lambda x: np.diff(x, -1), (np.ones(3),), variants=None)
    check(lambda x: np.diff(x, axis=1), (np.ones(3),), variants=None)


def test_ediff1d() -> None:
    def f(x: Any, a: Any) -> Any:
        return (
            np.ediff1d(x),
            np.ediff1d(x, to_end=a),
            np.ediff1d(x, to_begin=[1.0, 2.0], to_end=x[0, :2]),
        )

    check(f, (numbers((3, 4)), 2.5), (numbers((5, 2)), 1.0))
    check(lambda x: np.ediff1d(x, 2.5), (np.arange(4),), variants=None)


# ----------------------------------------------------------------------------- gradient, trapezoid
@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_gradients(edge_order: int, dtype: str) -> None:
    def f(x: Any, h: Any) -> Any:
        return (
            np.gradient(x, edge_order=edge_order),
            np.gradient(x, h, edge_order=edge_order),
            np.gradient(x, 2.0, h, axis=(1, 0), edge_order=edge_order),
            np.gradient(x, axis=1, edge_order=edge_order) * 2,
        )

    for order in "CF":
        check(f, (numbers((4, 5), dtype, order), 0.1), (numbers((6, 3), dtype, order), 3.5))
    check(lambda x: np.gradient(x, edge_order=edge_order), (numbers((7,), dtype),), jit=True)


def test_errors_of_gradient() -> None:
    check(lambda x: np.gradient(x), (np.ones(1),), variants=None)
    check(lambda x: np.gradient(x, 1.0, 2.0), (np.ones(4),), variants=None)
    check(lambda x: np.gradient(x, edge_order=3), (np.ones(4),), variants=None)
    check(lambda x: np.gradient(x, axis=1), (np.ones(4),), variants=None)
    check_not_compiled(lambda x: np.gradient(x, x), (np.arange(4.0) ** 2,), "coordinates")


def test_gradients_are_computed_straight_into_their_parts() -> None:
    def f(x: Any) -> Any:
        return np.gradient(x, 0.5)

    stages = str(decorate(f, jit=False).trace(numbers((9,))).fuse())
    assert stages.count("store @") == stages.count(" = generic") == 3


def test_trapezoids() -> None:
    def f(x: Any, t: Any, h: Any) -> Any:
        return (
            np.trapezoid(x),
            np.trapezoid(x, dx=h, axis=0),
            np.trapezoid(x, t),
            np.trapezoid(x, x * 2, axis=1),
            np.trapezoid(t, t),
        )

    args = numbers((4, 5)), numbers((5,)), 0.25
    other = numbers((3, 7)), numbers((7,)), 1.5
    check(f, args, other, bound=Bound(0, 1e-13))


# --------------------------------------------------------------------------------- windowed sums
def window_bound(a: Any, v: Any) -> float:
    """Both sums of at most ``n`` products, in any order, with or without FMA."""
    n = min(len(a), len(v))
    dtype = np.result_type(a, v)
    size = float(np.convolve(np.abs(a).astype(float), np.abs(v).astype(float)).max())
    return 2 * gamma(n + 1, dtype) * size


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
@pytest.mark.parametrize("function", [np.convolve, np.correlate])
def test_windowed_sums(mode: str, function: Any) -> None:
    def f(a: Any, v: Any) -> Any:
        return function(a, v, mode)

    for n, m in ((9, 4), (9, 5), (5, 5), (4, 9), (7, 1), (1, 7), (200, 150)):
        for dtype in ("f4", "f8"):
            a, v = numbers((n,), dtype), numbers((m,), dtype)
            check(f, (a, v), bound=Bound(0, window_bound(a, v)))
    check(
        f, (numbers((9,), "i4"), numbers((4,), "u1")), (numbers((19,), "i4"), numbers((3,), "u1"))
    )
    check(f, (numbers((9,), "?"), numbers((4,), "?")))
    check(f, (numbers((18,))[::-2], numbers((8,))[::2]), bound=Bound(0, 1e-13))


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
def test_windows_with_infinite_weights(mode: str) -> None:
    """What lies outside the array is left out: it is no zero."""

    def f(a: Any, v: Any) -> Any:
        return np.convolve(a, v, mode), np.correlate(a, v, mode)

    v = np.array([1.0, np.inf, np.nan, 2.0, 0.5])
    check(f, (numbers((12,)), v), bound=Bound(0, 1e-13))


def test_windows_of_fixed_weights() -> None:
    def f(x: Any, a: Any) -> Any:
        return (
            np.convolve(x, [1, -2, 1], "same"),
            np.convolve(x, np.ones(4) / 4, "valid"),
            np.convolve(x, [a, 1, a]),
            np.correlate(x, [2.0]),
            np.convolve([1.0, 2.0], x),
        )

    check(f, (numbers((9,)), 0.5), (numbers((20,)), 1.5), bound=Bound(0, 1e-13), jit=True)


def test_errors_of_windows() -> None:
    check(lambda a: np.convolve(a, a[:0]), (np.ones(3),), variants=None)
    check(lambda a: np.convolve(a, a), (np.ones((3, 3)),), variants=None)
    check(lambda a: np.correlate(a, a), (np.ones((3, 3)),), variants=None)
