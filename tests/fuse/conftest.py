"""Graphs from short texts, and passes compared by what they print and what they compute."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.fuse.folding.cost import ControlFusionFn
from fusejit.fuse.folding.driver import fold_producers
from fusejit.fuse.folding.siblings import merge_siblings
from fusejit.ir.graph import Graph
from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.ops import GenericOp
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import assert_same_results
from fusejit_testing.fold_policies import fold_always
from fusejit_testing.graphs.graph_launcher import launcher

ARGUMENTS = """\
graph @test
  symbol s0 = size(arg:m, 0)
  symbol s1 = size(arg:m, 1)
  buffer @m : s0 x s1 x f64 = arg:m class 0
  buffer @w : s0 x s1 x f64 = arg:w class 1
  buffer @x : s0 x f64 = arg:x class 2
  buffer @y : s0 x f64 = arg:y class 3
  buffer @z : s1 x f64 = arg:z class 4
  buffer @o : f64 = arg:o class 5
  buffer @i : i64 = arg:i class 6
"""


def graph_of(body: str) -> Graph:
    """The graph with a few arguments and the given body."""
    return parse_graph(f"{ARGUMENTS}{{\n{body}\n}}\n")


def body_of(graph: Graph) -> str:
    """The ops and the return of a graph, without indentation."""
    lines = print_graph(graph).splitlines()
    return textwrap.dedent("\n".join(lines[lines.index("{") + 1 : -1]))


@pytest.fixture
def parse() -> Callable[[str], Graph]:
    """Makes a graph of a body over @m, @w (s0 x s1), @x, @y (s0), @z (s1) and @o ()."""
    return graph_of


@pytest.fixture
def becomes() -> Callable[[Callable[[Graph], Graph], str, str], None]:
    """Asserts that a pass turns one body into another, and leaves its input as it was."""

    def check(apply: Callable[[Graph], Graph], before: str, after: str) -> None:
        graph = graph_of(before)
        text = print_graph(graph)
        result = apply(graph)
        assert body_of(result) == body_of(graph_of(after))
        assert print_graph(graph) == text
        if text == print_graph(result):
            assert result is graph, "nothing changed, but the graph is another object"
        assert apply(result) is result, "a second application still changes something"

    return check


# ------------------------------------------------------------------- with and without fusion, run
SIZES = ({"s0": 8, "s1": 8}, {"s0": 9, "s1": 3}, {"s0": 7, "s1": 5})
Run = tuple[dict[str, np.ndarray], list[Any]]
Fuses = Callable[..., list[Run]]


def fused_by(control: ControlFusionFn) -> Callable[[Graph], Graph]:
    """The passes that fold and merge, in the order of `fusejit.pipeline.PASSES`."""

    def apply(graph: Graph) -> Graph:
        graph = fold_producers(canonicalize(graph), control=control)
        graph = fold_producers(merge_siblings(graph), control=control)
        return canonicalize(graph)

    return apply


def arguments_of(graph: Graph, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Arguments of the graph's buffers: small numbers, zeros of both signs, exact in all sums."""
    rng = np.random.default_rng(5)
    numbers = np.array([-3.0, -1.5, -0.0, 0.0, 0.75, 2.0, 4.0])
    arguments: dict[str, np.ndarray] = {}
    for buffer in graph.buffers:
        shape = [e.evaluate((), sizes) for e in buffer.type.extents]
        if buffer.type.dtype.kind == "f":
            arguments[buffer.name] = np.asarray(rng.choice(numbers, shape), buffer.type.dtype)
        else:
            arguments[buffer.name] = np.asarray(rng.integers(0, 2, shape), buffer.type.dtype)
    return arguments


def outcome_of(graph: Graph, sizes: dict[str, int]) -> list[Any]:
    """The results by the interpreter, then what is in the arguments afterwards."""
    arguments = arguments_of(graph, sizes)
    return [*interpret(graph, argument_paths(arguments)), *arguments.values()]


def outcome_of_source(
    graph: Graph,
    sizes: dict[str, int],
    launch: Callable[..., Any] | None = None,
) -> list[Any]:
    """The same by the generated source of the graph, run as plain Python."""
    arguments = arguments_of(graph, sizes)
    results = (launch or launcher(graph, jit=False))(*arguments.values())
    assert isinstance(results, list), results
    return [*results, *arguments.values()]


def num_generics(graph: Graph) -> int:
    """How many generic ops the outermost block has."""
    return sum(isinstance(op, GenericOp) for op in graph.block.ops)


@pytest.fixture(params=["unjitted", "jitted"])
def fuses(request: pytest.FixtureRequest) -> Fuses:
    """Asserts that a body is fused into another one, and that both give the same bits.

    ``fuses(before, after, counts, control=fold_always)``: ``counts`` are the numbers of generic
    ops. Results are compared by the interpreter, and by the source of the fused graph; jitted, by
    machine code of the graph under the policies "none" and "aggressive". Gives the arguments and
    the results of each run of the fused graph.
    """
    jitted = request.param == "jitted"

    def check(
        before: str, after: str, counts: tuple[int, int], control: ControlFusionFn = fold_always
    ) -> list[Run]:
        graph = graph_of(before)
        verify(graph)
        fused = fused_by(control)(graph)
        verify(fused)
        assert body_of(fused) == body_of(graph_of(after))
        assert (num_generics(graph), num_generics(fused)) == counts
        runs: list[Run] = []
        if jitted:
            launchers = [launcher(graph, jit=True, fusion=p) for p in ("none", "aggressive")]
        else:
            launchers = [launcher(fused, jit=False)]
        for sizes in SIZES:
            expected = outcome_of(graph, sizes)
            assert_same_results(outcome_of(fused, sizes), expected, f"interpreted for {sizes}: ")
            for launch in launchers:
                actual = outcome_of_source(graph, sizes, launch)
                assert_same_results(actual, expected, f"source for {sizes}: ")
            runs.append((arguments_of(graph, sizes), actual[: len(graph.results)]))
        return runs

    return check
