"""Operands of different rank meet: rows, columns, outer products, channels."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

from typing import Any

import numpy as np

from benchmarks.arguments import pictures, side, uniform
from benchmarks.workload import Array, Workload

FAMILY = "broadcast"

Arguments = tuple[Any, ...]


def _matrix_and_vector(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Arguments:
    edge = side(size)
    return uniform(rng, (edge, edge), dtype), uniform(rng, edge, dtype)


def _matrix_and_two(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Arguments:
    edge = side(size)
    return uniform(rng, (edge, edge), dtype), uniform(rng, edge, dtype), uniform(rng, edge, dtype)


def _two_vectors(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Arguments:
    return uniform(rng, side(size), dtype), uniform(rng, side(size), dtype)


def _two_and_matrix(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Arguments:
    edge = side(size)
    return uniform(rng, edge, dtype), uniform(rng, edge, dtype), uniform(rng, (edge, edge), dtype)


def _picture_and_gains(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Arguments:
    (picture,) = pictures()(rng, size, dtype)
    return picture, uniform(rng, 3, dtype), uniform(rng, 3, dtype)


def subtract_row(x: Array, m: Array) -> Array:
    return x - m[None, :]


def subtract_column(x: Array, m: Array) -> Array:
    return x - m[:, None]


def scale_columns(x: Array, scale: Array, shift: Array) -> Array:
    return (x - shift) * scale


def scale_both(x: Array, row: Array, column: Array) -> Array:
    return x * row[None, :] * column[:, None] + 1.0


def outer(a: Array, b: Array, c: Array) -> Array:
    return a[:, None] * b[None, :] + c


def pairwise_distance(x: Array, y: Array) -> Array:
    dx = x[:, None] - x[None, :]
    dy = y[:, None] - y[None, :]
    return np.sqrt(dx * dx + dy * dy)


def gaussian_grid(x: Array, y: Array) -> Array:
    return np.exp(-(x[:, None] ** 2 + y[None, :] ** 2))


def channel_gain(picture: Array, gain: Array, offset: Array) -> Array:
    return np.minimum(picture * gain + offset, 1.0)


WORKLOADS = (
    Workload("subtract_row", FAMILY, subtract_row, _matrix_and_vector, numexpr="x - m"),
    Workload("subtract_column", FAMILY, subtract_column, _matrix_and_vector),
    Workload(
        "scale_columns", FAMILY, scale_columns, _matrix_and_two, numexpr="(x - shift) * scale"
    ),
    Workload("scale_both", FAMILY, scale_both, _matrix_and_two),
    Workload("outer", FAMILY, outer, _two_and_matrix),
    Workload("pairwise_distance", FAMILY, pairwise_distance, _two_vectors),
    Workload("gaussian_grid", FAMILY, gaussian_grid, _two_vectors),
    Workload(
        "channel_gain",
        FAMILY,
        channel_gain,
        _picture_and_gains,
        numexpr="where(picture*gain + offset > 1.0, 1.0, picture*gain + offset)",
    ),
)
