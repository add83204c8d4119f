# ruff: noqa: E501
"""What becomes of gathers and scatters: printed IR, and where checks stand."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Assert, GenericOp, Scatter
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph


def fused(f, *args) -> Graph:
    return fuse_jit(f).trace(*args).fuse().graph


def ops(graph: Graph, kind: type) -> list:
    return [op for op in graph.block.ops if isinstance(op, kind)]


ROWS, PLACES, ONES = np.ones((50, 7)), np.arange(20), np.ones(7)


def test_a_gather_folds_into_the_reduction_that_reads_it():
    graph = fused(lambda x, i, w: (x[i] * w).sum(1), ROWS, PLACES, ONES)
    (reach, bounds, total) = ops(graph, GenericOp)
    assert (reach.name, bounds.name, total.name) == ("reach", "in_bounds", "sum+2")
    assert str(total.payload) == (
        "{ t0 = const 0 : i64; t1 = less in1, t0 : i1; t2 = index (s0) : i64; "
        "t3 = add in1, t2 : i64; t4 = select t1, t3, in1 : i64; t5 = index (d1) : i64; "
        "t6 = extract in0[t4, t5] : f64; t7 = multiply t6, in2 : f64; yield t7 }"
    )


def test_what_computes_the_integers_folds_into_the_gather():
    graph = fused(lambda x, i: np.sqrt(x[i * 2 - 1, 0]) + 1, ROWS, PLACES)
    assert [op.name for op in ops(graph, GenericOp)] == ["reach+2", "in_bounds", "add+4"]


def test_what_is_gathered_from_does_not_fold():
    graph = fused(lambda x, i: np.sqrt(x)[i], ROWS, PLACES)
    assert [op.name for op in ops(graph, GenericOp)] == ["reach", "in_bounds", "sqrt", "take"]


def test_checks_stand_in_front_of_all_stores():
    def f(x, y, i, j):
        x += 1
        x[i] = 2.0
        y[j] = x[i] + y[j + 1]

    kinds = [type(op).__name__ for op in fused(f, ONES, ONES + 1, PLACES % 7, PLACES % 6).block.ops]
    assert max(at for at, kind in enumerate(kinds) if kind == "Assert") < kinds.index("Store")


SQUARE = "{ t0 = square in0 : f64; yield t0 }"
TAKE = """
%a = load @m v0 : s0 x s1 x f64
%e = generic "square" domain (s0, s1) ins (%a) outs (write) {square} : s0 x s1 x f64
%r = generic "take" domain ({domain}) ins (%e [(d0, d1) -> (0, 0)]) outs (write) {{
  t0 = index (d0) : i64
  t1 = index (0) : i64
  t2 = extract in0[t0, t1] : f64
  yield t2
}} : {result} x f64
return %r
"""


@pytest.mark.parametrize("longer", ["s0", "s0 + 2", "3"])
def test_elements_at_affine_subscripts_are_computed_where_they_are_read(fuses, longer):
    """Where the loop around the read has an iteration, the other one has one too."""
    result = f"s0 x ({longer})"
    fuses(
        TAKE.format(square=SQUARE, domain=f"s0, {longer}", result=result),
        f"""
        %a = load @m v0 : s0 x s1 x f64
        %r = generic "take+1" domain (s0, {longer}) ins (%a [(d0, d1) -> (d0, 0)]) outs (write) {SQUARE} : {result} x f64
        return %r
        """,
        (2, 1),
    )


@pytest.mark.parametrize("other", ["s1", "s0 - 1"])
def test_elements_are_not_read_in_front_of_a_loop_that_may_be_empty_by_itself(parse, other):
    graph = canonicalize(
        parse(TAKE.format(square=SQUARE, domain=f"s0, {other}", result=f"s0 x ({other})"))
    )
    assert graph.block.ops[-1].payload.has_extract()


def test_equal_indices_are_checked_once():
    graph = fused(lambda x, y, i: (x[i], x[i, i % 3], y[i]), ROWS, np.ones(50), PLACES)
    assert len(ops(graph, Assert)) == 3  # within x's rows, its columns, and y


def test_scatters_print_and_parse():
    def f(x, i, v):
        x[i, 1:3] = v[:, None]
        np.add.at(x, (slice(None), i % 7), 1.5)

    graph = fused(f, ROWS, PLACES, np.ones(20))
    text = print_graph(graph)
    first, second = ops(graph, Scatter)
    assert "[(d0, d1) -> (d0)], (d1 + 1)) = %" in text.split("scatter @x v1 at (%")[1]
    assert "scatter add @x v2 at ((d0), %" in text
    assert (first.combine, second.combine) == (None, "add")
    assert print_graph(parse_graph(text)) == text


def test_operands_of_a_scatter_are_computed_as_it_is_written():
    def f(x, i, v):
        x[i * 2] = v * 3 + 1

    source = fuse_jit(f).trace(np.ones(50), PLACES, np.ones(20)).fuse().lower().source
    assert "heap_scratch" not in source.split("free_scratch(part")[-1]


def test_a_value_that_reads_the_memory_is_computed_before():
    def f(x, i):
        x[i] = x[i] * 2

    source = fuse_jit(f).trace(np.ones(50), PLACES).fuse().lower().source
    assert "heap_scratch(s1, f64" in source


def test_a_strided_store_computes_each_element_where_it_is():
    def f(x):
        for p in range(2, len(x)):
            x[p::p] -= x[p::p] // 3

    def shifted(x):
        for p in range(2, len(x)):
            x[p::p] += x[1 : len(x) - p + 1 : p]

    one, other = (fuse_jit(g).trace(np.ones(50)).fuse() for g in (f, shifted))
    text = print_graph(one.graph)
    assert "at distinct from_start (%" in text
    assert print_graph(parse_graph(text)) == text
    assert "heap_scratch" not in one.lower().source
    assert "heap_scratch" in other.lower().source
