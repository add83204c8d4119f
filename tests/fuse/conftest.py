"""Graphs from short texts, and passes compared by what they print."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from fusejit.ir.graph import Graph
from fusejit.ir.parser import parse_graph
from fusejit.ir.printer import print_graph

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
