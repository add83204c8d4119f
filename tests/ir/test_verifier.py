"""One failing graph per rule, beside the message it gets."""

import numpy as np
import pytest

from fusejit.dataclass import replace
from fusejit.errors import VerificationError
from fusejit.ir.graph import Graph, HostSymbol
from fusejit.ir.host import HostExpr
from fusejit.ir.payload import Instr
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.verifier.verify import RULES, complaints, verify
from fusejit_testing.graphs.random_graphs import random_graph
from fusejit_testing.programs.programs import PROGRAMS

HEADER = """\
graph @f
  symbol s0 = size(arg:x, 0)
  symbol s1 = size(arg:m, 0)
  buffer @x : s0 x f64 = arg:x class 0
  buffer @m : s1 x s0 x f64 = arg:m class 1 readonly
  scalar %k : f64 python = arg:k
  scalar %p : i1 scalar = arg:p
"""
# Body (after %x and %m were loaded) -> the complaint: rule, then what is wrong.
BODIES = [
    (
        "if %p { %a = constant 1.0 : f64 } else { } %b = view %a [() -> ()] : f64",
        "operands are defined before use: %a is not visible here",
    ),
    (
        "%r = if %p { %a = constant 1.0 : f64 yield %a } else { yield %a } : f64",
        "operands are defined before use: %a is not visible here",
    ),
    (
        "%a = view %x [(d0) -> (d0 + i0)] : 1 x f64",
        "symbols are defined: the symbol i0 is not visible here",
    ),
    (
        "%a = for i0 = 0 to 3 step 1 carry (%b = %x : i0 x f64) { yield %b } : s0 x f64",
        "symbols are defined: the symbol i0 is not visible here",
    ),
    (
        "%a = constant 1.0 : f64 bind i0 = %a",
        "symbols are bound to integers: i0 is bound to f64",
    ),
    (
        "%a = constant 1 : i64 bind s0 = %a",
        "induction variables are new: s0 is a symbol already",
    ),
    (
        "for s1 = 0 to s0 step 1 { }",
        "induction variables are new: s1 is a symbol already",
    ),
    (
        "if %p { alloc @t : f64 class 2 } else { } store @t v1 = %k",
        "buffers exist before use: @t is neither an argument's buffer nor allocated here",
    ),
    (
        "store @x v2 = %x",
        "versions count the stores: version 2 should be 1",
    ),
    (
        "store @x v1 = %x %a = load @x v0 : s0 x f64",
        "versions count the stores: version 0 should be 1",
    ),
    (
        "for i0 = 0 to 2 step 1 { store @x v1 = %x }",
        "versions count the stores: version 1 should be 2",
    ),
    (
        "%a, %b = view %x [(d0) -> (d0)] : s0 x f64, s0 x f64",
        "ops have the results of their kind: 2 results instead of 1",
    ),
    (
        "%a = view %m [(d0) -> (d0, 0)] : s1 x f64 python",
        "values are well formed: %a is a python of rank 1",
    ),
    (
        "%a = view %m [(d0, d1) -> (d0, d1)] : s1 x s0 x f64 order(0, 0)",
        "values are well formed: the order (0, 0) of %a is not a permutation of its axes",
    ),
    (
        "%a = constant 1.0 : 3 x f64",
        "constants are numbers of their type: a constant of rank 1",
    ),
    (
        "%a = view %m [(d0) -> (d0)] : s1 x f64",
        "views fit their source: (d0) -> (d0) gives 1 indices to rank 2",
    ),
    (
        "%a = view %x [(d0, d1) -> (d1)] : s0 x f64",
        "views fit their source: (d0, d1) -> (d1) takes 2 dims for a result of rank 1",
    ),
    (
        "%a = view %x [(d0) -> (d1)] : s0 x f64",
        "views fit their source: (d0) -> (d1) uses a dim that it does not take",
    ),
    (
        "%a = view %x [(d0) -> (d0)] : s0 x f32",
        "views fit their source: a view of float64 cannot be float32",
    ),
    (
        "%a = load @x v0 : s0 x f32",
        "views fit their source: the view is s0 x f64, the result s0 x f32",
    ),
    (
        "%a = load @x v0 : s1 x f64",
        "views fit their source: the view is s0 x f64, the result s1 x f64",
    ),
    (
        "%a = reshape %m collapse [[0], [1]] : s1 x f64",
        "reshapes split or merge neighbouring axes: collapse [[0], [1]] does not take rank 2 to",
    ),
    (
        "%a = reshape %m collapse [[1, 0]] : 6 x f64",
        "reshapes split or merge neighbouring axes: collapse [[1, 0]] does not list the axes in",
    ),
    (
        "%a = reshape %m expand [[0], [1, 2]] : (s1 + 1) x 2 x 3 x f64",
        "reshapes split or merge neighbouring axes: axis 0 stays and yet changes its extent",
    ),
    (
        "%a = view %x [(d0) -> (d0)] : 6 x f64 %b = reshape %a expand [[0, 1]] : 2 x 2 x f64",
        "reshapes split or merge neighbouring axes: axis 0 of extent 6 is not the product of [2, 2",
    ),
    (
        "%a = reshape %m collapse [[0, 1]] : 6 x f32",
        "reshapes split or merge neighbouring axes: a reshape of float64 cannot be float32",
    ),
    (
        "alias @t : 6 x f64 of @m collapse [[0, 1]] class 2",
        "reshapes split or merge neighbouring axes: @t is not in the class of @m",
    ),
    (
        "alloc @t : 6 x f64 class 2 alias @m2 : 6 x f64 of @m collapse [[0, 1]] class 1 "
        "store @m2 v1 = %k",
        "stores fit their view: the value's type f64 is not 6 x f64, the view's",
    ),
    (
        "store @m v1 = %m",
        "stores fit their view: @m is readonly",
    ),
    (
        "store @x v1 = %k",
        "stores fit their view: the value's type f64 is not s0 x f64, the view's",
    ),
    (
        "store @x v1 [(d0) -> (d0)] (s0 - 1) = %x",
        "stores fit their view: the value's type s0 x f64 is not (s0 - 1) x f64, the view's",
    ),
    (
        "store @x v1 = %x mask %x",
        "stores fit their view: the mask's type s0 x f64 is not s0 x i1",
    ),
    (
        '%i = generic "i" domain (3) ins () outs (write) { t0 = index (d0) : i64; yield t0 } '
        ": 3 x i64 scatter @x v1 at (%i) = %k",
        "scatters reach elements of their view: () -> () does not take the value's dims to %i",
    ),
    (
        "scatter @x v1 at (%x) = %x",
        "scatters reach elements of their view: %x of float64 is not a subscript",
    ),
    (
        "scatter @x v1 at ((d1)) = %x",
        "scatters reach elements of their view: (d1) uses a dim that the value does not have",
    ),
    (
        "scatter @x v1 at ((d0), (0)) = %x",
        "scatters reach elements of their view: 2 subscripts for 1 axes",
    ),
    (
        "scatter negative @x v1 at ((d0)) = %x",
        "scatters reach elements of their view: 'negative' is not a binary scalar op",
    ),
    (
        "scatter @x v1 at ((0)) = %p",
        "scatters reach elements of their view: bool is scattered into float64",
    ),
    (
        'assert %k "an index is out of bounds"',
        "assertions take one bool: the condition is f64 instead of i1",
    ),
    (
        "alloc @t : s0 x f64 order(1) class 2",
        "allocations are well formed: the order (1,) of @t is not a permutation of its axes",
    ),
    (
        "alloc @t : s0 x f64 class 2 readonly",
        "allocations are well formed: @t is readonly, so nothing can be in it",
    ),
    (
        "%a = for i0 = 0 to 3 step 1 carry (%b = %x : s0 x f64) { yield %k } : s0 x f64",
        "loops carry one type: yield %k: f64 is not s0 x f64, the type of argument %b",
    ),
    (
        "%a = for i0 = 0 to 3 step 1 carry (%b = %x : s0 x f64) { } : s0 x f64",
        "loops carry one type: 0 yields for 1 arguments",
    ),
    (
        "for i0 = 0 to 3 step 1 tiles (i1 max 4 of s0) { }",
        "tiles have lengths: i1 is not bound in the body",
    ),
    (
        """for i0 = 0 to 3 step 1 tiles (i1 max 4 of s0) {
          %n = generic "length" domain () ins () outs (write)
            { t0 = index (i0) : i64; yield t0 } : i64 python
          bind i1 = %n
          %a = generic "full" domain (s0 - i1) ins () outs (write)
            { t0 = const 0.0 : f64; yield t0 } : s0 - i1 x f64
        }""",
        "tiles have lengths: %a is largest in the shortest tile",
    ),
    (
        "for i0 = 0 to 3 step 0 { }",
        "loops are counted or conditional: the step is 0",
    ),
    (
        "while { yield %k } do { }",
        "loops are counted or conditional: the condition yields f64 instead of i1",
    ),
    (
        "if %k { } else { }",
        "conditionals choose between equal types: the predicate is f64 instead of i1",
    ),
    (
        "%a = if %p { yield %x } else { yield %k } : s0 x f64",
        "conditionals choose between equal types: yield %k: f64 is not s0 x f64, the type of "
        "result %a",
    ),
    (
        '%a = generic "f" domain (s0) iterators () ins (%x) outs (write) { yield in0 } : s0 x f64',
        "iterators match the domain: 0 iterators for 1 dims",
    ),
    (
        '%a = generic "f" domain (s0) ins (%m) outs (write) { yield in0 } : s0 x f64',
        "maps match domain and operand: (d0) -> (d0) gives 1 indices to %m of rank 2",
    ),
    (
        '%a = generic "f" domain (s0) ins (%m [(d0, d1) -> (d0, d1)]) outs (write) '
        "{ yield in0 } : s0 x f64",
        "maps match domain and operand: (d0, d1) -> (d0, d1) of %m takes 2 dims of 1",
    ),
    (
        '%a = generic "f" domain (s0 + 1) ins (%x) outs (write) { yield in0 } : (s0 + 1) x f64',
        "operand extents can hold the domain: d0 of s0 + 1 leaves axis 0 of %x",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = negative t1 : f64; t1 = negative in0 : f64; yield t0 } : s0 x f64",
        "payload refs stand after their definition: t0 uses something that is not defined",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) { yield t0 } : s0 x f64',
        "payload refs stand after their definition: something that is not defined is yielded",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = add in0 : f64; yield t0 } : s0 x f64",
        "payload ops take the dtypes of their row: t0: add takes 2 operands",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = less in0, in0 : f64; yield t0 } : s0 x f64",
        "payload ops take the dtypes of their row: t0: less is (float64, float64) -> bool, not "
        "(float64, float64) -> float64",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = index (d0) : i64; t1 = add in0, t0 : f64; yield t1 } : s0 x f64",
        "payload ops take the dtypes of their row: t1: add is (float64, float64) -> float64, not "
        "(float64, int64) -> float64",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = bitwise_and in0, in0 : f64; yield t0 } : s0 x f64",
        "payload ops take the dtypes of their row: t0: NumPy has no bitwise_and of",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = select in0, in0, in0 : f64; yield t0 } : s0 x f64",
        "payload ops take the dtypes of their row: t0: select is (bool, float64, float64)",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = logical_not in0 : i1; yield t0 } : s0 x i1",
        "payload ops take the dtypes of their row: t0: logical_not of (float64) is not compiled",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = index (d1) : i64; yield t0 } : s0 x i64",
        "payload ops take the dtypes of their row: t0: index (d1) uses a dim that the domain",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) '
        "{ t0 = extract in0[in0] : f64; yield t0 } : s0 x f64",
        "payload ops take the dtypes of their row: t0: extract takes 1 integers",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) { yield in0 } : s0 x f32',
        "payload yields the results: float64 is yielded for %a of float32",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) { yield in0, in0 } : s0 x f64',
        "payload yields the results: 2 numbers for 1 results",
    ),
    (
        '%a = generic "f" domain (s0) iterators (reduction) ins (%x) outs (and [(d0) -> ()]) '
        "{ yield in0 } : f64",
        "payload yields the results: and combines bools, not float64",
    ),
    (
        '%a = generic "f" domain (s0) iterators (reduction) ins (%x) '
        "outs (bitwise_and [(d0) -> ()]) { yield in0 } : f64",
        "payload yields the results: bitwise_and combines integers, not float64",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) { yield in0 } : s1 x f64',
        "result types match their maps: axis 0 of %a is s1, d0 has s0",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write from %k) { yield in0 } : s0 x f64',
        "result types match their maps: the start's type f64 is not s0 x f64, the result's",
    ),
    (
        '%a = generic "f" domain (s0) iterators (reduction) ins (%x) outs (add) '
        "{ yield in0 } : s0 x f64",
        "combiners reduce the missing dims: reduction dim d0 occurs in the map (d0) -> (d0)",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (add [(d0) -> ()]) { yield in0 } : f64',
        "combiners reduce the missing dims: parallel dim d0 is missing in the map (d0) -> ()",
    ),
    (
        '%a = generic "f" domain (s0) iterators (reduction) ins (%x) outs (write [(d0) -> ()]) '
        "{ yield in0 } : f64",
        "plain writes reach every element once: d0 is missing in (d0) -> ()",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write [(d0) -> (2 * d0)]) '
        "{ yield in0 } : 2 * s0 x f64",
        "plain writes reach every element once: (d0) -> (2 * d0) leaves out elements of %a",
    ),
    (
        '%z = constant 0.0 : f64 %a = generic "f" domain (s0) iterators (reduction) ins (%x) '
        'outs (add [(d0) -> ()] from %z) library_call "dot" { yield in0 } : f64',
        "routines start from nothing: the routine dot starts from %z",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) { yield out0 } : s0 x f64',
        "payload reads only started results: out0 is read but starts from nothing",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (add from %x) { yield out0 } : s0 x f64',
        "payload reads only started results: out0 is read while add combines it",
    ),
    (
        '%a = generic "f" domain (s0) ins (%x) outs (write) registers (_, 8 vector) '
        "{ yield in0 } : s0 x f64",
        "register tiles match the domain: 2 sizes of registers for 1 dims",
    ),
    (
        '%z = constant 0.0 : f64 %a = generic "f" domain (s0) iterators (reduction) ins (%x) '
        "outs (add [(d0) -> ()] from %z) registers (8 vector) { yield in0 } : f64",
        "register tiles match the domain: 8 points of a dim that is reduction in registers",
    ),
]


