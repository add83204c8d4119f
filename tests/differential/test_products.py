"""outer, kron, cross, tensordot, matrix_power, polyval, vander, cov, corrcoef against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import UnsupportedError, fuse_jit
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, check_not_compiled

SMALL = Bound(0, 1e-12)


def whole(shape: Any, dtype: Any = "f8", order: Any = "C") -> Any:
    """Small integers: their products and sums are exact in any order."""
    rng = np.random.default_rng(np.prod(shape))
    low = 0 if np.dtype(dtype).kind in "bu" else -5
    return np.array(rng.integers(low, 6, shape), dtype, order=order)


@pytest.mark.parametrize("dtype", ["?", "i4", "f4", "f8"])
def test_products_without_sums(dtype: str) -> None:
    def f(x: Any, y: Any, v: Any) -> Any:
        return (
            np.outer(v, v[:2]),
            np.outer(x, 3),
            np.linalg.outer(v, v) + 1,
            np.kron(x, y),
            np.kron(v, x),
            np.kron(x.T, v),
        )

    check(f, (whole((2, 3), dtype), whole((3, 2), dtype), whole((4,), dtype)))
    check(f, (whole((4, 3), dtype, "F"), whole((1, 2), dtype), whole((5,), dtype)), variants=None)


def test_out_of_outer() -> None:
    check(lambda v, out: np.outer(v, v, out=out), (whole((3,)), np.zeros((3, 3))))


@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_inner_products(dtype: str) -> None:
    def f(x: Any, v: Any) -> Any:
        return (
            np.inner(v, v),
            np.inner(x, v),
            np.inner(x, x),
            np.inner(v, 2),
            np.vdot(v, v),
            np.vdot(x, x * 2),
            np.vecdot(x, x),
            np.vecdot(x, v),
            np.vecdot(v, v),
        )

    check(f, (whole((3, 4), dtype), whole((4,), dtype)), (whole((2, 6), dtype), whole((6,), dtype)))


@pytest.mark.parametrize("dtype", ["i4", "f4"])
def test_python_numbers_in_dot_products_are_no_weak_scalars(dtype: str) -> None:
    def f(v: Any, a: Any) -> Any:
        return np.dot(v, 2), np.dot(2.5, v), np.inner(v, 2), np.dot(v, a), np.dot(v[0], 2)

    check(f, (whole((3,), dtype), 2.5))


@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_cross_products(dtype: str) -> None:
    def f(x: Any, v: Any) -> Any:
        return (
            np.cross(x, v),
            np.cross(v, x[::-1]) * 2,
            np.cross(x, x, axisb=1),
            np.cross(x.T, x.T, axis=0),
            np.cross(x.T, v, axisa=0, axisc=0),
            np.linalg.cross(x, x + 1),
            np.cross(v, v),
        )

    check(f, (whole((5, 3), dtype), whole((3,), dtype)), (whole((7, 3), dtype), whole((3,), dtype)))


def test_errors_of_products() -> None:
    check(lambda x: np.cross(x, x), (np.ones((2, 4)),), variants=None)
    check(lambda x: np.linalg.outer(x, x), (np.ones((2, 4)),), variants=None)
    check(lambda x: np.inner(x, x[:, 1:]), (np.ones((2, 4)),), variants=None)
    check(lambda x: np.tensordot(x, x, 1), (np.ones((2, 4)),), variants=None)
    check(lambda x: np.tensordot(x, x, ([0, 0], [0, 1])), (np.ones((2, 2)),), variants=None)
    check(lambda x: np.linalg.matrix_power(x, 2), (np.ones((2, 4)),), variants=None)
    for x in (np.array([[2.0, 1.0], [1.0, 3.0]]), whole((2, 3, 3)) % 5 + 9 * np.eye(3)):
        check_not_compiled(lambda x: np.linalg.matrix_power(x, -1), (x,), "inverse")
    singular = np.ones((2, 2))
    check(lambda x: np.linalg.matrix_power(x, -1), (singular,), variants=None)
    with pytest.raises(UnsupportedError, match="inverse"):
        fuse_jit(fullgraph=True)(lambda x: np.linalg.matrix_power(x, -1))(singular)


@pytest.mark.parametrize("order", ["C", "F"])
def test_tensordot(order: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return (
            np.tensordot(x, y, ([1, 0], [0, 1])),
            np.tensordot(x, y, ([2], [2])),
            np.tensordot(x, y, (0, 1)),
            np.tensordot(x[0], y[0], 1),
            np.tensordot(x, x, 3),
        )

    args = whole((2, 3, 4), order=order), whole((3, 2, 4), order=order)
    check(f, args, variants=None)


@pytest.mark.parametrize("n", range(8))
def test_matrix_powers(n: int) -> None:
    def f(x: Any) -> Any:
        return np.linalg.matrix_power(x, n)

    x = whole((3, 3)) % 3
    check(f, (x,), (x[:2, :2].copy(),))
    if n != 1:
        check(f, (x.astype("i4"),))


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_polynomials(dtype: str) -> None:
    def f(x: Any, p: Any, a: Any) -> Any:
        return (
            np.polyval([3, 0, 1], x),
            np.polyval(p, x),
            np.polyval(p, a),
            np.polyval([a, 1.0, a], x) * 2,
            np.vander(x, 4),
            np.vander(x, 3, increasing=True),
            np.vander(x, 0),
            np.vander(p),
        )

    check(
        f,
        (whole((5,), dtype), whole((3,), dtype), 2.5),
        (whole((7,), dtype), whole((3,), dtype), 1.5),
    )


def test_covariances() -> None:
    def f(x: Any, v: Any) -> Any:
        return (
            np.cov(x),
            np.cov(x, rowvar=False),
            np.cov(v),
            np.cov(v, v * 2 + 1, ddof=0),
            np.cov(x, bias=True),
            np.cov(x, v),
            np.corrcoef(x),
            np.corrcoef(v, v[::-1]),
        )

    rng = np.random.default_rng(0)
    args = [(rng.normal(size=(3, n)), rng.normal(size=n)) for n in (5, 9)]
    check(f, *args, bound=SMALL, inner_bound=SMALL)
    check(lambda x: np.cov(x), (whole((3, 4), "i4"),), bound=SMALL, inner_bound=SMALL)


@pytest.mark.filterwarnings("ignore:.*NumPy warns:")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_covariance_without_degrees_of_freedom() -> None:
    check(lambda x: np.cov(x), (np.ones((3, 1)),), variants=None)
    for x in (np.ones((2, 2)), np.array([[2.0, 1.0], [1.0, 3.0]])):
        check_not_compiled(lambda x: np.cov(x, aweights=[1, 2]), (x,), "weights")
        check_not_compiled(lambda x, w: np.cov(x, aweights=w), (x, np.array([1.0, 2.0])), "weights")
    check_not_compiled(lambda x: np.cov(x, aweights=[1, 2]), (np.ones((2, 3)),), "weights")
