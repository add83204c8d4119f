"""Programs that handle their arguments as libraries do.

Helpers return arguments through chains, arrays are converted with all keywords, and shapes become
text. Other statements of the mutation fuzzer stand between, and arrays of several stores.
"""

from __future__ import annotations

from random import Random

import numpy as np

from fusejit_testing.programs.join_templates import PRODUCERS, USES
from fusejit_testing.programs.library_templates import LIBRARY_TEMPLATES
from fusejit_testing.programs.mutation_maker import Maker, finished, random_results, started
from fusejit_testing.programs.mutation_programs import MutationProgram, Statement, random_parameters
from fusejit_testing.programs.value_programs import template, with_values

_KINDS = list(LIBRARY_TEMPLATES)
_WEIGHTS = [weight for weight, _ in LIBRARY_TEMPLATES.values()]
_NUM_STATEMENTS = (1, 1, 2, 2, 3, 4)


def make_library_program(seed: int) -> MutationProgram:
    """The program of a seed."""
    rng = Random(seed)
    parameters, calls = random_parameters(rng)
    program = with_values(MutationProgram(seed, parameters, (), (), "one", calls), 0.3)
    maker = started(program, rng)
    body: list[Statement] = []
    for _ in range(rng.choice(_NUM_STATEMENTS)):
        body += _statement(maker)
    returned = random_results(maker)
    last = [k for k, v in maker.names.items() if isinstance(v, np.ndarray | np.generic)][-1:]
    others = [name for name in ("text", "g") if name in maker.names]
    if " object at 0x" in str(maker.names.get("text")):  # each clone has another address
        others.remove("text")
    return finished(program, maker, body, [*returned, *last, *others])


def _statement(maker: Maker) -> list[Statement]:
    if "g" in maker.names and maker.rng.random() < 0.6:
        return maker.accepted(template(maker.rng, maker.names))
    roll = maker.rng.random()
    if roll < 0.2:
        return maker.statement(0)
    if roll < 0.3:
        text = maker.rng.choice((*USES, *PRODUCERS))
    else:
        text = maker.rng.choice(LIBRARY_TEMPLATES[maker.rng.choices(_KINDS, _WEIGHTS)[0]][1])
    return maker.accepted(text)
