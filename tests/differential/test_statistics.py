"""var, std, ptp, prod, count_nonzero: axes, keepdims, ddof, dtypes, layouts, special values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check, decorate

AXES: dict[int, list[Any]] = {
    0: [None, ()],
    1: [None, 0, -1],
    2: [None, 0, 1, -1, (0, 1), (-1,), ()],
    3: [None, 1, (0, 2), (2, 0), (0, 1, 2)],
}
SHAPES = {0: ((),), 1: ((7,), (130,)), 2: ((4, 5), (6, 67)), 3: ((2, 3, 4), (5, 2, 3))}


def numbers(shape: tuple[int, ...], dtype: Any, order: Any = "C") -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array(rng.random(shape) < 0.5, order=order)
    if dtype.kind in "iu":
        return np.array(rng.integers(0, 100, shape, dtype), order=order)
    return np.array(rng.normal(size=shape) + 3, dtype, order=order)


def check_variance(x: np.ndarray, axis: Any, keepdims: bool, ddof: Any = 0, **options: Any) -> None:
    def variance(x: Any) -> Any:
        return np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)

    def deviation(x: Any) -> Any:
        return x.std(axis, ddof=ddof, keepdims=keepdims)

    check(variance, (x,), **options)
    check(deviation, (x,), **options)


@pytest.mark.parametrize("rank", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_axes(rank: int, keepdims: bool, order: str) -> None:
    for axis in AXES[rank]:
        for shape in SHAPES[rank]:
            check_variance(numbers(shape, "f8", order), axis, keepdims)


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8", "f4", "f8"])
def test_dtypes(dtype: str) -> None:
    """Integers are float64, float32 stays."""
    for axis in (None, 0, 1):
        check_variance(numbers((6, 41), dtype), axis, False)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_jitted(axis: Any, dtype: str) -> None:
    check_variance(numbers((9, 70), dtype), axis, True, 1, jit=True)
    check_variance(numbers((9, 70), dtype)[::-1, ::2], axis, False, jit=True)


@pytest.mark.parametrize("ddof", [1, 2, -1, 0.5, np.float64(1.5), np.int64(1)])
def test_degrees_of_freedom(ddof: Any) -> None:
    x = numbers((3, 8), "f8")
    check_variance(x, 0, False, ddof)
    check(lambda x, d: np.var(x, axis=1, ddof=d), (x, ddof))
    check(lambda x, d: np.var(x, correction=d), (x, ddof))


@pytest.mark.parametrize("target", ["f4", "f8"])
@pytest.mark.parametrize("source", ["u1", "f4", "f8"])
def test_dtype_argument(source: str, target: str) -> None:
    x = numbers((5, 9), source)
    check(lambda x: np.var(x, axis=0, dtype=target), (x,))


@pytest.mark.filterwarnings("ignore:Degrees of freedom:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.*NumPy warns:")
def test_without_degrees_of_freedom_numpy_answers() -> None:
    """NumPy warns and divides by 0; a variant for longer arrays does not serve such a call."""

    def f(x: Any, d: Any) -> Any:
        return np.var(x, axis=0, ddof=d), np.std(x, ddof=d)

    x = numbers((2, 3), "f8")
    check(f, (x, 1), (x, 2), (x, 7), (x[:0], 0), (np.ones((1, 4)), 1), variants=None)


def test_variance_without_ddof_asks_for_elements_only() -> None:
    """No guard but that no axis is empty."""
    made = decorate(lambda x: np.var(x), jit=False)
    traced = made.trace(np.ones((3, 4)))
    assert len(traced.traced.graph.guards) == 2


def test_special_values() -> None:
    for values in ([np.nan, 1.0], [np.inf, 1.0], [2.5], [3.0] * 9, [0.0, -0.0]):
        check(lambda x: (np.var(x), np.std(x)), (np.array(values),), jit=True)


def test_squares_that_overflow_are_not_finite() -> None:
    result = fuse_jit(lambda x: np.var(x))(np.array([1e308, -1e308]))
    assert result == np.inf


def test_layer_norm_and_standardisation_are_within_the_bound_of_their_parts() -> None:
    def layer_norm(x: Any, g: Any, b: Any) -> Any:
        mean = x.mean(axis=-1, keepdims=True)
        var = x.var(axis=-1, keepdims=True)
        return (x - mean) / np.sqrt(var + 1e-5) * g + b

    def standardised(x: Any) -> Any:
        return (x - x.mean(0)) / x.std(0)

    rng = np.random.default_rng(1)
    x, g, b = rng.normal(size=(20, 30)), rng.normal(size=30), rng.normal(size=30)
    other = rng.normal(size=(3, 30))
    check(layer_norm, (x, g, b), (other, g, b), jit=True)
    check(standardised, (x,), (other,), jit=True)


def test_out() -> None:
    def f(x: Any, out: Any) -> Any:
        np.var(x, axis=0, out=out[0])
        return np.std(x, axis=0, out=out[1])

    check(f, (numbers((6, 4), "f8"), np.zeros((2, 4))))


# ------------------------------------------------------------------------- what is exact everywhere
@pytest.mark.parametrize("rank", AXES)
def test_ptp_and_counts(rank: int) -> None:
    for axis in AXES[rank]:
        for dtype in ("i4", "u1", "f4", "f8"):
            if dtype[0] == "u" and axis == ():
                continue
            arrays = [(numbers(s, dtype),) for s in SHAPES[rank]]
            check(lambda x, axis=axis: np.ptp(x, axis=axis, keepdims=True), *arrays)
            check(lambda x, axis=axis: np.count_nonzero(x > 3, axis=axis), *arrays)
            check(lambda x, axis=axis: np.count_nonzero(x, axis=axis, keepdims=True), *arrays)


def test_counts_of_special_values() -> None:
    x = np.array([[0.0, -0.0, np.nan], [1.0, np.inf, 5e-324]])
    check(
        lambda x: (np.count_nonzero(x), np.count_nonzero(x, axis=0)), (x,), (x.T.copy(),), jit=True
    )
    check(lambda x: np.count_nonzero(x == 0) / x.size, (x,), (np.ones((4, 4)),))
    check(lambda x: x.var(correction=1), (x,), variants=0)  # of the function alone


def test_bools_have_no_ptp() -> None:
    check(lambda x: np.ptp(x), (np.array([True, False]),), variants=0)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_integers(dtype: str, order: str) -> None:
    """They wrap around in 64 bits, in any order; bools are multiplied as int64."""
    for rank in AXES:
        for axis in AXES[rank]:
            arrays = [(numbers(s, dtype, order),) for s in SHAPES[rank]]

            def f(x: Any, axis: Any = axis) -> Any:
                return np.prod(x, axis=axis), x.prod(axis=axis, keepdims=True)

            check(f, *arrays, jit=rank == 2 and dtype in ("i4", "u8"))
    x = numbers((3, 4), dtype) + 1
    check(lambda x: (np.multiply.reduce(x), x.prod(dtype="i2"), np.prod(x, dtype=bool)), (x,))
    check(lambda x: np.prod(x, axis=0), (np.zeros((0, 3), dtype),))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_floats_have_numpys_bits(dtype: str, order: str) -> None:
    def products(x: Any) -> Any:
        y = x / 3 + 1
        masked = np.prod(y, where=x > 0), np.prod(y, axis=0, initial=2.5)
        stored = np.empty(x.shape[1], x.dtype)
        np.prod(y, axis=0, out=stored)
        return y.prod(), np.prod(y, axis=1) * 2, y.prod(axis=0, keepdims=True), masked, stored

    check(products, *((numbers(shape, dtype, order),) for shape in ((5, 7), (40, 3), (0, 2))))


def test_products_of_floats_in_loops() -> None:
    def of_rows(x: Any) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            out[i] = np.prod(x[i] / 3 + 1)
        return out

    check(of_rows, (numbers((9, 70), "f8"),))
