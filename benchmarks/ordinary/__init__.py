"""The second corpus: programs with Python's own data around arrays, family by family.

Texts, event lists, graphs in dictionaries, recursion, generators, classes with state, exceptions:
what textbooks and notebooks are full of. Nothing in them is written with fusejit in mind. Each
module holds plain functions and classes and, at its end, the table of the programs among them;
`benchmarks.ordinary.decorated` decorates all of a module's functions and methods at once.
"""

from benchmarks.ordinary import (
    chance,
    codes,
    comprehensions,
    dictionaries,
    events,
    failures,
    generators,
    graphs,
    images,
    integrators,
    objects,
    recursion,
    tools,
    words,
)
from benchmarks.programs.program import Program

PROGRAMS: tuple[Program, ...] = (
    *words.PROGRAMS,
    *events.PROGRAMS,
    *graphs.PROGRAMS,
    *integrators.PROGRAMS,
    *recursion.PROGRAMS,
    *generators.PROGRAMS,
    *dictionaries.PROGRAMS,
    *objects.PROGRAMS,
    *comprehensions.PROGRAMS,
    *failures.PROGRAMS,
    *tools.PROGRAMS,
    *chance.PROGRAMS,
    *codes.PROGRAMS,
    *images.PROGRAMS,
)
