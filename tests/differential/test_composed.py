"""clip, divmod, round, nan_to_num and their kin; powers of integers; corners of division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import UnsupportedError
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, decorate

SIGNED_ZERO = Bound(zero_sign=False)
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def integers(dtype: Any, seed: int = 0, small: bool = False) -> np.ndarray:
    """Corners of the dtype and random numbers of all sizes, with repetitions."""
    info = np.iinfo(dtype)
    rng = np.random.default_rng([info.bits, seed])
    corners = [info.min, info.min + 1, -2 % 2**63, -1, 0, 1, 2, 3, 7, info.max // 2, info.max - 1]
    corners = [max(min(c, info.max), info.min) for c in [*corners, info.max]]
    scale = 2.0 ** rng.uniform(0, info.bits - 1, 60)
    sized = [int(s) * (-1 if info.min and k % 2 else 1) for k, s in enumerate(scale)]
    return np.array([*corners, *(max(min(s, info.max), info.min) for s in sized)], dtype)


def all_pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    left, right = np.meshgrid(x, y, indexing="ij")
    return left.copy(), right.copy()


def divisions(x: Any, y: Any) -> Any:
    return x // y, x % y, np.fmod(x, y), divmod(x, y)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_division_of_integers(dtype: str) -> None:
    """Every corner beside every corner: zero divisors, INT_MIN // -1, both signs."""
    x, y = all_pairs(integers(dtype), integers(dtype, 1))
    check(divisions, (x, y), (x[:7], y[:7]), jit=True)


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u4", "u8"])
@pytest.mark.parametrize("divisor", [1, 2, 3, 10, 127])
def test_division_by_numbers(dtype: str, divisor: int) -> None:
    """Constants, run-time numbers, and numbers that are divided."""
    x = integers(dtype)
    check(lambda x: (x // divisor, x % divisor, divisor // x, divisor % x), (x,), jit=True)
    check(lambda x, p: (x // p, x % p, divmod(x, p)), (x, divisor), (x[:5], 5), jit=True)
    if dtype[0] == "i":
        check(lambda x: (x // -divisor, x % -divisor, np.fmod(x, -divisor)), (x,))
        check(lambda x, p: (x // p, p % x), (x, -divisor), (x[:5], 0))


def test_division_of_many_random_integers() -> None:
    """64-bit quotients take a path through float64 that has to be repaired."""
    rng = np.random.default_rng(5)

    def draw(bits: Any) -> np.ndarray:
        size = rng.integers(0, 2**63, 40_000) >> rng.integers(0, 63, 40_000)
        return (size * rng.choice([-1, 1], 40_000)).astype(bits)

    f = decorate(lambda x, y: (x // y, x % y), jit=True)
    for dtype in ("i8", "i4", "u4", "u8"):
        x, y = draw(dtype), draw(dtype)
        exact = np.array([np.iinfo(dtype).max // 3, 2**31 - 1], dtype)
        y[:8] = np.repeat(exact, 4)
        x[100:20_000] = y[100:20_000] * rng.integers(-50, 50, 19_900).astype(dtype)
        x[10_000:20_000] += rng.integers(-1, 2, 10_000).astype(dtype)
        with np.errstate(all="ignore"):
            expected = x // y, x % y
        for found, wanted in zip(f(x, y), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


FLOATS = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    -0.1,
    2.5,
    1e300,
    -1e-300,
    5e-324,
    7.0,
]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_division_of_floats(dtype: str) -> None:
    with np.errstate(over="ignore"):
        values = np.array([*FLOATS, *np.random.default_rng(2).normal(size=20)]).astype(dtype)
    x, y = all_pairs(values, values)
    check(divisions, (x, y), (x[:3], y[:3]), jit=True)
    check(lambda x, p: (x // p, x % p, p % x, divmod(x, 0.3)), (x, 0.7), (x[:2], -2.0))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype: str) -> None:
    """Counts of the width and more give 0 (or the sign), as in NumPy."""
    x = integers(dtype)
    counts = np.array([0, 1, 2, 7, 8, 15, 31, 32, 63, 64, 100], dtype)
    left, right = all_pairs(x, counts)
    check(lambda x, n: (x << n, x >> n), (left, right), (left[:3], right[:3]), jit=True)
    check(lambda x: (x << 3, x >> 3, x >> 70, x << 70, 1 << (x & 3)), (x,), jit=True)
    check(lambda x, n: (x << n, x >> n), (x, 2), (x[:3], 9))
    if dtype[0] == "i":
        check(lambda x, n: (x << n, x >> n), (x, np.full_like(x, -1)))


def test_in_place() -> None:
    def f(x: Any, y: Any) -> Any:
        x //= y
        x %= 7
        x <<= 2
        x |= 1
        x **= 3
        return x

    x = integers("i4")
    check(f, (x, x[::-1].copy()), jit=True)


# ---------------------------------------------------------------------------------------- powers
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 5, 10, 100])
def test_integers_to_constant_powers(dtype: str, exponent: int) -> None:
    x = integers(dtype)
    check(lambda x: (x**exponent, np.power(x, exponent)), (x,), (x[:3],))
    check(lambda x, p: x**p, (x, exponent), jit=exponent == 10)
    check(lambda x, p: p**x, (x if dtype[0] == "u" else x[x >= 0].astype("u1"), exponent))


def test_integers_to_arrays_of_powers() -> None:
    """Unsigned and bool exponents are never negative; signed ones are checked, as NumPy does it."""
    x = integers("i8")
    n = np.arange(x.size, dtype="u1")
    check(lambda x, n: (x**n, x ** (n > 3)), (x, n), (x[:4], n[:4]), jit=True)
    check(lambda x, n: x**n, (x, abs(x) % 9), (x[:4], x[:4] % 2), jit=True)
    check(lambda x, n: x**n, (x, x), variants=None)


def test_negative_powers_of_integers_raise_as_in_numpy() -> None:
    x = np.arange(3)
    check(lambda x: x**-1, (x,), variants=0)
    check(lambda x, p: x**p, (x, 3), (x, -2), (x, np.int64(-2)), variants=None)


def test_bools_to_powers() -> None:
    x = np.array([True, False])
    check(lambda x: (x**3, x**x, x ** np.uint8(2), x**2), (x,))


@pytest.mark.parametrize("exponent", [2, 0.5, -1, 1, 0, 3, -0.5])
def test_float_power_is_always_pow(exponent: Any) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0, 3.5, -2.0])
    ulp = Bound(8)
    check(lambda x: np.float_power(x, exponent), (x,), bound=ulp, inner_bound=ulp)
    check(lambda x, p: np.float_power(x, p), (x.astype("f4"), exponent), bound=ulp, inner_bound=ulp)
    check(lambda x, p: np.float_power(x, p), (np.arange(1, 9), x), bound=ulp, inner_bound=ulp)


# ---------------------------------------------------------------------------------------- clip
@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "f4", "f8"])
def test_clip(dtype: str) -> None:
    x = np.array([-100, -3, 0, 1, 2, 3, 100]).astype(dtype)

    def constants(x: Any) -> Any:
        return np.clip(x, 1, 3), x.clip(1, 3), np.clip(x, None, 2), np.clip(x, 2, None), x.clip(2)

    check(constants, (x,), (x[:3],), jit=dtype in ("i4", "f4"), bound=SIGNED_ZERO)
    check(lambda x: np.clip(x, min=1, max=3), (x,), bound=SIGNED_ZERO)
    check(lambda x, a, b: np.clip(x, a, b), (x, 0, 2), (x[:4], 3, 1), bound=SIGNED_ZERO)
    check(lambda x, y: np.clip(x, y, y + y), (x, abs(x)), bound=SIGNED_ZERO)
    check(lambda x, a: np.clip(x, np.float32(0.5), a), (x, 2.5), bound=SIGNED_ZERO)


def test_clip_by_integers_beyond_the_dtype() -> None:
    x = np.arange(0, 256, 5, dtype="u1")
    check(lambda x: (np.clip(x, -5, 300), np.clip(x, -5, 7), np.clip(x, 9, 300)), (x,))
    check(lambda x: np.clip(x, 1000, 2000), (x,), variants=0)


def test_clip_with_nan_and_out() -> None:
    def f(x: Any, low: Any, out: Any) -> Any:
        np.clip(x, low, 2.0, out=out)
        x.clip(-1.0, 1.0, out=x)
        return np.clip(x, np.nan, 1.0)

    x = np.array([np.nan, -np.inf, np.inf, 0.5, -3.0])
    check(f, (x, np.array([0.0, np.nan, 1.0, 1.0, -9.0]), np.zeros(5)), bound=SIGNED_ZERO)
    check(lambda x: np.clip(x, 0, 1), (np.float64(3.5),), bound=SIGNED_ZERO)


def test_saturating_to_bytes() -> None:
    x = np.linspace(-50, 400, 91).reshape(7, 13)
    check(lambda x: np.clip(x, 0, 255).astype(np.uint8), (x,), (x[:3].copy(),), jit=True)


# --------------------------------------------------------------------------------------- others
CASES: list[Callable[[Any], Any]] = [
    np.fix,
    np.isposinf,
    np.isneginf,
    np.round,
    np.around,
    lambda x: x.round(),
    lambda x: np.round(x, 2),
    lambda x: x.round(decimals=1),
    lambda x: np.round(x, -1),
    np.nan_to_num,
    lambda x: np.nan_to_num(x, nan=1.5, posinf=7.0, neginf=-7.0),
]


@pytest.mark.parametrize("at", range(len(CASES)))
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_composed_functions(at: int, dtype: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 1.5, -2.5, 2.675, 123.456, -7.25, 1e30])
    x = x.astype(dtype)
    check(lambda x: CASES[at](x), (x,), (x[:4],), jit=at in (3, 6, 9))
    if at in (6, 7, 8):
        with pytest.raises(UnsupportedError, match="C order"):
            decorate(lambda x: CASES[at](x), jit=False, fullgraph=True)(np.ones((3, 2)).T)
    two = np.asfortranarray(x.reshape(3, 4))
    check(lambda x: CASES[at](x), (two,))
    check(lambda x: CASES[at](x), (two[::-1, ::2],))
    check(lambda x: CASES[at](x[3]), (x,))


def test_integers_are_rounded_already() -> None:
    x = np.array([[1, -5], [15, 25]])
    check(lambda x: (np.round(x), x.round(2), np.nan_to_num(x), np.floor(x), np.trunc(x)), (x,))
    check(lambda x: np.isposinf(x), (x,))


def test_functions_without_traced_arguments_run_as_they_are() -> None:
    a, b = np.clip([1, 5], 2, 3), divmod(7, 2)
    check(lambda x: x + np.clip([1, 5], 2, 3)[0] + divmod(7, 2)[1] + a[0] + b[0], (np.ones(3),))
