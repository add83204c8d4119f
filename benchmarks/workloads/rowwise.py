"""Several passes over each row (or column): reductions whose results go back into elementwise."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.arguments import rows, vectors
from benchmarks.references import COPY, READ
from benchmarks.workload import FUSION_SIZES, Array, Reference, Workload

FAMILY = "rowwise"
COLUMNS = 1024


def softmax(x: Array) -> Array:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_out(x: Array, out: Array) -> None:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    np.divide(e, np.sum(e, axis=-1, keepdims=True), out=out)


def log_softmax(x: Array) -> Array:
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def log_softmax_out(x: Array, out: Array) -> None:
    shifted = x - np.max(x, axis=-1, keepdims=True)
    np.subtract(shifted, np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True)), out=out)


def layer_norm(x: Array) -> Array:
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def layer_norm_out(x: Array, out: Array) -> None:
    mean = x.mean(axis=-1, keepdims=True)
    np.divide(x - mean, np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5), out=out)


def layer_norm_by_hand(x: Array) -> Array:
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5)


def layer_norm_by_hand_out(x: Array, out: Array) -> None:
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    np.divide(centred, np.sqrt(variance + 1e-5), out=out)


def rms_norm(x: Array) -> Array:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)


def rms_norm_out(x: Array, out: Array) -> None:
    np.divide(x, np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5), out=out)


def standardise_columns(x: Array) -> Array:
    return (x - x.mean(axis=0)) / x.std(axis=0)


def standardise_columns_out(x: Array, out: Array) -> None:
    np.divide(x - x.mean(axis=0), x.std(axis=0), out=out)


def standardise_columns_by_hand(x: Array) -> Array:
    centred = x - np.mean(x, axis=0)
    return centred / np.sqrt(np.mean(centred * centred, axis=0) + 1e-5)


def standardise_columns_by_hand_out(x: Array, out: Array) -> None:
    centred = x - np.mean(x, axis=0)
    np.divide(centred, np.sqrt(np.mean(centred * centred, axis=0) + 1e-5), out=out)


def unit_rows(x: Array) -> Array:
    return x / np.sqrt(np.sum(x * x, axis=1, keepdims=True))


def unit_rows_out(x: Array, out: Array) -> None:
    np.divide(x, np.sqrt(np.sum(x * x, axis=1, keepdims=True)), out=out)


def mean_var_max(x: Array) -> tuple[Any, Any, Any]:
    return x.mean(), x.var(), x.max()


def log_sum_exp(x: Array) -> Any:
    top = np.max(x, axis=1)
    return top + np.log(np.sum(np.exp(x - top[:, None]), axis=1))


def cosine_similarity(a: Array, b: Array) -> Any:
    dots = np.sum(a * b, axis=1)
    return dots / (np.sqrt(np.sum(a * a, axis=1)) * np.sqrt(np.sum(b * b, axis=1)))


def _grouped(
    function: Callable[..., Any],
    out_function: Callable[..., Any] | None = None,
    reference: Reference = COPY,
    one_kernel: bool = True,
) -> Workload:
    """Rows of 1024 numbers, up to arrays of several times a last-level cache."""
    return Workload(
        function.__name__,
        FAMILY,
        function,
        vectors(1, -2.0, 2.0) if reference is READ else rows(1, columns=COLUMNS),
        sizes=FUSION_SIZES,
        out_function=out_function,
        reassociates=True,
        tags=frozenset({"fusion", "one_kernel"} if one_kernel else {"fusion"}),
        reference=reference,
    )


WORKLOADS = (
    _grouped(softmax, softmax_out),
    _grouped(log_softmax, log_softmax_out, one_kernel=False),
    _grouped(layer_norm, layer_norm_out),
    _grouped(layer_norm_by_hand, layer_norm_by_hand_out),
    _grouped(rms_norm, rms_norm_out),
    _grouped(standardise_columns, standardise_columns_out),
    _grouped(standardise_columns_by_hand, standardise_columns_by_hand_out),
    _grouped(unit_rows, unit_rows_out, one_kernel=False),
    _grouped(mean_var_max, reference=READ),
    Workload("log_sum_exp", FAMILY, log_sum_exp, rows(1), reassociates=True),
    Workload("cosine_similarity", FAMILY, cosine_similarity, rows(2), reassociates=True),
)
