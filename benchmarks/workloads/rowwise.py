"""Several passes over each row (or column): reductions whose results go back into elementwise."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

from typing import Any

import numpy as np

from benchmarks.arguments import rows
from benchmarks.workload import Array, Workload

FAMILY = "rowwise"


def softmax(x: Array) -> Array:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer_norm(x: Array) -> Array:
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5)


def standardise_columns(x: Array) -> Array:
    centred = x - np.mean(x, axis=0)
    return centred / np.sqrt(np.mean(centred * centred, axis=0) + 1e-5)


def unit_rows(x: Array) -> Array:
    return x / np.sqrt(np.sum(x * x, axis=1, keepdims=True))


def log_sum_exp(x: Array) -> Any:
    top = np.max(x, axis=1)
    return top + np.log(np.sum(np.exp(x - top[:, None]), axis=1))


def cosine_similarity(a: Array, b: Array) -> Any:
    dots = np.sum(a * b, axis=1)
    return dots / (np.sqrt(np.sum(a * a, axis=1)) * np.sqrt(np.sum(b * b, axis=1)))


WORKLOADS = (
    Workload("softmax", FAMILY, softmax, rows(1), reassociates=True),
    Workload("layer_norm", FAMILY, layer_norm, rows(1), reassociates=True),
    Workload("standardise_columns", FAMILY, standardise_columns, rows(1), reassociates=True),
    Workload("unit_rows", FAMILY, unit_rows, rows(1), reassociates=True),
    Workload("log_sum_exp", FAMILY, log_sum_exp, rows(1), reassociates=True),
    Workload("cosine_similarity", FAMILY, cosine_similarity, rows(2), reassociates=True),
)
