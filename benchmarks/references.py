"""Yardsticks: functions that only read their argument and write what a workload would write."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

from typing import Any

import numpy as np

from benchmarks.workload import Array, Reference


def copy(x: Array) -> Array:
    return x * 1


def copy_out(x: Array, out: Array) -> None:
    np.multiply(x, 1, out=out)


def copy_inside(x: Array) -> Array:
    return x[3:-3] * 1


def copy_inside_out(x: Array, out: Array) -> None:
    np.multiply(x[3:-3], 1, out=out)


def copy_inside_square(u: Array) -> Array:
    return u[3:-3, 3:-3] * 1


def copy_inside_square_out(u: Array, out: Array) -> None:
    np.multiply(u[3:-3, 3:-3], 1, out=out)


def read(x: Array) -> Any:
    return x.max()


COPY = Reference(copy, copy_out)
COPY_INSIDE = Reference(copy_inside, copy_inside_out)
"""For what is three shorter at either end."""
COPY_INSIDE_SQUARE = Reference(copy_inside_square, copy_inside_square_out)
READ = Reference(read)
"""For results that are numbers."""
