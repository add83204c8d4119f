# ruff: noqa: E501
"""Every pass of the pipeline preserves meaning, verifies, and leaves what it does not change.

Each row of `PASSES` is tried on the graphs that the rows before it make, and must have had
something to do in some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from fusejit.fuse.grouping.policy import POLICIES
from fusejit.ir.execution_plan import FusionReport
from fusejit.ir.graph import Graph
from fusejit.ir.interpreter.interpret import interpret
from fusejit.ir.target_facts import GENERIC
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.ir.verifier.verify import verify
from fusejit.pipeline import PASSES, PassContext
from fusejit_testing.compare import assert_same_results
from fusejit_testing.graphs.random_graphs import RandomProgram, random_graph
from fusejit_testing.graphs.random_reshapes import random_graph_with_reshapes

# Random graphs hardly ever have an expensive producer whose two consumers, which read it transposed, become
# one op.
DIAMOND = """graph @diamond
  symbol s0 = size(arg:x, 0)
  symbol s1 = size(arg:x, 1)
  buffer @x : s0 x s1 x f64 = arg:x class 0
{
  %x = load @x v0 : s0 x s1 x f64
  %p = generic "root" domain (s0, s1) ins (%x) outs (write) { t0 = sqrt in0 : f64; t1 = divide t0, in0 : f64; yield t1 } : s0 x s1 x f64
  %a = generic "add" domain (s1, s0) ins (%p [(d0, d1) -> (d1, d0)]) outs (write) { t0 = add in0, in0 : f64; yield t0 } : s1 x s0 x f64
  %b = generic "square" domain (s1, s0) ins (%p [(d0, d1) -> (d1, d0)]) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s1 x s0 x f64
  return %a, %b
}
"""


# Random graphs have no loops. What is expensive in this one leaves both of them, but for what stands behind a
# check, reads what the loop writes, or depends on the iteration.
LOOPS = """graph @loops
  symbol s0 = size(arg:x, 0)
  buffer @x : s0 x f64 = arg:x class 0
  buffer @w : s0 x f64 = arg:w class 1
{
  for i0 = 0 to 3 step 1 {
    %w = load @w v0 : s0 x f64
    %t = generic "negative" domain (s0) ins (%w) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
    %e = generic "exp" domain (s0) ins (%t) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64
    %x = load @x v1 : s0 x f64
    %r = generic "add" domain (s0) ins (%x, %e) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
    store @x v2 = %r
    for i1 = 0 to 2 step 1 {
      %w2 = load @w v0 : s0 x f64
      %s = generic "sum" domain (s0) iterators (reduction) ins (%w2) outs (add [(d0) -> ()]) { yield in0 } : f64 scalar
      %x2 = load @x v3 : s0 x f64
      %p = generic "exp" domain (s0) ins (%x2) outs (write) { t0 = exp in0 : f64; t1 = index (i1) : i64; t2 = cast t1 : f64; t3 = add t0, t2 : f64; yield t3 } : s0 x f64
      %q = generic "multiply" domain (s0) ins (%p, %s [(d0) -> ()]) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x f64
      store @x v4 = %q
    }
  }
  return
}
"""


# A loop of the program with what each iteration computes for itself, and a total that it carries.
HALVES = """graph @halves
  symbol s0 = size(arg:x, 0)
  guard ge(s0, 1) is true "a loop runs"
  buffer @x : s0 x f64 = arg:x class 0 readonly
{
  %zero = generic "number" domain () ins () outs (write) { t0 = const 0.0 : f64; yield t0 } : f64 python
  %total = for i0 = 0 to s0 step 1 carry (%t = %zero : f64 python) {
    %x = load @x v0 : s0 x f64
    %e = view %x [() -> (i0)] : f64 scalar
    %p = generic "sin" domain () ins (%e) outs (write) { t0 = sin in0 : f64; yield t0 } : f64 scalar
    %q = generic "exp" domain () ins (%e) outs (write) { t0 = exp in0 : f64; yield t0 } : f64 scalar
    %r = generic "tan" domain () ins (%e) outs (write) { t0 = tan in0 : f64; yield t0 } : f64 scalar
    %s = generic "add" domain () ins (%p, %q) outs (write) { t0 = add in0, in1 : f64; yield t0 } : f64 scalar
    %w = generic "multiply" domain () ins (%r, %s) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : f64 scalar
    %u = generic "add" domain () ins (%t, %w) outs (write) { t0 = add in0, in1 : f64; yield t0 } : f64 python
    yield %u
  } : f64 python
  return %total
}
"""


# What a kernel asks about a length after what it computes without it.
CHECKED = """graph @checked
  symbol s0 = size(arg:x, 0)
  buffer @x : s0 x f64 = arg:x class 0 readonly
{
  %n = generic "number" domain () ins () outs (write) { t0 = index (s0 + -1) : i64; yield t0 } : i64 python
  bind at0 = %n
  %x = load @x v0 : s0 x f64
  %v = generic "exp" domain (s0) ins (%x) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64
  %c = generic "same_extent" domain () ins () outs (write) { t0 = const 1 : i64; t1 = index (at0) : i64; t2 = less t0, t1 : i1; yield t2 } : i1 python
  assert %c "an extent is at least 2" raises "ValueError"
  %w = generic "sin" domain (at0) ins (%v [(d0) -> (d0 + 1)]) outs (write) { t0 = sin in0 : f64; yield t0 } : at0 x f64
  return %v, %w
}
"""


def checked(seed: int) -> RandomProgram:
    return RandomProgram(parse_graph(CHECKED), {"x": np.random.default_rng(seed).random(5)})


def halves(seed: int) -> RandomProgram:
    return RandomProgram(parse_graph(HALVES), {"x": np.random.default_rng(seed).random(5)})


def loops(seed: int) -> RandomProgram:
    rng = np.random.default_rng(seed)
    arguments = {"x": rng.random(4) * 0.1, "w": rng.random(4) * 0.1}
    return RandomProgram(parse_graph(LOOPS), arguments)


def diamond(seed: int) -> RandomProgram:
    rng = np.random.default_rng(seed)
    return RandomProgram(parse_graph(DIAMOND), {"x": rng.random((3, 5))})


NAMES = [name for name, _ in PASSES]
ROWS = range(len(PASSES))
MAKERS: dict[str, Callable[[int], RandomProgram]] = {
    "stores": random_graph,
    "reshapes": random_graph_with_reshapes,
    "diamond": diamond,
    "loops": loops,
    "halves": halves,
    "checked": checked,
}
SEEDS = range(120)
# The result is the same graph: it only reports.
REPORTS = {"report reshapes that block fusion"}


def context(policy: str = "auto") -> PassContext:
    return PassContext(GENERIC, POLICIES[policy], FusionReport())


@cache
def stages(maker: str, seed: int, policy: str) -> tuple[RandomProgram, list[Graph]]:
    """A random program, and its graph before each pass and after the last one."""
    program = MAKERS[maker](seed)
    graphs = [program.graph]
    for _, run in PASSES:
        graphs.append(run(graphs[-1], context(policy)))
    return program, graphs


def outcome(program: RandomProgram, graph: Graph) -> list[object]:
    arguments = program.fresh_arguments()
    results = interpret(graph, lambda path: arguments[path.name])
    return [*results, *arguments.values()]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_each_pass_preserves_results_and_mutated_arguments(row: int, maker: str) -> None:
    name, run = PASSES[row]
    for policy in ("auto", "aggressive"):
        for seed in SEEDS:
            program, graphs = stages(maker, seed, policy)
            before, text = graphs[row], print_graph(graphs[row])
            after = run(before, context(policy))
            assert print_graph(before) == text, f"{name} changed its input, seed {seed}"
            if after is before:
                continue
            assert print_graph(after) != text, f"{name}: another object, but the same graph"
            verify(after)
            assert_same_results(outcome(program, after), outcome(program, before), f"{seed}: ")


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_each_pass_is_idempotent(row: int) -> None:
    """A second run right after the first one changes nothing: the object is the same."""
    name, run = PASSES[row]
    for maker in MAKERS:
        for seed in SEEDS:
            _, graphs = stages(maker, seed, "auto")
            after = run(graphs[row], context())
            assert run(after, context()) is after, f"{name}, {maker}, seed {seed}"


# Graphs for these stand in tests of their own: tests/property/test_random_joins.py.
ELSEWHERE = {
    "split reads of concatenated arrays",
    "make convolutions products for BLAS",  # tests/structured, tests/transform
    "tile sums",  # tests/transform/test_registers.py
}


@pytest.mark.parametrize(
    "row", [r for r in ROWS if NAMES[r] not in {*REPORTS, *ELSEWHERE}], ids=lambda r: NAMES[r]
)
def test_each_pass_had_something_to_do(row: int) -> None:
    changed = sum(
        graphs[row + 1] is not graphs[row]
        for maker in MAKERS
        for policy in ("auto", "aggressive")
        for seed in SEEDS
        for _, graphs in [stages(maker, seed, policy)]
    )
    assert changed


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_passes_that_report_leave_the_graph_and_do_report(name: str) -> None:
    run = dict(PASSES)[name]
    reported = 0
    for seed in SEEDS:
        _, graphs = stages("reshapes", seed, "auto")
        notes = context()
        assert run(graphs[-1], notes) is graphs[-1]
        reported += bool(notes.report.refused)
    assert reported


@pytest.mark.parametrize("maker", MAKERS)
def test_passes_return_the_same_object_when_there_is_nothing_left_to_do(maker: str) -> None:
    for seed in range(150, 200):
        graph = MAKERS[maker](seed).graph
        for _ in range(2):
            for _, run in PASSES:
                graph = run(graph, context())
        for name, run in PASSES:
            assert run(graph, context()) is graph, f"{name}, seed {seed}"


def test_a_graph_without_ops_goes_through_as_it_is() -> None:
    graph = parse_graph("graph @empty\n{\n  return\n}\n")
    for name, run in PASSES:
        assert run(graph, context()) is graph, name
