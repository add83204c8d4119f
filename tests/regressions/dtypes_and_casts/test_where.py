"""`np.where` cast Python numbers in its own way: NumPy calls `np.asarray`, then casts unchecked."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.array([1.0, -1.0, 2.0])


@pytest.mark.parametrize("numbers", [(-1, 300, 3), (2**25 + 1, 7)], ids=str)
@pytest.mark.parametrize("other", [np.uint8(8), np.float32(2), np.float64(2), 1])
def test_numbers_of_each_call_are_cast(numbers: tuple[int, ...], other: object) -> None:
    check(lambda x, p: np.where(x > 0, other, p), *((X, p) for p in numbers))


def test_floats_of_each_call_are_cast() -> None:
    check(lambda x, p: np.where(x > 0, np.float32(2), p), (X, 1.1), (X, 1e300))
    check(lambda x, p: np.where(x > 0, 1, p), (X, 1.1), (X, 1e300))


def test_numbers_of_the_text_are_cast() -> None:
    check(lambda x: (np.where(x > 0, np.uint8(8), 300), np.where(x > 0, np.int8(1), 1000)), (X,))
    check(lambda x: (np.where(x > 0, True, 2), np.where(x > 0, 1.5, False)), (X,))
    check(lambda x: np.where(x > 0, 2**63, 1), (X,), variants=None)
