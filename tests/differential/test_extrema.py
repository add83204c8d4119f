"""argmax, argmin and norms against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, check_not_compiled


def numbers(shape: Any, dtype: Any = "f8", order: Any = "C") -> Any:
    """Small whole numbers, each of them several times."""
    rng = np.random.default_rng(np.prod(shape))
    low = 0 if np.dtype(dtype).kind in "bu" else -3
    return np.array(rng.integers(low, 4, shape), dtype, order=order)


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_places(dtype: str, axis: Any) -> None:
    def f(x: Any) -> Any:
        return np.argmax(x, axis), np.argmin(x, axis=axis), x.argmax(axis) * 2, x.argmin()

    def wide(x: Any) -> Any:
        return np.argmax(x, axis=axis, keepdims=True), np.argmin(x, axis=axis, keepdims=True)

    for order in "CF":
        check(f, (numbers((5, 6), dtype, order),), (numbers((3, 9), dtype, order),))
        check(wide, (numbers((5, 6), dtype, order),), (numbers((3, 9), dtype, order),))
    check(f, (numbers((8, 6), dtype)[::-2, ::3],))


def test_special_places() -> None:
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, np.nan, np.inf, -np.inf]
    for start in range(len(values)):
        for array in (np.array(values[start:]), np.array(values[start:][::-1])):
            check(lambda x: (np.argmax(x), np.argmin(x)), (array,))
    check(lambda x: (np.argmax(x), np.argmin(x)), (np.full(4, -np.inf),), (np.full(9, np.inf),))
    info = np.iinfo("i8")
    check(lambda x: (x.argmax(), x.argmin()), (np.array([info.max, info.min, info.max]),), jit=True)


def test_places_of_computed_arrays() -> None:
    def f(x: Any, out: Any) -> Any:
        np.argmin(abs(x), axis=0, out=out)
        return np.argmax(x * x + 1, axis=1), np.argmax(x > 0), x[:, np.newaxis].argmin(axis=2)

    check(f, (numbers((5, 6)), np.zeros(6, int)), (numbers((3, 9)), np.zeros(9, int)), jit=True)


def test_errors() -> None:
    check(lambda x: np.argmax(x), (np.ones(0),), variants=None)
    check(lambda x: np.argmax(x, axis=0), (np.ones((0, 3)),), variants=None)
    check(lambda x: np.argmax(x, axis=2), (np.ones((2, 3)),), variants=None)
    check(lambda x: (np.argmax(x), np.argmin(x, axis=0)), (np.array(3.0),))


# ------------------------------------------------------------------------------------------ norms
@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3, -1, 0.5, np.inf, -np.inf])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms_of_vectors(ord: Any, keepdims: bool) -> None:
    def f(x: Any, v: Any) -> Any:
        return (
            np.linalg.norm(v, ord, keepdims=keepdims),
            np.linalg.norm(x, ord, axis=1, keepdims=keepdims),
            np.linalg.norm(x, ord=ord, axis=0),
        )

    for dtype, bound in (("f8", 1e-13), ("f4", 1e-4), ("i4", 1e-13)):
        args = [(abs(numbers(s, dtype)) + 1, numbers((s[0],), dtype) + 9) for s in ((3, 4), (5, 2))]
        check(f, *args, bound=Bound(4, bound), inner_bound=Bound(4, bound))


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(ord: Any) -> None:
    def f(x: Any) -> Any:
        return (
            np.linalg.norm(x[0], ord),
            np.linalg.norm(x, ord, axis=(0, 1)),
            np.linalg.norm(x, ord, axis=(2, 0), keepdims=True),
        )

    check(f, (numbers((3, 4, 5)),), (numbers((2, 2, 6)),), bound=Bound(4, 1e-13))


def test_norms_that_are_refused_or_raise() -> None:
    for x in (np.ones((2, 2)), np.array([[2.0, 1.0], [1.0, 3.0]])):
        check_not_compiled(lambda x: np.linalg.norm(x, 2), (x,), "singular values")
    check(lambda x: np.linalg.norm(x, "fro"), (np.ones(3),), variants=None)
    check(lambda x: np.linalg.norm(x, axis=(0, 1, 2)), (np.ones((2, 2, 2)),), variants=None)


def test_a_normalised_vector_is_one_kernel() -> None:
    def f(v: Any) -> Any:
        return v / np.linalg.norm(v)

    made = check(f, (numbers((5,)) + 9,), (numbers((8,)) + 9,), bound=Bound(4), jit=True)
    assert str(made.trace(np.ones(3)).fuse()).count("KernelStep") == 1
