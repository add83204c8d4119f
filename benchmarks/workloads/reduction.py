"""Reductions along rows, columns and everything, alone and with a fused producer."""

from typing import Any

import numpy as np

from benchmarks.arguments import squares, vectors
from benchmarks.workload import ArgumentBuilder, Array, Workload

FAMILY = "reduction"


def sum_all(x: Array) -> Any:
    return x.sum()


def sum_rows(x: Array) -> Any:
    return x.sum(axis=1)


def sum_columns(x: Array) -> Any:
    return x.sum(axis=0)


def mean_all(x: Array) -> Any:
    return x.mean()


def mean_rows(x: Array) -> Any:
    return x.mean(axis=1)


def max_all(x: Array) -> Any:
    return x.max()


def argmax_all(x: Array) -> Any:
    return x.argmax()


def max_rows(x: Array) -> Any:
    return x.max(axis=1)


def min_columns(x: Array) -> Any:
    return x.min(axis=0)


def sum_of_squares(x: Array) -> Any:
    return (x * x).sum()


def dot_like(a: Array, b: Array) -> Any:
    return (a * b).sum()


def root_mean_square(x: Array) -> Any:
    return np.sqrt(np.mean(x * x))


def row_distance(a: Array, b: Array) -> Any:
    return np.abs(a - b).sum(axis=1)


def column_squares(x: Array) -> Any:
    return (x * x).sum(axis=0)


def row_range(x: Array) -> Any:
    return x.max(axis=1) - x.min(axis=1)


def row_exp_sum(x: Array) -> Any:
    return np.exp(x).sum(axis=1)


def _reduction(
    function: Any, arguments: ArgumentBuilder, numexpr: str | None = None, exact: bool = False
) -> Workload:
    return Workload(
        function.__name__, FAMILY, function, arguments, numexpr=numexpr, reassociates=not exact
    )


WORKLOADS = (
    _reduction(sum_all, vectors(1), "sum(x)"),
    _reduction(sum_rows, squares(1), "sum(x, axis=1)"),
    _reduction(sum_columns, squares(1), "sum(x, axis=0)"),
    _reduction(mean_all, vectors(1)),
    _reduction(mean_rows, squares(1)),
    _reduction(max_all, vectors(1), "max(x)", exact=True),
    _reduction(argmax_all, vectors(1), exact=True),
    _reduction(max_rows, squares(1), "max(x, axis=1)", exact=True),
    _reduction(min_columns, squares(1), "min(x, axis=0)", exact=True),
    _reduction(sum_of_squares, vectors(1), "sum(x*x)"),
    _reduction(dot_like, vectors(2), "sum(a*b)"),
    _reduction(root_mean_square, vectors(1)),
    _reduction(row_distance, squares(2), "sum(abs(a - b), axis=1)"),
    _reduction(column_squares, squares(1), "sum(x*x, axis=0)"),
    _reduction(row_range, squares(1), exact=True),
    _reduction(row_exp_sum, squares(1, -2.0, 2.0), "sum(exp(x), axis=1)"),
)
