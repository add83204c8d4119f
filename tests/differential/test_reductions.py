"""sum, mean, max, min, any, all: axes, keepdims, dtype=, dtypes, layouts, special values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, decorate

AXES: dict[int, list[Any]] = {
    0: [None, ()],
    1: [None, 0, -1, (0,)],
    2: [None, 0, 1, -1, (0, 1), (1, 0), (-1,), ()],
    3: [None, 0, 1, 2, -2, (0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2)],
}
SHAPES: dict[int, tuple[tuple[int, ...], ...]] = {
    0: ((),),
    1: ((7,), (130,)),
    2: ((4, 5), (2, 67)),
    3: ((2, 3, 4), (5, 2, 3)),
}


def numbers(shape: tuple[int, ...], dtype: Any, order: Any = "C") -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array(rng.random(shape) < 0.5, order=order)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array(rng.integers(info.min, info.max, shape, dtype), order=order)
    return np.array(rng.normal(size=shape), dtype, order=order)


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_axes(rank: int, keepdims: bool, order: str) -> None:
    for axis in AXES[rank]:
        check_axis(axis, keepdims, [numbers(s, "f8", order) for s in SHAPES[rank]])


def check_axis(axis: Any, keepdims: bool, arrays: list[np.ndarray]) -> None:
    """Extrema at both sizes; sums and means to the bit."""

    def extrema(x: Any) -> Any:
        return np.max(x, axis=axis, keepdims=keepdims), x.min(axis=axis, keepdims=keepdims)

    def total(x: Any) -> Any:
        return np.sum(x, axis=axis, keepdims=keepdims)

    def mean(x: Any) -> Any:
        return x.mean(axis=axis, keepdims=keepdims)

    check(extrema, *((x,) for x in arrays))
    for x in arrays:
        check(total, (x,))
        check(mean, (x,))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "?"])
def test_jitted(axis: Any, dtype: str) -> None:
    """Jitted, unjitted and interpreted sums have the same bits at every size."""
    x, other = numbers((5, 70), dtype), numbers((40, 11), dtype)
    check(lambda x: np.sum(x, axis=axis), (x,), (other,), jit=True)


@pytest.mark.parametrize("axis", [0, 1])
def test_extrema_and_sums_of_views_jitted(axis: int) -> None:
    def f(x: Any) -> Any:
        return np.max(x, axis=axis), np.min(x), np.sum(x, axis=axis, keepdims=True)

    x = numbers((5, 70), "i4")
    for view in (x[::-1, ::2], np.asfortranarray(x), x):
        check(f, (view,), jit=True)
    y = numbers((9, 33), "f8")[::-1, ::3]
    check(lambda x: np.max(x, axis=axis), (y,), (-y,), jit=True)


@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "i8", "u1", "u4", "u8", "f4", "f8"])
def test_dtypes(dtype: str) -> None:
    """Small integers are summed in 64 bits, bools are counted, means of integers are float64."""
    x = numbers((6, 5), dtype)

    def f(x: Any) -> Any:
        return x.sum(), x.sum(axis=0), x.mean(), x.mean(axis=1), x.max(axis=0), x.min()

    check(f, (x,))
    check(lambda x: (np.any(x, axis=0), np.all(x), x.any(), x.all(axis=1)), (x,))


@pytest.mark.parametrize("source", ["?", "u1", "i4", "f4", "f8"])
@pytest.mark.parametrize("target", ["i8", "i4", "f4", "f8", "u1"])
def test_dtype_argument(source: str, target: str) -> None:
    if source[0] == "f" and target[0] != "f":
        x = np.arange(12.0, dtype=source).reshape(3, 4)
    else:
        x = numbers((3, 4), source)
    check(lambda x: np.sum(x, dtype=target), (x,))
    if target[0] == "f":
        check(lambda x: x.mean(dtype=target), (x,))


def test_special_values() -> None:
    """NaN propagates through extrema; infinities through sums."""
    for values in (
        [1.0, np.nan, 3.0], [np.nan], [np.inf, 1.0], [-np.inf, np.inf], [-np.inf] * 3,
        [np.nan, np.inf, -np.inf], [1e308, 1e308], [5e-324, -5e-324, 5e-324],
    ):  # fmt: skip
        for length in (1, 17):
            x = np.array(values * length)
            check(lambda x: (x.max(), x.min(), x.sum()), (x,))
            zeros = np.array([-0.0, -0.0] * length)
            check(lambda x: x.sum(), (zeros,))
            # a listed exception: a max or min that is zero is +0.0 (docs/semantics.md)
            check(lambda x: (x.max(), x.min()), (zeros,), bound=Bound(zero_sign=False))
            f = decorate(lambda x: (x.max(), x.min()), jit=False)
            assert not np.signbit(f(zeros)).any()
    x = np.ones(1000)
    x[777] = np.nan
    check(lambda x: (x.max(), x.min(), np.any(np.isnan(x))), (x,), (x[:700],), jit=True)


def test_infinite_means() -> None:
    check(lambda x: x.mean(), (np.array([np.inf, 1.0]),))
    check(lambda x: x.mean(), (np.array([np.inf, -np.inf]),))


def test_empty() -> None:
    check(lambda x: (x.sum(), x.sum(axis=0), np.any(x), np.all(x, axis=0)), (np.zeros((0, 3)),))
    check(lambda x: (x.sum(axis=1), x.max(axis=1)), (np.zeros((0, 3)),))
    for f in (lambda x: x.max(), lambda x: np.min(x, axis=0)):
        check(f, (np.zeros((0, 3)),), variants=0)
        check(f, (np.ones((2, 3)),), (np.zeros((0, 3)),), (np.ones((4, 2)),))


def test_axis_errors_are_numpys() -> None:
    for axis in (2, -3, (0, 0), (0, 5)):
        check(lambda x, axis=axis: np.sum(x, axis=axis), (np.ones((2, 3)),), variants=0)


@pytest.mark.parametrize(
    "n", [0, 1, 2, 63, 64, 65, 127, 128, 129, 1007, 1008, 1009, 1023, 1024, 1025, 5000]
)
def test_lengths_around_leaves_and_blocks(n: int) -> None:
    for dtype in ("f4", "f8"):
        check(lambda x: np.sum(x), (numbers((n,), dtype),), jit=n == 5000)


def test_reductions_fused_with_what_surrounds_them() -> None:
    def softmax(x: Any) -> Any:
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    def variance(x: Any) -> Any:
        m = x.mean(axis=0)
        return ((x - m) ** 2).mean(axis=0), m

    x, y = numbers((5, 9), "f8"), numbers((3, 70), "f8")
    inner = Bound(ulps=40)  # sums of functions that are within 4 ulp
    check(softmax, (x,), (y,), jit=True, bound=Bound(ulps=80), inner_bound=inner)
    check(variance, (x,), (y,), jit=True)


def test_integer_sums_wrap() -> None:
    x = np.full((3, 4), np.iinfo(np.int64).max)
    check(lambda x: (x.sum(), x.sum(axis=0)), (x,), jit=True)
    y = np.full((300, 4), 255, np.uint8)
    check(lambda x: (x.sum(), x.sum(axis=0), x.sum(dtype=np.uint8)), (y,), jit=True)


def _totals_of_integers(x: Any) -> Any:
    return x.sum(), np.count_nonzero(x), (x > 0).sum(), x.astype(float).sum()


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4"])
@pytest.mark.parametrize("number", [-1, 1])
def test_totals_of_the_largest_numbers(dtype: str, number: int) -> None:
    """Blocks are added in fewer bits than totals have; no block of extreme numbers overflows."""
    kind = np.dtype(dtype).kind
    extreme = 1 if kind == "b" else np.iinfo(dtype).max if number > 0 else np.iinfo(dtype).min
    f = decorate(_totals_of_integers, jit=True)
    for n in (1, 4095, 4096, 4097, 12_345, 70_000):
        x = np.full(n, extreme, dtype)
        assert f(x) == _totals_of_integers(x)
    if dtype == "u1":
        check(_totals_of_integers, (np.full(4_097, extreme, dtype),))


def test_blocks_of_bools_are_counted_in_16_bits() -> None:
    count = decorate(lambda x: np.count_nonzero(x), jit=False)
    source = count.trace(np.ones(5, bool)).fuse().lower().source
    assert "narrow_0 = u16(0)" in source
    assert "narrow_0 = int_add(narrow_0, cast(t0, u16))" in source
    assert "block_0 = cast(narrow_0, i64)" in source
