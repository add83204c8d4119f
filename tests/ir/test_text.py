"""Printed IR is read back as it was, and what is not IR is refused where it goes wrong."""

import numpy as np
import pytest
from hypothesis import given, settings

from fusejit.errors import ParseError
from fusejit.ir.graph import Graph, Guard, HostSymbol
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.interpreter.interpret import interpret
from fusejit.ir.ops import ConstantOp
from fusejit.ir.source import Location
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph, print_op
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Value
from fusejit_testing.compare import assert_same_results
from fusejit_testing.programs.programs import PROGRAMS
from fusejit_testing.strategies import random_programs

F64 = TensorType(np.dtype(np.float64))


@settings(max_examples=150, deadline=None)
@given(random_programs())
def test_a_random_graph_is_read_back_as_it_was(program):
    text = print_graph(program.graph)
    again = parse_graph(text)
    assert print_graph(again) == text
    assert_same_results(
        interpret(again, program.fresh_paths()), interpret(program.graph, program.fresh_paths())
    )


def test_printing_is_deterministic_and_changes_nothing():
    graph = parse_graph(PROGRAMS["triangle"].text)
    assert print_graph(graph) == print_graph(graph)


def test_values_are_named_uniquely():
    graph = Graph("f")
    for name in ("x", "x", "x_1", "", "7", "a b"):
        value = Value(name, F64, Kind.SCALAR)
        graph.block.ops.append(ConstantOp(number=1.0, results=(value,)))
    lines = print_graph(graph).splitlines()
    names = [line.split()[0] for line in lines if "constant" in line]
    assert names == ["%x", "%x_1", "%x_1_1", "%0", "%1", "%a_b"]


HEADER = """\
graph @"f.<locals>.<lambda>"
  symbol n0 = size(arg:cfg['a b'][3].x['k'], 1)
  symbol n1 = max(int(truediv(n0, 2)), -3)
  guard lt(closure:w, 1e-05) is false "w is \\"small\\"" loc "a b.py":3 in "f" from "g.py":9
  guard eq(global:np.float_info.max, -inf) is true
  guard and(truth(const:c0), ne(None, 'it')) is true
  buffer @a : n0 x (n1 - 1) x 2 * n0 x (n0) floordiv 2 x i1 = arg:a order(3, 0, 1, 2) layout unit class 0 readonly
  buffer @b : f32 = self_buffer layout strided class 1
  scalar %c : f64 python = arg:c
  scalar %self_buffer : i64 scalar = neg(c)
{
  %i8 = load @b v0 : f32 loc "f.py":12
  alloc @t : n0 x u8 class 2 order_is_none
  return
}"""  # noqa: E501


def test_all_of_a_header_is_read_back_as_it_was():
    text = HEADER.replace(" order_is_none", "")
    assert print_graph(parse_graph(text), locations=True) == text


def test_locations_are_left_out_unless_asked_for():
    graph = parse_graph(HEADER.replace(" order_is_none", ""))
    assert "loc" not in print_graph(graph).replace("locals", "").replace("alloc", "")
    assert graph.guards[0].location == Location("a b.py", 3, "f", Location("g.py", 9))
    assert graph.block.ops[0].location == Location("f.py", 12)


@pytest.mark.parametrize("number", [0, -7, 2.5, -0.0, float("inf"), float("nan"), True, 1e300])
def test_numbers_of_the_launcher_are_read_back_as_they_were(number):
    graph = Graph("f", [HostSymbol("s0", HostExpr.const(number))])
    (symbol,) = parse_graph(print_graph(graph)).symbols
    assert repr(symbol.expr.attr) == repr(number)


def test_a_path_is_read_back_as_it_was():
    path = Path("global", "cfg").item("lr").attribute("value").item(-1).item(("a", 2))
    graph = Graph("f", guards=[Guard(HostExpr("truth", (HostExpr.path(path),)), True)])
    (guard,) = parse_graph(print_graph(graph)).guards
    assert guard.expr.operands[0].attr == path


