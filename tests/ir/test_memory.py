"""Versions: how the stores before an op are counted."""

from fusejit.ir.memory_versions import renumber_versions, versions
from fusejit.ir.ops import Load, Store, walk
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit_testing.programs.programs import PROGRAMS

NESTED = """\
graph @f
  symbol s0 = size(arg:x, 0)
  buffer @x : s0 x f64 = arg:x class 0
  buffer @y : s0 x f64 = arg:y class 1
  buffer @z : s0 x f64 = arg:z class 0
  scalar %p : i1 python = arg:p
{
  %0 = load @x v0 : s0 x f64
  store @y v1 = %0
  for i0 = 0 to s0 step 1 {
    %1 = load @x v1 : s0 x f64
    %2 = load @y v1 : s0 x f64
    for i1 = 0 to s0 step 1 {
      %3 = load @z v2 : s0 x f64
      store @x v3 = %3
    }
    %4 = load @z v4 : s0 x f64
  }
  if %p {
    %5 = load @x v5 : s0 x f64
  } else {
    %6 = load @x v5 : s0 x f64
  }
  if %p {
    store @z v7 = %0
  } else {
    %7 = load @x v8 : s0 x f64
  }
  %8 = load @x v9 : s0 x f64
  %9 = load @y v1 : s0 x f64
  return
}"""


def test_stores_and_the_edges_of_blocks_that_store_are_counted():
    graph = parse_graph(NESTED)
    expected = {op: op.version for op in walk(graph.block) if isinstance(op, Load | Store)}
    assert versions(graph.block) == expected


def test_renumbering_after_a_store_was_taken_out():
    graph = parse_graph(PROGRAMS["masked_store"].text)
    graph.block.ops = [op for op in graph.block.ops if not isinstance(op, Store)]
    renumber_versions(graph.block)
    assert [op.version for op in graph.block.ops if isinstance(op, Load)] == [0, 0]


def test_renumbering_a_right_graph_changes_nothing():
    for program in PROGRAMS.values():
        graph = parse_graph(program.text)
        renumber_versions(graph.block)
        assert print_graph(graph) + "\n" == program.text