def graph_of(body, header=HEADER, results=""):
    loads = "%x = load @x v0 : s0 x f64\n%m = load @m v0 : s1 x s0 x f64"
    return parse_graph(f"{header}{{\n{loads}\n{body}\nreturn {results}\n}}")


@pytest.mark.parametrize(("body", "message"), BODIES)
def test_an_op_that_breaks_a_rule(body, message):
    with pytest.raises(VerificationError) as caught:
        verify(graph_of(body))
    assert str(caught.value).startswith(message)
    assert "\n  in op: " in str(caught.value)


def test_the_frame_of_these_bodies_is_right():
    verify(graph_of("", results="%x, @m [(d0) -> (d0, (s0) floordiv 2)] (s1)"))


GRAPHS = [
    (HEADER.replace("s1 = ", "x = "), "symbols have readable names: 'x' cannot be the name"),
    (HEADER.replace("s1 = ", "k = "), "names of host numbers are unique: k is defined 2 times"),
    (
        HEADER.replace("arg:k", "neg(arg_k)"),
        "host expressions can be computed: neg(arg_k) uses arg_k, which is neither a symbol nor",
    ),
    (HEADER.replace("arg:k", "neg(k)"), "host expressions can be computed: k needs itself"),
    (
        HEADER.replace("@m : s1", "@m : s7"),
        "buffers and scalars are well formed: the symbol s7 in the extents of @m is not defined",
    ),
    (
        HEADER.replace("%k : f64 python", "%k : 3 x f64"),
        "buffers and scalars are well formed: %k is not a scalar",
    ),
]


