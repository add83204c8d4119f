"""Division by one number that is prepared before its loop: source, machine code, answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit import fuse_jit
from fusejit.codegen.intrinsics.uniform_division import floordiv_by, mod_by, reciprocal_of
from fusejit_testing.oracle import check

DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def both(x: Any, p: Any) -> Any:
    return x // p, x % p


def by_rows(x: Any, v: Any) -> Any:
    return x // v[:, None]


def totals(x: Any, p: Any) -> Any:
    return (x // p).sum(), (x % p).max(axis=0)


def digits(x: Any, base: Any, n: Any) -> Any:
    total = np.zeros_like(x)
    for _ in range(n):
        total += x % base
        x = x // base
    return total


def of_powers(x: Any, n: Any) -> Any:
    total = np.zeros_like(x)
    for k in range(n):
        total += x // (k - 2)
    return total


def edges(dtype: np.dtype[Any]) -> list[int]:
    """Numbers around powers of two, of either sign."""
    limits = np.iinfo(dtype)
    powers = [2**k + e for k in range(8 * dtype.itemsize + 1) for e in (-1, 0, 1)]
    numbers = {*powers, *(-p for p in powers), 3, 7, 10, 100, -3, -7, limits.min, limits.max}
    return sorted(n for n in numbers if limits.min <= n <= limits.max)


def source_of(function: Any, *arguments: Any) -> str:
    return fuse_jit(function).trace(*arguments).fuse().lower().source


@pytest.mark.parametrize("name", DTYPES)
def test_edges(name: str) -> None:
    """All pairs: 0, both ends, powers of two and their neighbours, and multiples of divisors."""
    dtype = np.dtype(name)
    f = fuse_jit(both)
    numbers = edges(dtype)
    limits = np.iinfo(dtype)
    dividends = np.array(numbers, dtype)
    rng = np.random.default_rng(1)
    some = rng.integers(limits.min, limits.max, 200, dtype, endpoint=True)
    for number in numbers:
        divisor = dtype.type(number)
        x = np.concatenate([dividends, some])
        with np.errstate(all="ignore"):
            if number:
                multiples = some // divisor * divisor
                x = np.concatenate([x, multiples, multiples - dtype.type(1)])
            expected = both(x, divisor)
            got = f(x, divisor)
        for e, g in zip(expected, got, strict=True):
            assert e.dtype == g.dtype
            assert np.array_equal(e, g), (number, x[e != g][:3])
    assert len(f.variants) == 1


@pytest.mark.parametrize("name", ["i1", "u1"])
def test_every_pair_of_bytes(name: str) -> None:
    dtype = np.dtype(name)
    f = fuse_jit(both)
    every = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype)
    for divisor in every:
        with np.errstate(all="ignore"):
            for e, g in zip(both(every, divisor), f(every, divisor), strict=True):
                assert np.array_equal(e, g), divisor


_OF_DTYPE = {name: fuse_jit(both) for name in DTYPES}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(DTYPES), st.data())
def test_random_numbers(name: str, data: st.DataObject) -> None:
    limits = np.iinfo(name)
    numbers = st.integers(limits.min, limits.max)
    x = np.array(data.draw(st.lists(numbers, max_size=40)), name)
    divisor = np.dtype(name).type(data.draw(numbers))
    with np.errstate(all="ignore"):
        for e, g in zip(both(x, divisor), _OF_DTYPE[name](x, divisor), strict=True):
            assert np.array_equal(e, g)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([16, 32, 64]), st.data())
def test_the_formula(bits: int, data: st.DataObject) -> None:
    """The steps of the module's docstring, in Python's integers."""
    numbers = st.integers(1, 2**bits - 1)
    d, a = data.draw(numbers), data.draw(numbers)
    m = int(reciprocal_of(np.dtype(f"u{bits // 8}").type(d)))
    length = (d - 1).bit_length()
    t = m * a >> bits
    assert (t + ((a - t) >> min(length, 1))) >> max(length - 1, 0) == a // d


def test_python_implementations_ask_for_their_own_multiplier() -> None:
    seven = np.int32(7)
    assert floordiv_by(np.int32(-8), seven, reciprocal_of(seven)) == -2
    assert mod_by(np.int32(-8), seven, reciprocal_of(seven)) == 6
    with pytest.raises(TypeError, match="prepared as"):
        floordiv_by(np.int32(-8), seven, reciprocal_of(np.int32(5)))


def test_prepared_in_front_of_the_nest() -> None:
    source = source_of(both, np.arange(5), 3)
    chunk, kernel = source.split("def kernel")
    assert "divisor0 = reciprocal_of(x0)" in kernel
    assert "floordiv_by(v0, x0, divisor0)" in chunk
    assert "mod_by(v0, x0, divisor0)" in chunk
    assert "reciprocal_of" not in chunk


def test_made_in_the_nest() -> None:
    """A number that the chunk function converts is prepared there, before its loop."""
    source = source_of(both, np.arange(5, dtype=np.uint8), 3)
    assert "t0 = cast(x0, u8)\n    divisor0 = reciprocal_of(t0)\n    for d0 in" in source


def test_divisors_of_rows_stay() -> None:
    source = source_of(by_rows, np.arange(12).reshape(3, 4), np.arange(3))
    assert "int_floordiv(v0, v1)" in source
    assert "reciprocal_of" not in source


def test_constants_stay() -> None:
    assert "reciprocal_of" not in source_of(lambda x: x // 7, np.arange(5))


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_programs(dtype: str, n: int) -> None:
    x = (np.arange(n) * 37 - 60 * (dtype[0] == "i")).astype(dtype)
    check(both, (x, 3))
    check(digits, (np.abs(x), np.dtype(dtype).type(7), 3))
    if n:
        check(totals, (np.add.outer(x, x), np.dtype(dtype).type(5)))
    if dtype == "i8":
        check(of_powers, (x, 5))
        check(by_rows, (np.add.outer(x, x), x))


def test_programs_jitted() -> None:
    x = np.arange(-150, 151)
    check(both, (x, 7), (x, -7), (x, 1), (x, -1), jit=True)
    check(totals, (np.add.outer(x, x), 13), jit=True)
    check(digits, (np.abs(x), 7, 3), jit=True)
    check(of_powers, (x, 6), jit=True)
