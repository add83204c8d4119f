"""Random legal sequences of 1 to 8 steps on random graphs: the interpreter finds the same values.

A schedule knows the arguments of functions that it has traced, not those of these graphs: the steps
are compared here.
"""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit.ir.graph import Graph
from fusejit.ir.interpreter.interpret import interpret
from fusejit.ir.target_facts import GENERIC
from fusejit.transform import Schedule, ScheduleError
from fusejit_testing.graphs.random_graphs import RandomProgram, random_graph
from fusejit_testing.graphs.random_reshapes import random_graph_with_reshapes
from fusejit_testing.random_schedules import names, random_step

MAKERS = {"stores": random_graph, "reshapes": random_graph_with_reshapes}
MAX_STEPS = 8


def outcome(program: RandomProgram, graph: Graph) -> list[Any]:
    """Results, and the arguments after the run."""
    arguments = program.fresh_arguments()
    with np.errstate(all="ignore"):
        results = interpret(graph, lambda path: arguments[path.name])
    return [np.asarray(x) for x in (*results, *arguments.values())]


def scheduled(program: RandomProgram, rng: random.Random, applied: Counter[str]) -> Schedule:
    """A schedule of the graph with random steps."""
    stage: Any = SimpleNamespace(graph=program.graph, target=GENERIC)
    s = Schedule(stage, (), program.graph)
    wanted = rng.randint(1, MAX_STEPS)
    for _ in range(12 * MAX_STEPS):
        if len(s.steps) == wanted or not names(s):
            break
        try:
            new = random_step(s, rng).schedule
        except ScheduleError:
            continue
        s = new
        applied[s.steps[-1].call.partition("(")[0]] += 1
    return s


def assert_kept(found: list[Any], expected: list[Any], s: Schedule) -> None:
    """Values are kept by the tags of the steps."""
    is_exact = all(step.tag == "bits" for step in s.steps)
    for new, old in zip(found, expected, strict=True):
        assert (new.dtype, new.shape) == (old.dtype, old.shape), s.log
        if is_exact or old.dtype.kind not in "fc":
            np.testing.assert_array_equal(new, old, err_msg=s.log)
        else:
            error = 1e-3 if old.dtype.itemsize < 8 or old.dtype == np.complex64 else 1e-8
            np.testing.assert_allclose(new, old, error, error, err_msg=s.log)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("part", range(4))
def test_random_graphs(maker: str, part: int) -> None:
    applied: Counter[str] = Counter()
    for seed in range(part * 1000, part * 1000 + 25):
        rng = random.Random(seed)
        program = MAKERS[maker](seed)
        s = scheduled(program, rng, applied)
        assert_kept(outcome(program, s.graph), outcome(program, program.graph), s)
    assert len(applied) > 5
    assert sum(applied.values()) > 30
