"""The minimal form of a random program that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fusejit_testing.programs.programs_random import RandomProgram


def shrink(program: RandomProgram, fails: Callable[[RandomProgram], bool]) -> RandomProgram:
    """Drop statements and results as long as the program still fails the same way."""
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(program.statements))):
            kept = program.statements[:at] + program.statements[at + 1 :]
            shorter = replace(program, statements=kept)
            if fails(shorter):
                program, changed = shorter, True
        names = _names(program.returned)
        for name in names if len(names) > 1 or program.returned != names[0] else []:
            shorter = replace(program, returned=name)
            if fails(shorter):
                program, changed = shorter, True
                break
        for argument in program.arguments:
            if argument.layout != "C":
                simpler = tuple(
                    replace(a, layout="C") if a is argument else a for a in program.arguments
                )
                shorter = replace(program, arguments=simpler)
                if fails(shorter):
                    program, changed = shorter, True
                    break
    return program


def _names(returned: str) -> list[str]:
    text = returned
    for mark in "[]{},:":
        text = text.replace(mark, " ")
    return [w for w in text.split() if "'" not in w]
