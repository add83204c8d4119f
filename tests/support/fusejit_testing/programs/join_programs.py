"""Programs that cross each way to make an array by several stores with each way to use it.

Seed by seed the pairs of `fusejit_testing.programs.join_templates` are gone through: as many seeds
in a row as there are pairs have each of them, among other statements. An array of a producer may
itself be what the next producer reads.
"""

from __future__ import annotations

import re
from random import Random

import numpy as np

from fusejit_testing.programs.join_templates import PRODUCERS, USES
from fusejit_testing.programs.mutation_maker import finished, random_results, started
from fusejit_testing.programs.mutation_programs import MutationProgram, Statement, random_parameters

NUM_PAIRS = len(PRODUCERS) * len(USES)


def make_join_program(seed: int) -> MutationProgram:
    """The program of a seed."""
    rng = Random(seed)
    parameters, calls = random_parameters(rng)
    for sizes in calls:  # most stores need room
        for name in "nm":
            sizes[name] = max(sizes[name], rng.choice((0, 1, 2, 3, 3, 3)))
    calls = (calls[0], dict(calls[0]), *calls[2:])
    program = MutationProgram(seed, parameters, (), (), "one", calls)
    maker = started(program, rng)
    body: list[Statement] = []
    if rng.random() < 0.25:
        body += maker.statement(0)
    if rng.random() < 0.2:
        body += maker.accepted(_for(rng.choice(PRODUCERS), "p"))
    body += maker.accepted(_for(PRODUCERS[seed % len(PRODUCERS)], "q"))
    if isinstance(maker.names.get("q"), np.ndarray):
        body += maker.accepted(USES[seed // len(PRODUCERS) % len(USES)], {"x": "q"})
    if rng.random() < 0.3:
        body += maker.statement(0)
    if rng.random() < 0.25:
        body += maker.accepted(rng.choice(USES))
    kept = [k for k in ("q", "t0", "w0") if isinstance(maker.names.get(k), np.ndarray)]
    last = [k for k, v in maker.names.items() if isinstance(v, np.ndarray | np.generic)][-1:]
    if rng.random() < 0.6:
        kept = [k for k in kept if k != "q"]  # an array that nothing else reads may be left out
    return finished(program, maker, body, [*random_results(maker), *kept, *last])


def _for(producer: str, name: str) -> str:
    """The template of a producer that binds ``name``."""
    return re.sub(r"\bp\b", name, producer)
