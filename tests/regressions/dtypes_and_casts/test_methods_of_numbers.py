"""`round` of a NumPy number gave an int: the tracer's own methods hid those of NumPy.

``astype`` knew no keywords. The imaginary part of a real number was ``x * 0``, which is NaN for
NaN. ``divmod`` of Python numbers gave NumPy's result, and numbers could be indexed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check, check_not_compiled

OF_ARGUMENTS: dict[str, Callable[[Any], Any]] = {
    "round": lambda s: s.round(),
    "round to digits": lambda s: s.round(decimals=1),
    "astype without a copy": lambda s: s.astype(np.float32, copy=False),
    "astype in an order": lambda s: s.astype("f4", order="C"),
    "is_integer": lambda s: s.is_integer(),
    "item": lambda s: (s.item(), s.item(0), s.item(-1), s.item(())),
    "choose": lambda s: (s > 1).choose([1, 2]),
}


@pytest.mark.parametrize("name", OF_ARGUMENTS)
@pytest.mark.parametrize("number", [np.float64(2.5), np.float32(2.0), np.int32(3), np.uint8(200)])
def test_numbers_that_are_arguments(name: str, number: Any) -> None:
    check(OF_ARGUMENTS[name], (number,), variants=None)


def test_what_changes_arrays_does_not_change_numbers() -> None:
    for function in (lambda s: s.fill(3), lambda s: s.put(0, 1), lambda s: s.sort()):
        check_not_compiled(function, (np.float64(2.5),), "does not trace .* of numbers")


@pytest.mark.parametrize("method", ["imag", "real", "conj", "conjugate"])
def test_parts_of_bools(method: str) -> None:
    def part(s: Any) -> Any:
        found = getattr(s, method)
        return found() if callable(found) else found

    check(part, (np.True_,))
    check(lambda x: part(x[0]), (np.array([True]),))


def test_the_imaginary_part_of_nan_is_zero() -> None:
    check(lambda x: (x.max().imag, np.imag(x[0]), (-x[1]).imag), (np.array([math.nan, 2.0]),))


def test_parts_of_pythons_bools_are_ints() -> None:
    for function in (
        lambda x: bool(x[0]).real,
        lambda x: bool(x[0]).conjugate(),
        lambda x: bool(x[0]).imag,
    ):
        check(function, (np.array([2.0]),))


def test_divmod_of_pythons_numbers() -> None:
    for x in (np.array([2.5]), np.array([-3]), np.array([True])):
        check(lambda x: (divmod(x[0].item(), 2), divmod(7, x[0].item())), (x,), variants=None)
        check(lambda x: divmod(float(x[0]), 2.0), (x,), variants=None)


@pytest.mark.parametrize("index", [(), ..., None, 0])
def test_numbers_of_python_have_no_items(index: Any) -> None:
    fused = fuse_jit(lambda x: float(x[0])[index])  # type: ignore[index]
    for _ in range(2):
        with pytest.raises(TypeError, match="'float' object is not subscriptable"):
            fused(np.ones(2))


def test_bools_of_numpy_are_not_rounded() -> None:
    fused = fuse_jit(lambda x: round(x[0]))
    with pytest.raises(TypeError, match="doesn't define __round__"):
        fused(np.array([True]))
