"""The corpus of whole programs as workloads, called ``family.name``."""

from typing import Any

import numpy as np

from benchmarks.programs import PROGRAMS
from benchmarks.programs.program import Program
from benchmarks.workload import ArgumentBuilder, Workload


def arguments_of(program: Program) -> ArgumentBuilder:
    """The program's own builder; each program has dtypes of its own."""

    def build(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        return program.arguments(rng, size)

    return build


WORKLOADS = tuple(
    Workload(
        f"{program.family}.{program.name}",
        program.family,
        program.function,
        arguments_of(program),
        dtypes=("f64",),
        sizes=(program.bench,),
        mutates=True,
        reassociates=not program.exact,
        program=program,
    )
    for program in PROGRAMS
)
