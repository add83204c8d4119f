"""`Case`: a call of a named op with the result that an independent reference gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass

RNG_SEED = 20261001


@dataclass(frozen=True)
class Case:
    """A call.

    Attributes
    ----------
    label : str
        Of the test's messages.
    inputs : tuple
    keywords : mapping
        Attributes, and ``dtype`` where no operand says the type of the result.
    alone : np.ndarray or None
        The result without a start; None if the op needs one.
    start : np.ndarray
        What ``init`` or ``out`` holds, of the shape and type of the result.
    started : np.ndarray
        The result that starts from ``start``.
    """

    label: str
    inputs: tuple[Any, ...]
    keywords: Mapping[str, Any]
    alone: Any
    start: np.ndarray
    started: np.ndarray


def sample(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    """Random elements: small integers of both signs, floats around 0."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind == "i":
        return np.asarray(rng.integers(-100, 100, shape), dtype)
    if dtype.kind == "u":
        return np.asarray(rng.integers(0, 200, shape), dtype)
    if dtype.kind == "c":
        return np.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape), dtype)
    return np.asarray(rng.normal(size=shape), dtype)


def cast(array: np.ndarray, dtype: Any, is_signed: bool = True) -> np.ndarray:
    """The dialect's cast: a signed True is -1, an unsigned cast reads the bits as unsigned."""
    dtype = np.dtype(dtype)
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "b":
        return -array.astype(dtype) if is_signed else array.astype(dtype)
    if array.dtype.kind == "i" and not is_signed:
        array = array.view(array.dtype.str.replace("i", "u"))
    return array.astype(dtype)


def tolerance(dtype: np.dtype) -> float:
    """How far sums in another order may be apart, relative to numbers around 1."""
    single = dtype in (np.dtype(np.float32), np.dtype(np.complex64))
    return 0.0 if dtype.kind in "biu" else 2e-5 if single else 1e-11


def assert_result(actual: Any, expected: Any, what: str) -> None:
    """Type, shape and elements are those expected."""
    got, wanted = np.asarray(actual), np.asarray(expected)
    assert got.dtype == wanted.dtype, f"{what}: {got.dtype}, not {wanted.dtype}"
    assert got.shape == wanted.shape, f"{what}: {got.shape}, not {wanted.shape}"
    near = tolerance(wanted.dtype)
    if near:
        np.testing.assert_allclose(got, wanted, near, near, err_msg=what)
    else:
        np.testing.assert_array_equal(got, wanted, err_msg=what)
