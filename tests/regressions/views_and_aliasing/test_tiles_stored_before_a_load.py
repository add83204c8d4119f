"""A tiled op changed what was loaded between it and its store: its tiles were stored too early.

The store moved to the op, before the load, which then found the new elements.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from fusejit.ir.graph import Graph
from fusejit.ir.interpreter.interpret import interpret
from fusejit.ir.target_facts import GENERIC
from fusejit.ir.text.parser import parse_graph
from fusejit.transform import Schedule

TEXT = """graph @negative_and_exp
  symbol s0 = size(arg:a, 0)
  buffer @a : s0 x f64 = arg:a class 0 readonly
  buffer @c : s0 x f64 = arg:c class 1
{
  %v0 = load @a v0 : s0 x f64
  %v1 = generic "exp" domain (s0) ins (%v0) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64
  %v2 = load @c v0 : s0 x f64
  %v3 = generic "negative" domain (s0) ins (%v2) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
  store @c v1 = %v1
  return %v3
}
"""  # noqa: E501


def outcome(graph: Graph) -> list[np.ndarray]:
    arguments = {"a": np.arange(5.0), "c": np.arange(5.0) + 1}
    results = interpret(graph, lambda path: arguments[path.name])
    return [np.asarray(x) for x in (*results, arguments["c"])]


def test_a_load_between_the_op_and_its_store() -> None:
    stage: Any = SimpleNamespace(graph=parse_graph(TEXT), target=GENERIC)
    tiled = Schedule(stage, (), stage.graph)["exp"].tile(i=2).schedule.graph
    for new, old in zip(outcome(tiled), outcome(stage.graph), strict=True):
        np.testing.assert_array_equal(new, old)
