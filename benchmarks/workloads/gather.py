"""Integer arrays as indices: gathers among arithmetic, rows of a table, sums into bins."""

# mypy: disable-error-code="no-any-return"

from typing import Any

import numpy as np

from benchmarks.arguments import uniform
from benchmarks.workload import FLOATS, Array, Workload

FAMILY = "gather"
NUM_BINS = 256
WIDTH = 64


def gather_chain(x: Array, i: Array, w: Array) -> Array:
    return np.sqrt(x[i]) * w + 1.0


def weighted_rows(table: Array, i: Array, w: Array) -> Any:
    return (table[i] * w).max(axis=1)


def scatter_update(x: Array, i: Array, w: Array) -> Array:
    y = np.zeros_like(x)
    y[i] = w * 2.0 + 1.0
    return y


def sums_in_bins(i: Array, w: Array) -> Array:
    sums = np.zeros(NUM_BINS, w.dtype)
    np.add.at(sums, i, w * w)
    return sums


def look_up(table: Array, i: Array) -> Array:
    return table[i]


def _places(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    integers = rng.integers(-size, size, size)
    return uniform(rng, size, dtype), integers, uniform(rng, size, dtype)


def _rows(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    rows = max(1, size // WIDTH)
    table = uniform(rng, (rows, WIDTH), dtype)
    return table, rng.integers(0, rows, rows), uniform(rng, WIDTH, dtype)


def _bins(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    return rng.integers(0, NUM_BINS, size), uniform(rng, size, dtype)


def _looked_up(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    table = rng.integers(0, 256, NUM_BINS, np.uint8)
    return table, rng.integers(0, NUM_BINS, size).astype(dtype)


WORKLOADS = (
    Workload("gather_chain", FAMILY, gather_chain, _places, FLOATS),
    Workload("weighted_rows", FAMILY, weighted_rows, _rows, FLOATS),
    Workload("scatter_update", FAMILY, scatter_update, _places, FLOATS),
    Workload("sums_in_bins", FAMILY, sums_in_bins, _bins, FLOATS),
    Workload("look_up", FAMILY, look_up, _looked_up, ("u8", "i32")),
)
