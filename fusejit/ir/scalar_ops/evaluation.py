"""What rows compute with NumPy where its ufunc alone would not say it."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np


def _fits(compute: Callable[[int, int], int]) -> Callable[..., Any]:
    """Whether what Python computes of integers has 64 bits."""
    function = np.frompyfunc(lambda a, b: -(2**63) <= compute(int(a), int(b)) < 2**63, 2, 1)
    return lambda a, b: np.asarray(function(a, b), np.bool_)[()]


FITS: dict[str, Callable[..., Any]] = {
    "add": _fits(operator.add),
    "subtract": _fits(operator.sub),
    "multiply": _fits(operator.mul),
}
"""By the name of an op on integers of 64 bits."""


def extremum(ufunc: np.ufunc, left: Any, right: Any) -> Any:
    """The larger or smaller number where 0.0 counts as larger than -0.0 (NumPy: either)."""
    larger_zero = left + right if ufunc in (np.maximum, np.fmax) else -(-left - right)
    both_zero = (left == 0) & (right == 0)
    return np.where(both_zero, larger_zero, ufunc(left, right))[()]


def power(base: Any, exponent: Any, dtype: np.dtype) -> Any:
    """``pow`` for every element.

    For a uniform exponent NumPy takes shortcuts (``sqrt`` for 0.5) that differ from ``pow`` in
    special cases; the tracer names those itself. Two more elements make the exponent uneven.
    """
    bases, exponents = np.broadcast_arrays(base, exponent)
    flat = np.append(bases.ravel(), np.array([1, 1], dtype)).astype(dtype)
    uneven = np.append(exponents.ravel(), np.array([2, 3], dtype)).astype(dtype)
    result: Any = np.power(flat, uneven)[:-2].reshape(bases.shape)[()]
    return result


def of_numbers(compute: Callable[[float], float]) -> Callable[..., Any]:
    """What Python computes of one float, for each element of an array; in its dtype."""
    function = np.frompyfunc(compute, 1, 1)
    return lambda x: np.asarray(function(x), np.asarray(x).dtype)[()]


def complex_of(real: Any, imag: Any) -> Any:
    """The complex number with these parts, elementwise; no bit of them changes."""
    real, imag = np.broadcast_arrays(real, imag)
    made = np.empty(real.shape, np.result_type(real, np.complex64))
    made.real, made.imag = real, imag
    return made[()]


@functools.cache
def _c_function(dtype: np.dtype) -> Any:
    """``fma`` or ``fmaf`` of the C library on arrays of objects."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    is_double = dtype == np.float64
    function = library.fma if is_double else library.fmaf
    number = ctypes.c_double if is_double else ctypes.c_float
    function.restype, function.argtypes = number, (number,) * 3
    return np.frompyfunc(function, 3, 1)


def fused_multiply_add(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c`` rounded once."""
    dtype = np.asarray(a).dtype
    return np.asarray(_c_function(dtype)(a, b, c)).astype(dtype)[()]
