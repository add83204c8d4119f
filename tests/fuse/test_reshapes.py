# ruff: noqa: E501
"""Reshapes move past ops by splitting and merging dims; refusals by name; what compiles to one op."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.explain.remedies import REMEDIES
from fusejit.fuse.canonical.cancelled_reshapes import cancel_reshapes
from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.fuse.folding.driver import fold_producers
from fusejit.fuse.reshaping import move_reshapes, regroup
from fusejit.fuse.reshaping.move_reshapes import (
    _Session,
    move_reshapes_down,
    move_reshapes_up,
    note_reshapes,
)
from fusejit.fuse.reshaping.regroup import DimGroup, Refused, Regrouping, dim_groups
from fusejit.fuse.reshaping.unroll import unroll_small_reductions
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.ir.execution_plan import FusionReport
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import parse_indexing_map
from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.ops import GenericOp, ReshapeOp
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.ir.values import Value
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import assert_same_results

HEADER = """\
graph @test
  symbol s0 = size(arg:m, 0)
  symbol s1 = size(arg:m, 1)
  symbol s2 = mul(s0, s1)
  symbol s3 = size(arg:b, 1)
  symbol s4 = mul(s1, s3)
  buffer @m : s0 x s1 x f64 = arg:m class 0
  buffer @f : s2 x f64 = arg:f class 1
  buffer @z : s1 x f64 = arg:z class 2
  buffer @b : s1 x s3 x f64 = arg:b class 3
  buffer @g : s1 x s0 x f64 = arg:g order(1, 0) class 4
  buffer @u : s0 x s1 x f64 = arg:u layout strided class 5
  buffer @l : (s0 + 1) x s1 x f64 = arg:l class 6
