"""``@`` and np.matmul against NumPy: ranks, layouts, dtypes, stacked operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound, matmul_bound
from fusejit_testing.oracle import check

SHAPES = [
    ((3, 4), (4, 5)), ((3, 4), (4,)), ((4,), (4, 5)), ((4,), (4,)), ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((1, 3, 4), (2, 4, 5)), ((3, 0), (0, 5)),
    ((0, 4), (4, 5)), ((1, 4), (4, 1)), ((2, 3, 4), (4,)), ((70, 40), (40, 33)),
]  # fmt: skip


def product(a: Any, b: Any) -> Any:
    return a @ b


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return np.random.default_rng(shape[0]).normal(size=shape).astype(dtype)


@pytest.mark.parametrize(("left", "right"), SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_shapes(left: tuple[int, ...], right: tuple[int, ...], dtype: str) -> None:
    a, b = numbers(left, dtype), numbers(right, dtype)
    bound = Bound(absolute=matmul_bound(a, b))
    check(product, (a, b), bound=bound, inner_bound=bound)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1"])
def test_exact_on_small_integers(dtype: str) -> None:
    """Numbers whose products and sums are exact: every order of summation gives the same."""
    rng = np.random.default_rng(3)
    for left, right in SHAPES:
        a, b = (rng.integers(0, 5, s).astype(dtype) for s in (left, right))
        check(product, (a, b))


def test_layouts() -> None:
    a, b = np.arange(20.0).reshape(4, 5), np.arange(20.0).reshape(5, 4) - 7
    for x in (
        a,
        np.asfortranarray(a),
        np.ascontiguousarray(a.T).T,
        np.repeat(a, 2, 0)[::2],
        a[::-1],
    ):
        for y in (b, np.asfortranarray(b), np.repeat(b, 2, 1)[:, ::2], b[::-1, ::-1]):
            check(product, (x, y))


def test_fused_around_a_product() -> None:
    def layer(x: Any, w: Any, b: Any) -> Any:
        return np.maximum((x * 2) @ w.T + b, 0.0), x.T @ x, (w @ w.T)[1:]

    def args(n: int, k: int, m: int) -> tuple[np.ndarray, ...]:
        rng = np.random.default_rng(n)
        return tuple(rng.integers(-3, 4, s).astype(float) for s in ((n, k), (m, k), (m,)))

    check(layer, args(4, 5, 3), args(7, 2, 6), jit=True)


def test_into_stores() -> None:
    def f(a: Any, b: Any, out: Any) -> Any:
        out[...] = a @ b
        out[1:] += (a @ b)[:-1]
        a[0] = 1
        return a @ b

    x = np.arange(12.0).reshape(3, 4)
    check(f, (x, x.T.copy(), np.zeros((3, 3))), jit=True)


def test_shape_errors_are_numpys() -> None:
    for left, right in (((3, 4), (3, 4)), ((3,), (4,)), ((2, 3, 4), (3, 4, 5))):
        check(product, (np.ones(left), np.ones(right)), variants=0)
    check(product, (np.ones((2, 3)), np.ones((3, 2))), (np.ones((2, 3)), np.ones((2, 2))))
