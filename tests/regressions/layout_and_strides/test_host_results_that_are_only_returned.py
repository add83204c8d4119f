"""Returned `np.nonzero` columns lost their strides: host results were always copied for kernels.

Results of host calls are laid out for kernels; those that no kernel reads were so too, and the
columns that ``np.nonzero`` hands out lost the strides of the array they are columns of.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import arrays_in
from fusejit_testing.oracle import check, decorate


def places(x: Any) -> Any:
    return np.nonzero(x > 1)


def conditions(x: Any) -> Any:
    return np.where(x > 1), x + 1


def of_the_last(x: Any) -> Any:
    found = np.nonzero(x > 0)
    for limit in range(1, 3):
        found = np.nonzero(x > limit)
    return found


def read_too(x: Any) -> Any:
    i, j = np.nonzero(x > 1)
    return x[i, j] * 2


def stored_into(x: Any) -> Any:
    i, _ = np.nonzero(x > 1)
    i[0] = 7
    return i * 1


X = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("function", [places, conditions, of_the_last, read_too, stored_into])
def test_strides_are_numpys(function: Any) -> None:
    calls = [(X,), (X.T.copy(),), (np.arange(30.0).reshape(5, 6),)]
    check(function, *calls)
    fused = decorate(function, jit=False)
    for call in calls:
        expected, actual = arrays_in(function(*call)), arrays_in(fused(*call))
        assert [a.strides for a in expected] == [a.strides for a in actual]


def reshaped(x: Any) -> Any:
    i, j = np.nonzero(x > 1)
    return i.reshape(-1, 1) * 1, j.sum()


def chosen(x: Any) -> Any:
    found = np.nonzero(x > 1)[0] if x.shape[0] > 2 else np.nonzero(x > 2)[1]
    return found, x.sum()


@pytest.mark.parametrize("function", [reshaped, chosen])
def test_what_is_read_is_laid_out(function: Any) -> None:
    check(function, (X,), (np.arange(30.0).reshape(5, 6),), variants=None)


def returned_and_read(x: Any) -> Any:
    i, j = np.nonzero(x > 1)
    return i, j, x[i, j] * 2, j.sum()


def returned_with_a_view(x: Any) -> Any:
    i, j = np.nonzero(x > 1)
    return i, i[1:], x[i, j] * 2


def returned_twice(x: Any) -> Any:
    i, _ = np.nonzero(x > 1)
    return i, i, i + 1


def returned_behind_a_loop(x: Any) -> Any:
    found = np.nonzero(x > 0)
    total = 0
    for limit in range(1, 3):
        found = np.nonzero(x > limit)
        total += found[0].sum() + found[1][0]
    return found, total


@pytest.mark.parametrize(
    ("function", "has_gaps"),
    [(returned_and_read, True), (returned_twice, True), (returned_behind_a_loop, False)],
)
def test_what_is_read_too_is_handed_out_as_it_was_made(function: Any, has_gaps: bool) -> None:
    calls = [(X,), (np.arange(30.0).reshape(5, 6),)]
    if has_gaps:
        check(function, *calls)
    fused = decorate(function, jit=False)
    for call in calls:
        expected, actual = arrays_in(function(*call)), arrays_in(fused(*call))
        for e, a in zip(expected, actual, strict=True):
            np.testing.assert_array_equal(e, a)
            assert e.strides == a.strides or not has_gaps


def test_a_view_of_what_is_handed_out_shares_its_memory() -> None:
    fused = decorate(returned_with_a_view, jit=False)
    whole, part, _ = fused(X)
    assert np.shares_memory(whole, part)
    np.testing.assert_array_equal(part, whole[1:])
