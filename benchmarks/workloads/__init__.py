"""All workloads, family by family. Each module holds functions and, at its end, their table.

The functions use only what fusejit's core promises: arithmetic, comparisons, ``where``, ``abs``,
``sqrt exp log sin cos tanh``, ``maximum minimum``, ``astype``, ``sum mean max min var std``,
broadcasting, ``.T``, ``reshape``, slices, integer arrays as indices, stores through both,
``zeros ones full empty`` and ``@``.
"""

from benchmarks.workload import Workload
from benchmarks.workloads import (
    broadcast,
    contraction,
    elementwise,
    gather,
    image,
    integer,
    programs,
    reduction,
    rowwise,
    small,
    stencil,
    transcendental,
    transpose,
)

WORKLOADS: tuple[Workload, ...] = (
    *elementwise.WORKLOADS,
    *transcendental.WORKLOADS,
    *broadcast.WORKLOADS,
    *transpose.WORKLOADS,
    *reduction.WORKLOADS,
    *rowwise.WORKLOADS,
    *stencil.WORKLOADS,
    *contraction.WORKLOADS,
    *integer.WORKLOADS,
    *gather.WORKLOADS,
    *image.WORKLOADS,
    *small.WORKLOADS,
)

PROGRAMS: tuple[Workload, ...] = programs.WORKLOADS
"""Whole programs, a suite of their own."""

FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(w.family for w in WORKLOADS))
PROGRAM_FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(w.family for w in PROGRAMS))


def by_name(name: str) -> Workload:
    """The workload called `name`; a KeyError says which names there are."""
    for workload in (*WORKLOADS, *PROGRAMS):
        if workload.name == name:
            return workload
    known = ", ".join(w.name for w in (*WORKLOADS, *PROGRAMS))
    raise KeyError(f"no workload is called {name!r}; there are: {known}")
