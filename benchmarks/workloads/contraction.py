"""Matrix products and what follows them; the product itself belongs to BLAS in every engine."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

from typing import Any

import numpy as np

from benchmarks.arguments import row_shape, uniform
from benchmarks.workload import Array, Workload

FAMILY = "contraction"
INNER = 64

Arguments = tuple[Any, ...]


def _dense_layer(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Arguments:
    count, inner = row_shape(size, INNER)
    return (
        uniform(rng, (count, inner), dtype, -1.0, 1.0),
        uniform(rng, (inner, inner), dtype, -1.0, 1.0),
        uniform(rng, inner, dtype, -1.0, 1.0),
    )


def _matrix_vector(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Arguments:
    x, _, v = _dense_layer(rng, size, dtype)
    return x, v


def dense_relu(x: Array, w: Array, b: Array) -> Array:
    return np.maximum(x @ w + b, 0)


def dense_sigmoid(x: Array, w: Array, b: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-(x @ w + b)))


def squared_product(x: Array, v: Array) -> Array:
    p = x @ v
    return p * p + 1.0


WORKLOADS = (
    Workload("dense_relu", FAMILY, dense_relu, _dense_layer, reassociates=True),
    Workload("dense_sigmoid", FAMILY, dense_sigmoid, _dense_layer, reassociates=True),
    Workload("squared_product", FAMILY, squared_product, _matrix_vector, reassociates=True),
)