@pytest.mark.parametrize(("header", "message"), GRAPHS)
def test_a_header_that_breaks_a_rule(header, message):
    assert any(c.startswith(message) for c in complaints(graph_of("", header)))


RESULTS = [
    ("", "@m [(d0) -> (d0)] (s1)", "views that are returned are strided: (d0) -> (d0) gives 1"),
    (
        "",
        "@x [(d0) -> ((d0) floordiv 2)] (s0)",
        "views that are returned are strided: no strides express (d0) -> ((d0) floordiv 2)",
    ),
    (
        "if %p { %a = constant 1.0 : f64 } else { }",
        "%a",
        "results are defined where they are returned: %a is not visible at the end",
    ),
    (
        "if %p { alloc @t : f64 class 2 } else { }",
        "@t",
        "results are defined where they are returned: @t does not exist at the end",
    ),
    (
        "",
        "@x [(d0) -> (d0)] (s9)",
        "results are defined where they are returned: the symbol s9 is not visible at the end",
    ),
]


@pytest.mark.parametrize(("body", "results", "message"), RESULTS)
def test_results_that_break_a_rule(body, results, message):
    with pytest.raises(VerificationError) as caught:
        verify(graph_of(body, results=results))
    assert str(caught.value).startswith(message)


# -------------------------------------------------------- what the text of a graph cannot express
def test_a_value_that_is_used_above_its_definition():
    graph = graph_of("%a = view %x [(d0) -> (d0)] : s0 x f64")
    graph.block.ops.reverse()
    with pytest.raises(VerificationError, match="operands are defined before use: %x is not"):
        verify(graph)


