"""Every pass of the pipeline preserves meaning, verifies, and leaves what it does not change."""

from __future__ import annotations

import pytest

from fusejit.fuse.policy import POLICIES
from fusejit.ir.interpreter import interpret
from fusejit.ir.printer import print_graph
from fusejit.ir.schedule import FusionReport
from fusejit.ir.target import GENERIC
from fusejit.ir.verifier import verify
from fusejit.pipeline import PASSES, PassContext
from fusejit.testing.compare import assert_same_results
from fusejit.testing.random_graphs import random_graph


def context() -> PassContext:
    return PassContext(GENERIC, POLICIES["auto"], FusionReport())


@pytest.mark.parametrize("seed", range(150))
def test_each_pass_preserves_results_and_mutated_arguments(seed: int) -> None:
    program = random_graph(seed)
    graph = program.graph
    arguments = program.fresh_arguments()
    expected = interpret(graph, lambda path: arguments[path.name])
    for name, run in PASSES:
        before = print_graph(graph)
        after = run(graph, context())
        assert print_graph(graph) == before, f"{name} changed its input"
        verify(after)
        again = program.fresh_arguments()
        assert_same_results(expected, interpret(after, lambda path, a=again: a[path.name]))
        assert_same_results(list(arguments.values()), list(again.values()))
        graph = after


@pytest.mark.parametrize("seed", range(150, 200))
def test_passes_return_the_same_object_when_there_is_nothing_left_to_do(seed: int) -> None:
    graph = random_graph(seed).graph
    for _ in range(2):
        for _, run in PASSES:
            graph = run(graph, context())
    for name, run in PASSES:
        assert run(graph, context()) is graph, name
