"""``np.array([obj, obj])`` of objects whose classes tell NumPy what they are: Python makes it.

Found by numdifftools' bicomplex numbers: items of a list with traced arrays in their attributes
ended in "fusejit expected that NumPy raises ValueError".
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import decorate


class Pair:
    """Has items, as NumPy sees it."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second

    def __getitem__(self, index: Any) -> Pair:
        return Pair(self.first[index], self.second[index])

    def __len__(self) -> int:
        return len(self.first)

    def __mul__(self, other: Pair) -> Pair:
        return Pair(self.first * other.first, self.second * other.second)


class Row:
    """Is an array, as NumPy sees it."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.numbers, dtype)


class Length:
    """A number of metres."""

    def __init__(self, metres: float) -> None:
        self.metres = metres

    def __float__(self) -> float:
        return float(self.metres)


def pairs(x: Any, pair: Pair) -> Any:
    made = np.array([pair, pair * pair])
    return made.dtype, made.shape, x + 1


def rows(x: Any) -> Any:
    return np.array([Row([1.0, 2.0]), Row([x.sum(), 3.0])])


def numbers(x: Any) -> Any:
    lengths = [Length(2.0), Length(3.0)]
    return np.array(lengths, dtype=float) * x[:2]


def given(x: Any, row: Row) -> Any:
    return np.asarray(row) + x


@pytest.mark.parametrize(
    ("function", "others"),
    [
        (pairs, (Pair(np.ones(2), np.ones(2)),)),
        (rows, ()),
        (numbers, ()),
        (given, (Row([4.0, 5, 6]),)),
    ],
)
def test_arrays_of_objects(function: Callable[..., Any], others: tuple[Any, ...]) -> None:
    decorated = decorate(function, jit=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in (3, 3, 3):
            x = np.arange(1.0, n + 1)
            expected, result = function(x, *others), decorated(x, *others)
            np.testing.assert_equal(result, expected)
            assert type(result) is type(expected)
    assert not [w for w in caught if "internal error" in str(w.message)]
