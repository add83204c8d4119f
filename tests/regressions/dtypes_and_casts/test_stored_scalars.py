"""NumPy ran stores of wide scalars into narrow signed integers: such casts were not compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, compare_outcomes, decorate, run

BOTH = pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])


def cut_to_bytes(x: Any, factor: Any) -> Any:
    out = np.zeros(len(x), np.int8)
    for i in range(len(x)):
        out[i] = x[i] * factor
    return out


def sum_into(out: Any, x: Any) -> None:
    out[1] = x.sum()
    out[2:] = x.max()


def argument_into(out: Any, n: Any) -> None:
    out[0] = n


def roots(x: Any) -> Any:
    label = np.full(len(x), -1, np.int16)
    parent = np.arange(len(x))
    for i in range(len(x)):
        j = i
        while x[j] < j:
            j = x[j]
        parent[i] = j
        label[i] = parent[j]
    return label


def by_arrays(out: Any, i: Any, m: Any, x: Any) -> None:
    out[i] = x.sum()
    out[m] = x.sum() + x.dtype.type(1)


VALUES = (
    np.array([1, 2, 3]),
    np.array([1, 2, 300], np.int16),
    np.array([-129, 0, 2**40]),
    np.array([200, 1, 2], np.uint8),
    np.array([0, 2**63 + 1, 1], np.uint64),
    np.array([1.9, -128.9, 127.9]),
    np.array([1.0, 128.0, 0.0], np.float32),
    np.array([1.0, np.nan, 0.0]),
    np.array([np.inf, 1.0]),
    np.array([1e30, 1.0]),
)


@BOTH
def test_elements(jit: bool) -> None:
    """They were left to NumPy, whatever they were."""
    decorated = decorate(cut_to_bytes, jit=jit)
    for x in VALUES:
        for part in (x, x[:1], x[:0]):
            args = (part, x.dtype.type(1))
            compare_outcomes(run(cut_to_bytes, args), run(decorated, args))
    assert not any("has to be checked" in cause for cause in decorated.variants.fallbacks)


@BOTH
@pytest.mark.parametrize("function", [sum_into, argument_into])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8], ids=str)
def test_into_arguments(function: Callable[..., None], dtype: Any, jit: bool) -> None:
    decorated = decorate(function, jit=jit)
    for x in VALUES:
        given = x if function is sum_into else x[-1]
        args = (np.zeros(4, dtype), given)
        expected, actual = run(function, args), run(decorated, args)
        if expected.error is not None and function is sum_into:
            assert type(actual.error) is type(expected.error)
        else:
            compare_outcomes(expected, actual)


def test_one_variant_serves_labels() -> None:
    check(roots, (np.array([0, 0, 1, 3, 3]),), (np.zeros(40, int),), jit=True)


@BOTH
def test_behind_stores_to_an_argument(jit: bool) -> None:
    """What was stored until then stays."""
    decorated = decorate(shifted_up, jit=jit)
    x = np.array([5, 200, 7], np.int16)
    with pytest.raises(OverflowError, match="out of bounds"):
        decorated(x, np.int64(2**15 - 200))
    assert x.tolist() == [5 + 2**15 - 200, 200, 7]


def shifted_up(x: Any, by: Any) -> None:
    for i in range(len(x)):
        x[i] = x[i] + by


@BOTH
def test_elements_that_arrays_choose_are_cast(jit: bool) -> None:
    """NumPy does not check them; they were declined."""
    i, m = np.array([0, 2]), np.array([False, True, False, True])
    decorated = decorate(by_arrays, jit=jit)
    for x in VALUES[:5]:
        args = (np.zeros(4, np.int8), i, m, x)
        compare_outcomes(run(by_arrays, args), run(decorated, args))
    assert not decorated.variants.fallbacks
