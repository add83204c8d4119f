"""`np.mgrid` of float32 bounds gave float64: equal slices and keys hid the types in them.

``f(slice(0.5, 2.0, 0.5))`` and then ``f(slice(np.float32(0.5), ...))`` gave float64 twice.
`np.mgrid`, decorated, is such a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

NUMBERS = (0.5, np.float32(0.5), np.float64(0.5), 1, True, 0.0, -0.0)
X = np.ones(2, np.float32)


def of_slice(s: slice, x: np.ndarray) -> Any:
    return x * s.step / s.stop, np.result_type(x, s.start)


def of_nested_slice(key: tuple[slice], x: np.ndarray) -> Any:
    return x * key[0].step / key[0].stop, np.result_type(x, key[0].start)


@pytest.mark.parametrize(
    ("function", "make"),
    [(of_slice, lambda v: slice(v, 2, v)), (of_nested_slice, lambda v: (slice(v, 2, v),))],
)
def test_numbers_within_slices(function: Callable[..., Any], make: Callable[[Any], Any]) -> None:
    fused = decorate(function, jit=False)
    for number in NUMBERS:
        assert_same(function(make(number), X), fused(make(number), X))
    assert fused(make(0.5), X)[0].dtype == np.float32
    assert not fused.variants.fallbacks


def test_keys_of_other_types() -> None:
    def total(d: dict[Any, np.ndarray], x: np.ndarray) -> Any:
        r = x
        for key in d:
            r = r + key * d[key]
        return r

    fused = decorate(total, jit=False)
    x = np.ones(2, np.int8)
    for key in (1, True, 1.0, np.int64(1), np.float32(1)):
        assert_same(total({key: x}, x), fused({key: x}, x))


def test_axes_given_by_a_range() -> None:
    def moved(x: np.ndarray) -> np.ndarray:
        return np.moveaxis(x, [2, 1], range(2)) + 1

    x = np.arange(24.0).reshape(2, 3, 4)
    fused = decorate(moved, jit=False)
    assert_same(moved(x), fused(x))
    assert len(fused.variants) == 1
