"""Random programs of lists as in `list_programs`, with lists that the caller gives and keeps."""

from __future__ import annotations

import random
from dataclasses import replace

from fusejit_testing.programs.list_programs import list_program
from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter

_PLACES = {"a": 4, "b": 5, "t": 6, "r": 7}  # of the statements that make the lists
_KINDS = {"a": "nums", "b": "nums", "t": "pairs", "r": "rows"}
_FEWER = "for j in range(260):"  # the lists grow with each call


def given_list_program(seed: int) -> MutationProgram:
    """The program of a seed: ``a`` and perhaps ``b``, ``t`` and ``r`` are arguments."""
    rng = random.Random(f"given lists {seed}")
    program = list_program(seed)
    given = [name for name in _PLACES if name == "a" or rng.random() < 0.5]
    made = {_PLACES[name] for name in given}
    body = tuple(s for at, s in enumerate(program.body) if at not in made)
    if "b" in given:
        body = (*body[:3], *body[4:])  # without "a, b = [], []"
    else:
        body = (*body[:3], replace(body[3], text="b = []"), *body[4:])
    parameters = [Parameter(name, _KINDS[name], (), "value") for name in given]
    for each in program.parameters:
        kind = "int" if each.dtype == "int" else "array"
        parameters.append(Parameter(each.name, kind, (), "value"))
    body = tuple(s if "2100" not in s.text else replace(s, text=_FEWER) for s in body)
    return replace(program, parameters=tuple(parameters), body=body)
