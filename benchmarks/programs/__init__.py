"""The corpus: whole NumPy programs as people write them, family by family.

Each module holds plain functions and, at its end, their table. Nothing in them is written with
fusejit in mind: what does not compile yet is shown by `tests/programs`, not left out here.
"""

from benchmarks.programs import (
    adaptive,
    bits,
    calculus,
    dynamic,
    graphs,
    images,
    implicit,
    lattices,
    learning,
    linear_algebra,
    points,
    searches,
    signals,
    stencils,
    texts,
)
from benchmarks.programs.program import Program

PROGRAMS: tuple[Program, ...] = (
    *stencils.PROGRAMS,
    *implicit.PROGRAMS,
    *lattices.PROGRAMS,
    *linear_algebra.PROGRAMS,
    *graphs.PROGRAMS,
    *dynamic.PROGRAMS,
    *bits.PROGRAMS,
    *points.PROGRAMS,
    *signals.PROGRAMS,
    *images.PROGRAMS,
    *calculus.PROGRAMS,
    *learning.PROGRAMS,
    *adaptive.PROGRAMS,
    *searches.PROGRAMS,
    *texts.PROGRAMS,
)
