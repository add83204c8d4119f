"""Integers and booleans: narrow types, wrapping arithmetic, comparisons and masks. Exact."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

from typing import Any

import numpy as np

from benchmarks.arguments import uniform, vectors
from benchmarks.workload import FLOATS, Array, Workload

FAMILY = "integer"
BYTES = ("u8",)
INTS = ("i32", "i64")

Arguments = tuple[Any, ...]


def _values_and_mask(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Arguments:
    return uniform(rng, size, dtype, 0.0, 100.0), rng.integers(0, 2, size).astype(np.bool_)


def blend(a: Array, b: Array) -> Array:
    return (a.astype(np.float32) * 0.75 + b.astype(np.float32) * 0.25).astype(np.uint8)


def threshold(a: Array) -> Array:
    return np.where(a > 127, 255, 0).astype(np.uint8)


def saturating_add(a: Array, b: Array) -> Array:
    return np.minimum(a.astype(np.int16) + b, 255).astype(np.uint8)


def byte_distance(a: Array, b: Array) -> Array:
    return np.abs(a.astype(np.int16) - b.astype(np.int16))


def integer_chain(a: Array, b: Array) -> Array:
    return a * b + 3 * a - b


def integer_squares(a: Array, b: Array) -> Any:
    return ((a - b) * (a - b)).sum()


def pick_larger(a: Array, b: Array) -> Array:
    return (a > b) * a + (a <= b) * b


def is_between(a: Array, b: Array) -> Array:
    return (a > 10) == (b < 90)


def count_larger(a: Array, b: Array) -> Any:
    return (a > b).sum()


def masked_sum(x: Array, mask: Array) -> Any:
    return np.where(mask, x, 0).sum()


WORKLOADS = (
    Workload("blend", FAMILY, blend, vectors(2, 0, 256), BYTES),
    Workload("threshold", FAMILY, threshold, vectors(1, 0, 256), BYTES),
    Workload("saturating_add", FAMILY, saturating_add, vectors(2, 0, 256), BYTES),
    Workload("byte_distance", FAMILY, byte_distance, vectors(2, 0, 256), BYTES),
    Workload(
        "integer_chain",
        FAMILY,
        integer_chain,
        vectors(2, -1000, 1000),
        INTS,
        numexpr="a*b + 3*a - b",
    ),
    Workload("integer_squares", FAMILY, integer_squares, vectors(2, -1000, 1000), INTS),
    Workload("pick_larger", FAMILY, pick_larger, vectors(2, 0, 100), INTS),
    Workload("is_between", FAMILY, is_between, vectors(2, 0, 100), (*INTS, *FLOATS)),
    Workload("count_larger", FAMILY, count_larger, vectors(2, 0, 100), (*INTS, *FLOATS)),
    Workload(
        "masked_sum", FAMILY, masked_sum, _values_and_mask, (*INTS, *FLOATS), reassociates=True
    ),
)
