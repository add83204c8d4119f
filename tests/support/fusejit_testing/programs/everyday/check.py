"""Everyday programs against plain Python: every call both ways, and what it changes outside."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fusejit.dispatch.call_signatures import NEW_VALUE_REASON
from fusejit_testing.against_python import EndlessError, check_against_python
from fusejit_testing.programs.everyday.classes import CLASSES
from fusejit_testing.programs.everyday.grammar import Grammar, made_program
from fusejit_testing.programs.everyday.recursions import RECURSIONS
from fusejit_testing.programs.everyday.tables import TABLES_OF_NUMBERS, TABLES_OF_WORDS
from fusejit_testing.programs.everyday.texts import TEXTS
from fusejit_testing.programs.everyday.values import KINDS
from fusejit_testing.programs.list_programs import report_of
from fusejit_testing.programs.mutation_programs import MutationProgram

GRAMMARS: dict[str, tuple[Grammar, ...]] = {
    "strings": (TEXTS,),
    "tables": (*TABLES_OF_NUMBERS, *TABLES_OF_WORDS),
    "classes": (CLASSES,),
    "recursions": (RECURSIONS,),
}
ONE_OBJECT = 0.15  # of the calls with two arguments of a kind


def everyday_program(family: str, seed: int) -> MutationProgram:
    """The program of a seed."""
    grammars = GRAMMARS[family]
    return made_program(family, grammars[seed % len(grammars)], seed)


def arguments_of(program: MutationProgram, call: int, names: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call, the same ones each time; ``names`` are those of the module."""
    sizes = program.calls[call]
    rng = random.Random(f"{program.seed} {sizes['at']}")
    is_odd, are_one = bool(sizes["variation"]), rng.random() < ONE_OBJECT
    made: dict[str, Any] = {}
    found = []
    for parameter in program.parameters:
        kind = parameter.dtype
        if kind not in made or not are_one:
            made[kind] = KINDS[kind](rng, is_odd, names)
        found.append(made[kind])
    return tuple(found)


def check_everyday(
    family: str, program: MutationProgram, folder: Path, *, jit: bool = False
) -> str:
    """Run every call and raise what differs from Python; how it ran: whole, segments, declined."""
    function = program.load(folder)
    names = function.__globals__
    calls = [arguments_of(program, call, names) for call in range(len(program.calls))]
    calls += calls[1:]  # strings and lengths that are new are compiled when they come again
    state = [name for name in GRAMMARS[family][0].state if name in names]
    try:
        fused = check_against_python(function, calls, jit=jit, state=state)
    except EndlessError:
        return "skipped"
    return way_of(fused)


def way_of(fused: Any) -> str:
    """How the calls of a decorated function ran."""
    if fused.variants.newest_segmented is not None:
        return "segments"
    if not len(fused.variants):
        return "declined"
    return "partly" if {*fused.variants.fallbacks} - {NEW_VALUE_REASON} else "whole"


def report_everyday(family: str, program: MutationProgram, folder: Path, *, jit: bool) -> str:
    """A failing program, shrunk, with its arguments and its failure."""

    def arguments(small: MutationProgram, call: int) -> object:
        return arguments_of(small, call, small.load(folder).__globals__)

    return report_of(program, partial(check_everyday, family, folder=folder, jit=jit), arguments)