def test_an_op_that_stands_in_the_block_twice():
    graph = graph_of("")
    graph.block.ops.append(graph.block.ops[0])
    with pytest.raises(VerificationError, match="values are defined once: %x is defined a second"):
        verify(graph)


def test_the_blocks_of_a_conditional_loop_share_their_arguments():
    graph = parse_graph(PROGRAMS["doubling"].text)
    (loop,) = (op for op in graph.block.ops if op.blocks)
    loop.condition.arguments = loop.condition.arguments[:1]
    found = list(complaints(graph))
    assert any("the condition does not have the body's arguments" in c for c in found)


def test_a_payload_of_other_dtypes_than_the_operands():
    graph = parse_graph(PROGRAMS["softmax"].text)
    op = graph.block.ops[1]
    op.payload = replace(op.payload, arguments=(np.dtype(np.float32), np.dtype(np.float64)))
    rule = "payload arguments match the operands: (float32, float64) are not the operands' (float"
    assert next(complaints(graph)).startswith(rule)


def test_a_constant_that_its_type_rounds():
    graph = graph_of(
        '%a = generic "f" domain () ins () outs (write) '
        "{ t0 = const 0.5 : f32; yield t0 } : f32 %b = constant 0.5 : f32"
    )
    verify(graph)
    generic, constant = graph.block.ops[2:]
    constant.number = 0.1
    generic.payload = replace(
        generic.payload, instrs=(Instr("const", (), np.dtype(np.float32), 0.1),)
    )
    rules = [c.split(":")[0] for c in complaints(graph)]
    assert rules == [
        "payload ops take the dtypes of their row",
        "constants are numbers of their type",
    ]


def test_an_unknown_host_op():
    graph = Graph("f", [HostSymbol("s0", HostExpr("frob", (HostExpr.const(1),)))])
    with pytest.raises(VerificationError, match="unknown host op 'frob'"):
        verify(graph)


def test_a_loop_without_bounds():
    graph = graph_of("for i0 = 0 to 3 step 1 { }")
    graph.block.ops[-1].upper = None
    with pytest.raises(VerificationError, match="a counted loop needs an induction variable"):
        verify(graph)


# ------------------------------------------------------------------------------- all rules, no rule
def test_every_rule_has_a_failing_graph():
    messages = [m for _, m in BODIES] + [m for _, m in GRAPHS] + [m for _, _, m in RESULTS]
    shown = {m.split(":")[0] for m in messages}
    shown |= {"values are defined once", "payload arguments match the operands"}
    assert {rule.__name__.replace("_", " ") for rule in RULES} == shown


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_shared_programs_break_no_rule(name):
    assert list(complaints(parse_graph(PROGRAMS[name].text))) == []


@pytest.mark.parametrize("seed", range(100))
def test_random_graphs_break_no_rule(seed):
    assert list(complaints(random_graph(seed).graph)) == []
