"""Argument builders shared by the families: vectors, squares, rows, images.

Values keep clear of denormals, overflow and domain errors, so that the time of a workload is the
time of ordinary numbers.
"""

from math import isqrt
from typing import Any

import numpy as np

from benchmarks.workload import ArgumentBuilder, Array

NUM_CHANNELS = 3


def uniform(
    rng: np.random.Generator,
    shape: int | tuple[int, ...],
    dtype: np.dtype[Any],
    low: float = 0.1,
    high: float = 2.0,
) -> Array:
    """Uniform numbers in ``[low, high)`` of any real dtype, drawn without float64 temporaries."""
    if dtype.kind in "iu":
        return rng.integers(int(low), int(high), shape, dtype=dtype)
    draw_dtype: Any = dtype.type
    drawn: Array = rng.random(shape, dtype=draw_dtype)
    drawn *= dtype.type(high - low)
    drawn += dtype.type(low)
    return drawn


def side(size: int) -> int:
    """Side of a square of about `size` elements, at least 3."""
    return max(3, isqrt(size))


def row_shape(size: int, columns: int = 256) -> tuple[int, int]:
    """A shape ``(rows, columns)`` of about `size` elements; narrower where `size` is small."""
    columns = min(columns, side(size))
    return max(1, size // columns), columns


def vectors(count: int, low: float = 0.1, high: float = 2.0) -> ArgumentBuilder:
    """`count` vectors of ``size`` elements."""

    def build(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        return tuple(uniform(rng, size, dtype, low, high) for _ in range(count))

    return build


def squares(count: int, low: float = 0.1, high: float = 2.0) -> ArgumentBuilder:
    """`count` square matrices of about ``size`` elements."""

    def build(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        shape = (side(size), side(size))
        return tuple(uniform(rng, shape, dtype, low, high) for _ in range(count))

    return build


def blocked_squares(block: int) -> ArgumentBuilder:
    """One square of about ``size`` elements whose sides are multiples of `block`."""

    def build(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        edge = block * max(1, round(side(size) / block))
        return (uniform(rng, (edge, edge), dtype, 0.0, 1.0),)

    return build


def rows(count: int, low: float = -2.0, high: float = 2.0, columns: int = 256) -> ArgumentBuilder:
    """`count` matrices of about ``size`` elements with at most `columns` columns."""

    def build(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        shape = row_shape(size, columns)
        return tuple(uniform(rng, shape, dtype, low, high) for _ in range(count))

    return build


def pictures(low: float = 0.0, high: float = 1.0) -> ArgumentBuilder:
    """One picture of shape ``(height, width, 3)`` with about ``size`` numbers."""

    def build(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        edge = side(size // NUM_CHANNELS)
        return (uniform(rng, (edge, edge, NUM_CHANNELS), dtype, low, high),)

    return build
