"""Equality of results down to the last bit, strides and kind included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def difference(actual: Any, expected: Any) -> str | None:
    """How two results differ, or None: type, dtype, shape and bits; all NaNs are one."""
    if type(actual) is not type(expected):
        return f"{type(actual).__name__} instead of {type(expected).__name__}"
    a, b = np.asarray(actual), np.asarray(expected)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} of {a.shape} instead of {b.dtype} of {b.shape}"
    same = a == b
    if a.dtype.kind == "f":
        same = (same & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
    if np.all(same):
        return None
    where = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(~same)))
    return f"at {where}: {np.atleast_1d(a)[where]!r} instead of {np.atleast_1d(b)[where]!r}"


def assert_same_results(actual: Sequence[Any], expected: Sequence[Any], what: str = "") -> None:
    """Raise AssertionError naming the first result that differs."""
    assert len(actual) == len(expected), f"{what}{len(actual)} results, not {len(expected)}"
    for number, (a, b) in enumerate(zip(actual, expected, strict=True)):
        message = difference(a, b)
        assert message is None, f"{what}result {number}: {message}"


def copy_keeping_strides(array: np.ndarray) -> np.ndarray:
    """A copy with the strides of ``array``, with a copy of all memory around it as well."""
    base = array if array.base is None else array.base
    if not isinstance(base, np.ndarray) or not (base.flags.c_contiguous or base.flags.f_contiguous):
        raise ValueError(
            "the array does not own dense memory, nor is it a view of an array that does"
        )
    memory = base.copy(order="K").reshape(-1, order="A").view(np.uint8)
    offset = array.ctypes.data - base.ctypes.data
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def copy_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Fresh arguments for another run: arrays are copied with their strides."""
    return {
        name: copy_keeping_strides(a) if isinstance(a, np.ndarray) else a
        for name, a in arguments.items()
    }