def test_an_op_is_printed_by_itself_with_the_hints_of_its_values():
    graph = parse_graph(PROGRAMS["shift"].text)
    load, store = graph.block.ops
    assert print_op(load) == "%0 = load @x v0 [(d0) -> (d0)] : (s0 - 1) x f64"
    assert print_op(store) == "store @x v1 [(d0) -> (d0 + 1)] (s0 - 1) = %0"


def test_extents_may_have_the_name_of_an_element_type():
    text = """\
graph @f
{
  for i8 = 0 to 3 step 1 {
    alloc @t : i8 x 2 x i8 class 0
  }
  return
}"""
    graph = parse_graph(text)
    assert graph.block.ops[0].body.ops[0].buffer.type.rank == 2
    assert print_graph(graph) == text


PLAIN = """\
graph @f
  buffer @x : 3 x f64 = arg:x class 0
{
  %a = load @x v0 : 3 x f64
  LINE
  return %a
}"""

BAD_LINES = [
    ("%b = lod @x v0 : f64", 5, 8, "expected an op, found 'lod'"),
    ("%b = load @y v0 : f64", 5, 13, "@y is not defined above"),
    ("%b = view %c [(d0) -> (d0)] : f64", 5, 13, "%c is not defined above"),
    ("%a = constant 1.0 : f64", 5, 3, "%a is defined already"),
    ("%b = load @x w0 : f64", 5, 16, "expected a version such as v0, found 'w0'"),
    ("%b = load @x v0 : 3 x f65", 5, 25, "expected an element type such as f64, found 'f65'"),
    ("%b = view %a [(d1) -> (d1)] : 3 x f64", 5, 16, "the dims of an indexing map"),
    ("%b = constant 300 : u8", 5, 17, "300 is not a number of dtype uint8"),
    ("%b = constant one : f64", 5, 17, "expected a number, found 'one'"),
    ("store @x v1 = mask %a", 5, 17, "expected a value, found 'mask'"),
    ("%b = load @x v0", 6, 3, "expected ':', found 'return'"),
    ("for i0 = 0 to 3 { }", 5, 19, "expected 'step', found '{'"),
    ("yield %a", 5, 3, "expected an op, found 'yield'"),
    ("return %a ! x", 5, 13, "unexpected character '!'"),
]


def test_the_frame_of_the_bad_lines_is_good():
    assert len(parse_graph(PLAIN.replace("  LINE\n", "")).block.ops) == 1


@pytest.mark.parametrize(("line", "row", "column", "message"), BAD_LINES)
def test_errors_say_where_and_what_was_expected(line, row, column, message):
    with pytest.raises(ParseError) as caught:
        parse_graph(PLAIN.replace("LINE", line))
    where, _, what = str(caught.value).partition(": ")
    assert where == f"line {row}, column {column}"
    assert message in what


GENERIC = '%b = generic "f" domain (3) ins (%a) outs (write) { PAYLOAD } : 3 x f64'
BAD_PAYLOADS = [
    ("t0 = ad in0, in0 : f64; yield t0", "expected a scalar op, found 'ad'"),
    ("t1 = add in0, in0 : f64; yield t1", "expected 't0', found 't1'"),
    ("t0 = add in1, in0 : f64; yield t0", "expected one of 1 in<k>, found 'in1'"),
    ("t0 = add in0, in0 : f6; yield t0", "found 'f6'"),
    ("t0 = index (d0 * d0) : i64; yield t0", "product of two unknowns"),
    ("t0 = extract out0[in0] : f64; yield t0", "expected an input, found 'out0'"),
    ("t0 = const x : f64; yield t0", "expected a number, found 'x'"),
    ("yield in0, ; ", "expected in<k>, out<k> or t<k>, found ';'"),
]


@pytest.mark.parametrize(("payload", "message"), BAD_PAYLOADS)
def test_errors_in_payloads(payload, message):
    with pytest.raises(ParseError, match=r"line 5, column \d+: ") as caught:
        parse_graph(PLAIN.replace("LINE", GENERIC.replace("PAYLOAD", payload)))
    assert message in str(caught.value)


@pytest.mark.parametrize("end", [10, 30, 60, 72])
def test_a_text_that_ends_too_early(end):
    with pytest.raises(ParseError, match=r"found the end of the text|unexpected character"):
        parse_graph(PLAIN.replace("  LINE\n", "")[:end])