"""
LOADS = """\
%m = load @m v0 : s0 x s1 x f64
%f = load @f v0 : s2 x f64
%z = load @z v0 : s1 x f64
%g = load @g v0 : s1 x s0 x f64 order(1, 0)
%u = load @u v0 : s0 x s1 x f64
%l = load @l v0 : (s0 + 1) x s1 x f64
"""
RNG = np.random.default_rng(3)


def graph_of(body: str) -> Graph:
    return parse_graph(f"{HEADER}{{\n{LOADS}{textwrap.dedent(body)}\n}}\n")


def body_of(graph: Graph) -> str:
    """The ops after the loads, without those of arguments that are not read."""
    lines = print_graph(graph).splitlines()
    kept = [line.strip() for line in lines[lines.index("{") + 1 : -1]]
    return "\n".join(line for line in kept if " = load " not in line)


def run(graph: Graph) -> list:
    rng = np.random.default_rng(1)
    shapes = {
        "m": (3, 4),
        "f": (12,),
        "z": (4,),
        "b": (4, 5),
        "g": (4, 3),
        "u": (3, 4),
        "l": (4, 4),
    }
    arguments = {k: rng.normal(size=s) for k, s in shapes.items()}
    arguments["g"] = np.asfortranarray(arguments["g"])
    return interpret(graph, argument_paths(arguments))


def becomes(apply, before: str, after: str) -> None:
    graph = graph_of(before)
    verify(graph)
    text = print_graph(graph)
    result = apply(graph)
    verify(result)
    assert body_of(result) == body_of(graph_of(after))
    assert print_graph(graph) == text
    assert parse_print(result) == print_graph(result)
    if text == print_graph(result):
        assert result is graph
    assert apply(result) is result
    assert_same_results(run(result), run(graph))


def parse_print(graph: Graph) -> str:
    return print_graph(parse_graph(print_graph(graph)))


def add(result: str, domain: str, ins: str, type_: str, outs: str = "write") -> str:
    """``%result = in0 + in1``."""
    return f'%{result} = generic "add" domain ({domain}) ins ({ins}) outs ({outs}) {{ t0 = add in0, in1 : f64; yield t0 }} : {type_} x f64'


def exp(result: str, domain: str, ins: str, type_: str, outs: str = "write") -> str:
    """``%result = exp(in0)``."""
    return f'%{result} = generic "exp" domain ({domain}) ins ({ins}) outs ({outs}) {{ t0 = exp in0 : f64; yield t0 }} : {type_} x f64'


# ------------------------------------------------------------------------------------------- up
def test_by_collapsing():
    becomes(
        move_reshapes_up,
        f"""
        {exp("t", "s0, s1", "%m", "s0 x s1")}
        %c = reshape %t collapse [[0, 1]] : s2 x f64
        {add("r", "s2", "%c, %f", "s2")}
        return %r
        """,
        f"""
        %m_r = reshape %m collapse [[0, 1]] : s2 x f64
        {exp("c", "s2", "%m_r", "s2")}
        {add("r", "s2", "%c, %f", "s2")}
        return %r
        """,
    )


def test_by_expansion():
    becomes(
        move_reshapes_up,
        f"""
        {exp("t", "s2", "%f", "s2")}
        %e = reshape %t expand [[0, 1]] : s0 x s1 x f64
        {add("r", "s0, s1", "%e, %z [(d0, d1) -> (d1)]", "s0 x s1")}
        return %r
        """,
        f"""
        %f_r = reshape %f expand [[0, 1]] : s0 x s1 x f64
        {exp("e", "s0, s1", "%f_r", "s0 x s1")}
        {add("r", "s0, s1", "%e, %z [(d0, d1) -> (d1)]", "s0 x s1")}
        return %r
        """,
    )


def test_by_expansion_of_an_op_with_permuted_maps():
    becomes(
        move_reshapes_up,
        f"""
        %t = generic "add" domain (s0, s2) ins (%f [(d0, d1) -> (d1)], %m [(d0, d1) -> (d0, 0)]) outs (write [(d0, d1) -> (d1, d0)]) {{ t0 = add in0, in1 : f64; yield t0 }} : s2 x s0 x f64
        %e = reshape %t expand [[0, 1], [2]] : s0 x s1 x s0 x f64
        {exp("r", "s0, s1, s0", "%e", "s0 x s1 x s0")}
        return %r
        """,
        f"""
        %f_r = reshape %f expand [[0, 1]] : s0 x s1 x f64
        %e = generic "add" domain (s0, s0, s1) ins (%f_r [(d0, d1, d2) -> (d1, d2)], %m [(d0, d1, d2) -> (d0, 0)]) outs (write [(d0, d1, d2) -> (d1, d2, d0)]) {{ t0 = add in0, in1 : f64; yield t0 }} : s0 x s1 x s0 x f64
        {exp("r", "s0, s1, s0", "%e", "s0 x s1 x s0")}
        return %r
        """,
    )


def test_other_results_are_reshaped_back():
    becomes(
        move_reshapes_up,
        """
        %t, %k = generic "two" domain (s0, s1) ins (%m) outs (write, write) { t0 = exp in0 : f64; t1 = sqrt in0 : f64; yield t0, t1 } : s0 x s1 x f64, s0 x s1 x f64
        %c = reshape %t collapse [[0, 1]] : s2 x f64
        %r = generic "exp" domain (s2) ins (%c) outs (write) { t0 = exp in0 : f64; yield t0 } : s2 x f64
        return %r, %k
        """,
        """
        %m_r = reshape %m collapse [[0, 1]] : s2 x f64
        %c, %k_r = generic "two" domain (s2) ins (%m_r) outs (write, write) { t0 = exp in0 : f64; t1 = sqrt in0 : f64; yield t0, t1 } : s2 x f64, s2 x f64
        %k = reshape %k_r expand [[0, 1]] : s0 x s1 x f64
        %r = generic "exp" domain (s2) ins (%c) outs (write) { t0 = exp in0 : f64; yield t0 } : s2 x f64
        return %r, %k
        """,
    )


def test_index_instructions_are_remapped():
    becomes(
        move_reshapes_up,
        """
        %t = generic "iota" domain (6) ins () outs (write) { t0 = index (d0) : i64; yield t0 } : 6 x i64
        %e = reshape %t expand [[0, 1]] : 2 x 3 x i64
        %r = generic "neg" domain (2, 3) ins (%e) outs (write) { t0 = negative in0 : i64; yield t0 } : 2 x 3 x i64
        return %r
        """,
        """
        %e = generic "iota" domain (2, 3) ins () outs (write) { t0 = index (3 * d0 + d1) : i64; yield t0 } : 2 x 3 x i64
        %r = generic "neg" domain (2, 3) ins (%e) outs (write) { t0 = negative in0 : i64; yield t0 } : 2 x 3 x i64
        return %r
        """,
    )


# ------------------------------------------------------------------------------------------- down
def test_a_broadcast_makes_it_move_down():
    before = f"""
        {add("t", "s0, s1", "%m, %z [(d0, d1) -> (d1)]", "s0 x s1")}
        %c = reshape %t collapse [[0, 1]] : s2 x f64
        {add("r", "s2", "%c, %f", "s2")}
        return %r
        """
    becomes(move_reshapes_up, before, before)
    becomes(
        move_reshapes_down,
        before,
        f"""
        {add("t", "s0, s1", "%m, %z [(d0, d1) -> (d1)]", "s0 x s1")}
        %f_r = reshape %f expand [[0, 1]] : s0 x s1 x f64
        {add("r_r", "s0, s1", "%t, %f_r", "s0 x s1")}
        %r = reshape %r_r collapse [[0, 1]] : s2 x f64
        return %r
        """,
    )


def test_down_into_an_exact_reduction():
    becomes(
        move_reshapes_down,
        f"""
        {add("t", "s0, s1", "%m, %z [(d0, d1) -> (d1)]", "s0 x s1")}
        %c = reshape %t collapse [[0, 1]] : s2 x f64
        %r = generic "max" domain (s2) iterators (reduction) ins (%c) outs (max [(d0) -> ()]) {{ yield in0 }} : f64
        return %r
        """,
        f"""
        {add("t", "s0, s1", "%m, %z [(d0, d1) -> (d1)]", "s0 x s1")}
        %r = generic "max" domain (s0, s1) iterators (reduction, reduction) ins (%t) outs (max [(d0, d1) -> ()]) {{ yield in0 }} : f64
        return %r
        """,
    )


def test_reshapes_that_undo_each_other():
    becomes(
        cancel_reshapes,
        f"""
        %c = reshape %m collapse [[0, 1]] : s2 x f64
        %e = reshape %c expand [[0, 1]] : s0 x s1 x f64
        {exp("r", "s0, s1", "%e", "s0 x s1")}
        return %r
        """,
        f"""
        %c = reshape %m collapse [[0, 1]] : s2 x f64
        %e = reshape %c expand [[0, 1]] : s0 x s1 x f64
        {exp("r", "s0, s1", "%m", "s0 x s1")}
        return %r
        """,
    )


# -------------------------------------------------------------------------------------- refusals
COLLAPSE = "%c = reshape %t collapse [[0, 1]] : s2 x f64"
USE = exp("r", "s2", "%c", "s2")
REFUSALS = {
    "dims stand together": (
        add("t", "s0, s1", "%m, %z [(d0, d1) -> (d1)]", "s0 x s1"),
        "%z is read through (d0, d1) -> (d1)",
    ),
    "dims are read as they are": (
        add("t", "s0, s1", "%m, %l [(d0, d1) -> (d0 + 1, d1)]", "s0 x s1"),
        "%l is read through (d0, d1) -> (d0 + 1, d1)",
    ),
    "whole axes are read": (
        add("t", "s0, s1", "%m, %l", "s0 x s1"),
        "only part of %l is read",
    ),
    "operands are reshaped in place": (
        exp("t", "s0, s1", "%u", "s0 x s1"),
        "%u would have to be copied",
    ),
    "index sizes are known": (
        '%t = generic "n" domain (s0, s1) ins () outs (write) { t0 = index (d1) : i64; t1 = cast t0 : f64; yield t1 } : s0 x s1 x f64',
        "d1 would need the parts of a dim",
    ),
    "producer is parallel": (
        '%t = generic "max" domain (s0, s1, s1) iterators (parallel, parallel, reduction) ins (%m [(d0, d1, d2) -> (d0, d2)]) outs (max [(d0, d1, d2) -> (d0, d1)]) { yield in0 } : s0 x s1 x f64',
        "reduction producer max",
    ),
}


@pytest.mark.parametrize("rule", REFUSALS)
def test_refusals_upwards(rule):
    producer, reason = REFUSALS[rule]
    graph = graph_of(f"{producer}\n{COLLAPSE}\n{USE}\nreturn %r")
    verify(graph)
    assert move_reshapes_up(graph) is graph
    report = FusionReport()
    assert note_reshapes(graph, report) is graph
    ((refusal),) = report.refused
    assert refusal.rule == rule
    assert refusal.reason == f"a reshape stands between them: {reason}"


def test_a_value_that_is_used_twice_stays():
    graph = graph_of(f"{exp('t', 's0, s1', '%m', 's0 x s1')}\n{COLLAPSE}\n{USE}\nreturn %r, %t")
    assert move_reshapes_up(graph) is graph
    report = FusionReport()
    note_reshapes(graph, report)
    assert [r.rule for r in report.refused] == ["the value is used once"]


def test_a_size_that_is_named_behind_the_producer_stays_behind_it():
    product = (
        '%n = generic "product" domain () ins () outs (write) { t0 = index (s0) : i64; '
        "t1 = index (s1) : i64; t2 = multiply t0, t1 : i64; yield t2 } : i64 python\nbind at0 = %n"
    )
    reshaped = COLLAPSE.replace("s2", "at0")
    producer, consumer = exp("t", "s0, s1", "%m", "s0 x s1"), exp("r", "at0", "%c", "at0")
    graph = graph_of(f"{producer}\n{product}\n{reshaped}\n{consumer}\nreturn %r")
    verify(graph)
    assert move_reshapes_up(graph) is graph
    report = FusionReport()
    note_reshapes(graph, report)
    assert [r.rule for r in report.refused] == ["sizes are known"]


def test_sizes_that_are_checked_behind_the_producer_keep_the_reshape_there():
    """Before the check, the producer might read after the end of what it reads."""
    product = (
        '%n = generic "product" domain () ins () outs (write) { t0 = index (s0) : i64; '
        "t1 = index (s1) : i64; t2 = multiply t0, t1 : i64; yield t2 } : i64 python\nbind at0 = %n"
    )
    check = (
        '%c = generic "c" domain () ins (%n) outs (write) { t0 = const 3 : i64; '
        't1 = less t0, in0 : i1; yield t1 } : i1 python\nassert %c "c"'
    )
    reshaped = COLLAPSE.replace("s2", "at0")
    producer, consumer = exp("t", "s0, s1", "%m", "s0 x s1"), exp("r", "at0", "%c0", "at0")
    reshaped = reshaped.replace("%c", "%c0")
    graph = graph_of(f"{product}\n{producer}\n{check}\n{reshaped}\n{consumer}\nreturn %r")
    verify(graph)
    assert move_reshapes_up(graph) is graph
    report = FusionReport()
    note_reshapes(graph, report)
    ((refusal),) = report.refused
    assert refusal.rule == "sizes are known"
    assert refusal.reason.endswith("that they fit the reshape is checked after it")
    fixed = graph_of(f"{product}\n{check}\n{producer}\n{reshaped}\n{consumer}\nreturn %r")
    assert move_reshapes_up(fixed) is not fixed


def op_of(body: str) -> GenericOp:
    (op,) = [op for op in graph_of(body).block.ops if isinstance(op, GenericOp)]
    return op


def test_sums_keep_their_order():
    op = op_of(
        '%r = generic "sum" domain (s2) iterators (reduction) ins (%f) outs (add [(d0) -> ()]) { yield in0 } : f64 return %r'
    )
    extents = graph_of("return").buffers[0].type.extents
    with pytest.raises(Refused, match="reductions keep their order: add of sum rounds"):
        Regrouping(op, [DimGroup((0,), extents)])


def test_mixed_iterator_types():
    op = op_of(
        '%r = generic "max" domain (s0, s1) iterators (parallel, reduction) ins (%m) outs (max [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64 return %r'
    )
    (extent,) = graph_of("return").buffers[1].type.extents
    with pytest.raises(Refused, match="iterator types agree: parallel and reduction dims of max"):
        Regrouping(op, [DimGroup((0, 1), (extent,))])


def test_non_consecutive_dims():
    with pytest.raises(Refused, match="dims are read as they are"):
        dim_groups(
            Reassociation(((0, 1),), expands=False),
            parse_indexing_map("(d0) -> (d0, d0)"),
            graph_of("return").buffers[1].type.extents,
        )


def test_library_calls_and_symbolic_indices():
    call = op_of(
        '%r = generic "c" domain (s2) ins (%f) outs (write) library_call "c" { yield in0 } : s2 x f64 return %r'
    )
    index = op_of(
        '%r = generic "n" domain (s2) ins () outs (write) { t0 = index (d0) : i64; yield t0 } : s2 x i64 return %r'
    )
    extents = graph_of("return").buffers[0].type.extents
    with pytest.raises(Refused, match="neither is a library call: c is c"):
        Regrouping(call, [DimGroup((0,), extents)])
    with pytest.raises(Refused, match="index sizes are known: s1 is not known at compile time"):
        Regrouping(index, [DimGroup((0,), extents)])


def test_gathers_stay_where_they_are():
    op = op_of(
        '%r = generic "take" domain (s2) ins (%f) outs (write) { t0 = cast in0 : i64; t1 = extract in0[t0] : f64; yield t1 } : s2 x f64 return %r'
    )
    extents = graph_of("return").buffers[0].type.extents
    with pytest.raises(Refused, match="nothing is gathered: take reads at computed subscripts"):
        Regrouping(op, [DimGroup((0,), extents)])


# A producer that is returned in the reshaped form, and a consumer whose result is handed on.
DOWN = {
    "results keep their order": (
        '%r = generic "exp" domain (s2) ins (%c) outs (write) { t0 = exp in0 : f64; yield t0 } : s2 x f64 order(0)',
        "return %r",
        "%r is handed out",
    ),
    "results keep their place": (
        '%r = generic "exp" domain (s2) ins (%c) outs (write) { t0 = exp in0 : f64; yield t0 } : s2 x f64',
        "store @f v1 = %r\nreturn",
        "%r is stored",
    ),
    "both are generic ops of one block": (USE, "return %r", "a reshape of no generic op"),
}


@pytest.mark.parametrize("rule", DOWN)
def test_refusals_downwards(rule):
    consumer, end, reason = DOWN[rule]
    producer = exp("t", "s0, s1", "%m", "s0 x s1")
    reshape = COLLAPSE
    if rule.startswith("both"):
        producer, reshape = "", COLLAPSE.replace("%t", "%m")
    graph = graph_of(f"{producer}\n{reshape}\n{consumer}\n{end}")
    verify(graph)
    session = _Session(graph.block, leaving_of(graph), definitions(graph.block), frozenset())
    (op,) = [op for op in graph.block.ops if isinstance(op, ReshapeOp)]
    with pytest.raises(Refused, match=f"{rule}: {reason}"):
        (session.moved_up if rule.startswith("both") else session.moved_down)(op)


def leaving_of(graph: Graph) -> frozenset[Value]:
    return frozenset(r for r in graph.results if isinstance(r, Value))


def test_every_reason_to_refuse_is_tested_and_has_a_remedy():
    text = "".join(inspect.getsource(module) for module in (regroup, move_reshapes))
    names = set(re.findall(r'Refused\(\s*"([a-z ]+)"', text)) | set(
        re.findall(r'rule = "([a-z ]+)" if .* else "[a-z ]+"', text)
    )
    assert len(names) > 10
    tested = Path(__file__).read_text()
    assert [name for name in sorted(names) if name not in tested] == []
    assert names <= set(REMEDIES)


# ----------------------------------------------------------------------------------- unrolling
def test_a_handful_is_added_in_turn():
    becomes(
        unroll_small_reductions,
        """
        %r = generic "sum" domain (s0, 3) iterators (parallel, reduction) ins (%l [(d0, d1) -> (d0, d1)]) outs (add [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
        return %r
        """,
        """
        %r = generic "sum" domain (s0) ins (%l [(d0) -> (d0, 0)], %l [(d0) -> (d0, 1)], %l [(d0) -> (d0, 2)]) outs (write) { t0 = add in0, in1 : f64; t1 = add t0, in2 : f64; t2 = const 0.0 : f64; t3 = add t2, t1 : f64; yield t3 } : s0 x f64
        return %r
        """,
    )


def test_a_short_sum_is_a_tree():
    becomes(
        unroll_small_reductions,
        """
        %r = generic "sum" domain (s0, 9) iterators (parallel, reduction) ins (%f [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
        return %r
        """,
        """
        %r = generic "sum" domain (s0) ins (%f [(d0) -> (0)], %f [(d0) -> (1)], %f [(d0) -> (2)], %f [(d0) -> (3)], %f [(d0) -> (4)], %f [(d0) -> (5)], %f [(d0) -> (6)], %f [(d0) -> (7)], %f [(d0) -> (8)]) outs (write) { t0 = add in0, in1 : f64; t1 = add in2, in3 : f64; t2 = add in4, in5 : f64; t3 = add in6, in7 : f64; t4 = add t0, t1 : f64; t5 = add t2, t3 : f64; t6 = add t4, t5 : f64; t7 = add t6, in8 : f64; t8 = const 0.0 : f64; t9 = add t8, t7 : f64; yield t9 } : s0 x f64
        return %r
        """,
    )


LONG = {
    "many points": "domain (s0, 17) iterators (parallel, reduction) ins (%z [(d0, d1) -> (0)])",
    "unknown": "domain (s0, s1) iterators (parallel, reduction) ins (%z [(d0, d1) -> (0)])",
}


@pytest.mark.parametrize("name", LONG)
def test_long_reductions_stay(name):
    graph = graph_of(
        f'%r = generic "sum" {LONG[name]} outs (add [(d0, d1) -> (d0)]) {{ yield in0 }} : s0 x f64 return %r'
    )
    assert unroll_small_reductions(graph) is graph


def test_an_ordered_sum_is_unrolled_as_a_whole():
    graph = graph_of(
        """
        %r = generic "sum" domain (2, s1) iterators (reduction, reduction) ins (%m) outs (add [(d0, d1) -> ()]) { yield in0 } : f64
        return %r
        """
    )
    assert unroll_small_reductions(graph) is graph


# ------------------------------------------------------------------------------------ whole programs
def downsample(x):
    h, w = x.shape
    return x.reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3))


ONE_OP = {
    "between": lambda x: np.exp((x + 1).reshape(-1) * 2),
    "twice": lambda x: (np.sqrt(x).reshape(-1) * 2).reshape(x.shape) + x,
    "split and transposed": lambda x: (
        (x * 2).reshape(x.shape[0] // 2, 2, -1).transpose(1, 0, 2) + 1
    ),
    "transposed": lambda x: (x * 2).T.reshape(-1) + 1,
    "broadcast": lambda x: np.abs((x + x[0]).reshape(-1) - 1),
    "downsampling": downsample,
    "maxima of halves": lambda x: (x * x).reshape(2, -1).max(axis=1),
    "unit axes": lambda x: (x + 1).reshape(1, -1).squeeze() * 2,
    "flat view": lambda x: x.reshape(-1) * 2,
    "raveled": lambda x: np.ravel(x * 3) + 1,
    "expanded": lambda x: np.expand_dims(x * 2, 0).reshape(-1) - 1,
}


@pytest.mark.parametrize("name", ONE_OP)
def test_a_chain_is_one_op_and_one_kernel(name):
    function = ONE_OP[name]
    x = np.arange(24.0).reshape(4, 6)
    fused = fuse_jit(function).trace(x).fuse()
    assert fused.report.ops_after == 1
    assert len(fused.schedule.steps) == 1


def test_passes_are_idempotent_on_programs():
    for function in ONE_OP.values():
        graph = fuse_jit(function).trace(np.arange(24.0).reshape(4, 6)).graph
        for apply in (canonicalize, fold_producers, move_reshapes_up, move_reshapes_down):
            graph = apply(graph)
            assert apply(graph) is graph


def test_reshapes_of_two_operands_do_not_take_turns():
    """Each one moved down brought the other one back, and the pass never ended."""

    @fuse_jit(fullgraph=True)
    def product(a, b):
        left = np.exp(a[:, :-1]).astype(np.int64).reshape(a.shape[0], -1)
        return left @ np.exp(b).astype(np.int64)

    a, b = np.linspace(0, 2, 72).reshape(4, 6, 3), np.linspace(0, 2, 75).reshape(15, 5)
    np.testing.assert_array_equal(product(a, b), product.__wrapped__(a, b))


def test_one_of_several_results_is_not_split():
    graph = graph_of(
        """
        %t, %k = generic "two" domain (s2) ins (%f) outs (write, write) { t0 = exp in0 : f64; t1 = sqrt in0 : f64; yield t0, t1 } : s2 x f64, s2 x f64
        %e = reshape %t expand [[0, 1]] : s0 x s1 x f64
        %r = generic "exp" domain (s0, s1) ins (%e) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x s1 x f64
        return %r, %k
        """
    )
    assert move_reshapes_up(graph) is graph
    report = FusionReport()
    note_reshapes(graph, report)
    assert [r.rule for r in report.refused] == ["the value is the only result"]


def test_an_op_that_also_writes_at_every_point_is_not_unrolled():
    graph = graph_of(
        """
        %r, %w = generic "both" domain (s0, 2) iterators (parallel, reduction) ins (%l) outs (add [(d0, d1) -> (d0)], write) { yield in0, in0 } : s0 x f64, s0 x 2 x f64
        return %r, %w
        """
    )
    verify(graph)
    assert unroll_small_reductions(graph) is graph
