"""Elementwise chains: what fusing was invented for. NumPy makes one pass per operation."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

import numpy as np

from benchmarks.arguments import vectors
from benchmarks.workload import Array, Workload

FAMILY = "elementwise"


def chain8(a: Array, b: Array, c: Array) -> Array:
    t = a * b + c
    return (t * t - a) * 0.5 + b * t - c


def chain8_out(a: Array, b: Array, c: Array, out: Array) -> None:
    t = a * b + c
    np.subtract((t * t - a) * 0.5 + b * t, c, out=out)


def chain2(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


def chain2_out(a: Array, b: Array, c: Array, out: Array) -> None:
    np.add(a * b, c, out=out)


def add(a: Array, b: Array) -> Array:
    return a + b


def add_out(a: Array, b: Array, out: Array) -> None:
    np.add(a, b, out=out)


def sqrt(x: Array) -> Array:
    return np.sqrt(x)


def sqrt_out(x: Array, out: Array) -> None:
    np.sqrt(x, out=out)


def scale_shift(x: Array) -> Array:
    return 2.0 * x - 1.0


def relative_difference(a: Array, b: Array) -> Array:
    return np.abs(a - b) / (np.abs(a) + np.abs(b))


def length(x: Array, y: Array) -> Array:
    return np.sqrt(x * x + y * y)


def polynomial(x: Array) -> Array:
    return ((((0.5 * x - 0.25) * x + 2.0) * x - 1.0) * x + 0.125) * x + 3.0


def powers(x: Array) -> Array:
    return x**2 - 3.0 * x + x**0.5


def clamp(x: Array) -> Array:
    return np.minimum(np.maximum(x, 0.5), 1.5)


def leaky_relu(x: Array) -> Array:
    return np.where(x > 0, x, 0.1 * x)


def strided(a: Array, b: Array) -> Array:
    return a[::2] * b[::2] + a[1::2]


WORKLOADS = (
    Workload(
        "chain8",
        FAMILY,
        chain8,
        vectors(3),
        numexpr="((a*b + c)*(a*b + c) - a)*0.5 + b*(a*b + c) - c",
        out_function=chain8_out,
    ),
    Workload(
        "chain2",
        FAMILY,
        chain2,
        vectors(3),
        numexpr="a*b + c",
        out_function=chain2_out,
    ),
    Workload(
        "add",
        FAMILY,
        add,
        vectors(2),
        numexpr="a + b",
        out_function=add_out,
        tags=frozenset({"single"}),
    ),
    Workload(
        "sqrt",
        FAMILY,
        sqrt,
        vectors(1),
        numexpr="sqrt(x)",
        out_function=sqrt_out,
        tags=frozenset({"single"}),
    ),
    Workload("scale_shift", FAMILY, scale_shift, vectors(1), numexpr="2.0*x - 1.0"),
    Workload(
        "relative_difference",
        FAMILY,
        relative_difference,
        vectors(2),
        numexpr="abs(a - b) / (abs(a) + abs(b))",
    ),
    Workload("length", FAMILY, length, vectors(2), numexpr="sqrt(x*x + y*y)"),
    Workload(
        "polynomial",
        FAMILY,
        polynomial,
        vectors(1),
        numexpr="((((0.5*x - 0.25)*x + 2.0)*x - 1.0)*x + 0.125)*x + 3.0",
    ),
    Workload("powers", FAMILY, powers, vectors(1), numexpr="x**2 - 3.0*x + sqrt(x)"),
    Workload(
        "clamp",
        FAMILY,
        clamp,
        vectors(1),
        numexpr="where(x < 0.5, 0.5, where(x > 1.5, 1.5, x))",
    ),
    Workload(
        "leaky_relu", FAMILY, leaky_relu, vectors(1, -2.0, 2.0), numexpr="where(x > 0, x, 0.1*x)"
    ),
    Workload("strided", FAMILY, strided, vectors(2)),
)
