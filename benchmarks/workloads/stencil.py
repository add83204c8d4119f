"""Neighbours by slices: the overlapping views read one array several times, stores go in place."""

import numpy as np

from benchmarks.arguments import squares, vectors
from benchmarks.references import COPY_INSIDE, COPY_INSIDE_SQUARE
from benchmarks.workload import FUSION_SIZES, Array, Workload

FAMILY = "stencil"


def difference(x: Array) -> Array:
    return x[1:] - x[:-1]


def three_point(x: Array) -> Array:
    return 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]


def laplace(u: Array) -> Array:
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]


def heat_step(u: Array) -> None:
    u[1:-1, 1:-1] += 0.1 * (
        u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
    )


def smooth_inside(u: Array) -> Array:
    smooth = np.zeros_like(u)
    smooth[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return smooth


def slope(u: Array) -> Array:
    dx = 0.5 * (u[1:-1, 2:] - u[1:-1, :-2])
    dy = 0.5 * (u[2:, 1:-1] - u[:-2, 1:-1])
    return np.sqrt(dx * dx + dy * dy)


def stencil_chain(x: Array) -> Array:
    a = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    b = 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]
    return 0.25 * b[:-2] + 0.5 * b[1:-1] + 0.25 * b[2:]


def stencil_chain_out(x: Array, out: Array) -> None:
    a = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    b = 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]
    np.add(0.25 * b[:-2] + 0.5 * b[1:-1], 0.25 * b[2:], out=out)


def stencil_chain_2d(u: Array) -> Array:
    a = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    b = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def stencil_chain_2d_out(u: Array, out: Array) -> None:
    a = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    b = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    np.multiply(0.25, b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:], out=out)


CHAIN_TAGS = frozenset({"fusion", "one_kernel"})

WORKLOADS = (
    Workload("difference", FAMILY, difference, vectors(1)),
    Workload("three_point", FAMILY, three_point, vectors(1)),
    Workload("laplace", FAMILY, laplace, squares(1)),
    Workload("heat_step", FAMILY, heat_step, squares(1), mutates=True),
    Workload("smooth_inside", FAMILY, smooth_inside, squares(1)),
    Workload("slope", FAMILY, slope, squares(1)),
    Workload(
        "stencil_chain",
        FAMILY,
        stencil_chain,
        vectors(1),
        sizes=FUSION_SIZES,
        out_function=stencil_chain_out,
        tags=CHAIN_TAGS,
        reference=COPY_INSIDE,
    ),
    Workload(
        "stencil_chain_2d",
        FAMILY,
        stencil_chain_2d,
        squares(1),
        sizes=FUSION_SIZES,
        out_function=stencil_chain_2d_out,
        tags=CHAIN_TAGS,
        reference=COPY_INSIDE_SQUARE,
    ),
)
