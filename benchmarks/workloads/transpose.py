"""Operands that disagree about the order of memory."""

from benchmarks.arguments import squares
from benchmarks.workload import Array, Workload

FAMILY = "transpose"


def symmetrise(x: Array) -> Array:
    return x + x.T


def antisymmetrise(x: Array) -> Array:
    return (x - x.T) * 0.5


def double_transposed(x: Array) -> Array:
    return x.T * 2


def transposed_chain(a: Array, b: Array, c: Array) -> Array:
    return a * b.T + c


WORKLOADS = (
    Workload("symmetrise", FAMILY, symmetrise, squares(1)),
    Workload("antisymmetrise", FAMILY, antisymmetrise, squares(1)),
    Workload("double_transposed", FAMILY, double_transposed, squares(1)),
    Workload("transposed_chain", FAMILY, transposed_chain, squares(3)),
)
