# ruff: noqa: E501
"""Folding: the cases of linalg's elementwise fusion, with inputs of our own, by printed IR.

Each case says how many generic ops there are before and after; the expected text is what the rule
``producer map . inverse(result map) . consumer map`` gives.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.fuse.folding.driver import fold_producers
from fusejit.fuse.folding.fold import fold
from fusejit.fuse.folding.siblings import merge_siblings
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Operand
from fusejit.ir.text.printer import print_op
from fusejit_testing.fold_policies import fold_always

Becomes = Callable[[Callable[[Graph], Graph], str, str], None]


def fold_all(graph: Graph) -> Graph:
    return fold_producers(graph, control=fold_always)


def test_multiply_add(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "multiply" domain (s0) ins (%x, %y) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x f64
        %r = generic "add" domain (s0) ins (%t, %x) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "add+1" domain (s0) ins (%x, %y) outs (write) { t0 = multiply in0, in1 : f64; t1 = add t0, in0 : f64; yield t1 } : s0 x f64
        return %r
        """,
    )


def test_operand_order_is_before_producer_after(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %o = load @o v0 : f64
        %t = generic "negative" domain (s0) ins (%o [(d0) -> ()]) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
        %r = generic "select" domain (s0) ins (%x, %t, %y) outs (write) { t0 = less in0, in1 : i1; t1 = select t0, in1, in2 : f64; yield t1 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %o = load @o v0 : f64
        %r = generic "select+1" domain (s0) ins (%x, %o [(d0) -> ()], %y) outs (write) { t0 = negative in1 : f64; t1 = less in0, t0 : i1; t2 = select t1, t0, in2 : f64; yield t2 } : s0 x f64
        return %r
        """,
    )


def test_transposed_producer_input(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "exp" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)]) outs (write) { t0 = exp in0 : f64; yield t0 } : s1 x s0 x f64
        %r = generic "negative" domain (s1, s0) ins (%t) outs (write) { t0 = negative in0 : f64; yield t0 } : s1 x s0 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "negative+1" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)]) outs (write) { t0 = exp in0 : f64; t1 = negative t0 : f64; yield t1 } : s1 x s0 x f64
        return %r
        """,
    )


def test_consumer_reads_the_producer_transposed(becomes: Becomes) -> None:
    # Both of the producer's inputs get the permutation.
    becomes(
        fold_producers,
        """
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %t = generic "add" domain (s0, s1) ins (%m, %z [(d0, d1) -> (d1)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "exp" domain (s1, s0) ins (%t [(d0, d1) -> (d1, d0)]) outs (write) { t0 = exp in0 : f64; yield t0 } : s1 x s0 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %r = generic "exp+1" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)], %z [(d0, d1) -> (d0)]) outs (write) { t0 = add in0, in1 : f64; t1 = exp t0 : f64; yield t1 } : s1 x s0 x f64
        return %r
        """,
    )


def test_producer_writes_transposed(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "exp" domain (s0, s1) ins (%m) outs (write [(d0, d1) -> (d1, d0)]) { t0 = exp in0 : f64; yield t0 } : s1 x s0 x f64
        %r = generic "negative" domain (s1, s0) ins (%t) outs (write) { t0 = negative in0 : f64; yield t0 } : s1 x s0 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "negative+1" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)]) outs (write) { t0 = exp in0 : f64; t1 = negative t0 : f64; yield t1 } : s1 x s0 x f64
        return %r
        """,
    )


def test_vector_broadcast_into_a_matrix(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %m = load @m v0 : s0 x s1 x f64
        %x = load @x v0 : s0 x f64
        %t = generic "negative" domain (s0) ins (%x) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
        %r = generic "add" domain (s0, s1) ins (%m, %t [(d0, d1) -> (d0)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %x = load @x v0 : s0 x f64
        %r = generic "add+1" domain (s0, s1) ins (%m, %x [(d0, d1) -> (d0)]) outs (write) { t0 = negative in1 : f64; t1 = add in0, t0 : f64; yield t1 } : s0 x s1 x f64
        return %r
        """,
    )


def test_rank_0(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %o = load @o v0 : f64
        %t = generic "exp" domain () ins (%o) outs (write) { t0 = exp in0 : f64; yield t0 } : f64
        %r = generic "negative" domain () ins (%t) outs (write) { t0 = negative in0 : f64; yield t0 } : f64
        return %r
        """,
        """
        %o = load @o v0 : f64
        %r = generic "negative+1" domain () ins (%o) outs (write) { t0 = exp in0 : f64; t1 = negative t0 : f64; yield t1 } : f64
        return %r
        """,
    )


def test_index_of_both_with_a_transposed_producer(becomes: Becomes) -> None:
    # The producer's d0 and d1 swap; the consumer's stay.
    becomes(
        fold_producers,
        """
        %t = generic "index" domain (s0, s1) ins () outs (write) { t0 = index (2 * d0 + d1) : i64; yield t0 } : s0 x s1 x i64
        %r = generic "add" domain (s1, s0) ins (%t [(d0, d1) -> (d1, d0)]) outs (write) { t0 = index (d0) : i64; t1 = add in0, t0 : i64; yield t1 } : s1 x s0 x i64
        return %r
        """,
        """
        %r = generic "add+1" domain (s1, s0) ins () outs (write) { t0 = index (d0 + 2 * d1) : i64; t1 = index (d0) : i64; t2 = add t0, t1 : i64; yield t2 } : s1 x s0 x i64
        return %r
        """,
    )


def test_indexed_vector_read_along_the_other_dim(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "arange" domain (s1) ins () outs (write) { t0 = index (d0) : i64; t1 = cast t0 : f64; yield t1 } : s1 x f64
        %r = generic "multiply" domain (s0, s1) ins (%m, %t [(d0, d1) -> (d1)]) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "multiply+1" domain (s0, s1) ins (%m) outs (write) { t0 = index (d1) : i64; t1 = cast t0 : f64; t2 = multiply in0, t1 : f64; yield t2 } : s0 x s1 x f64
        return %r
        """,
    )


def test_slices_reversals_and_strides_compose(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %x = load @x v0 : s0 x f64
        %t = generic "exp" domain (s0 - 1) ins (%x [(d0) -> (d0 + 1)]) outs (write) { t0 = exp in0 : f64; t1 = index (d0) : i64; t2 = cast t1 : f64; t3 = add t0, t2 : f64; yield t3 } : (s0 - 1) x f64
        %r = generic "negative" domain ((s0) floordiv 2) ins (%t [(d0) -> (s0 - 2 - 2 * d0)]) outs (write) { t0 = negative in0 : f64; yield t0 } : (s0) floordiv 2 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "negative+1" domain ((s0) floordiv 2) ins (%x [(d0) -> (s0 - 1 - 2 * d0)]) outs (write) { t0 = exp in0 : f64; t1 = index (s0 - 2 - 2 * d0) : i64; t2 = cast t1 : f64; t3 = add t0, t2 : f64; t4 = negative t3 : f64; yield t4 } : (s0) floordiv 2 x f64
        return %r
        """,
    )


def test_reduction_takes_its_producers(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "square" domain (s0, s1) ins (%m) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "sum" domain (s0, s1) iterators (reduction, parallel) ins (%t) outs (add [(d0, d1) -> (d1)]) { yield in0 } : s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "sum+1" domain (s0, s1) iterators (reduction, parallel) ins (%m) outs (add [(d0, d1) -> (d1)]) { t0 = multiply in0, in0 : f64; yield t0 } : s1 x f64
        return %r
        """,
    )


def test_reduction_of_one_row(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "exp" domain (s0, s1) ins (%m) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "sum" domain (s1) iterators (reduction) ins (%t [(d0) -> (0, d0)]) outs (add [(d0) -> ()]) { yield in0 } : f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "sum+1" domain (s1) iterators (reduction) ins (%m [(d0) -> (0, d0)]) outs (add [(d0) -> ()]) { t0 = exp in0 : f64; yield t0 } : f64
        return %r
        """,
    )


def test_constant_into_a_reduction_that_nothing_else_gives_an_extent(becomes: Becomes) -> None:
    # linalg refuses: it derives the bounds from the operands.
    becomes(
        canonicalize,
        """
        %t = generic "ones" domain (s0) ins () outs (write) { t0 = const 1.0 : f64; yield t0 } : s0 x f64
        %r = generic "sum" domain (s0) iterators (reduction) ins (%t) outs (add [(d0) -> ()]) { yield in0 } : f64
        return %r
        """,
        """
        %r = generic "sum" domain (s0) iterators (reduction) ins () outs (add [(d0) -> ()]) { t0 = const 1.0 : f64; yield t0 } : f64
        return %r
        """,
    )


def test_gathering_producer(becomes: Becomes) -> None:
    # The gather's input keeps its place among the fused inputs.
    becomes(
        fold_producers,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "take" domain () ins (%x [() -> (0)]) outs (write) { t0 = const 1 : i64; t1 = extract in0[t0] : f64; yield t1 } : f64
        %r = generic "add" domain (s0) ins (%y, %t [(d0) -> ()]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        return %r
        """.replace("%r", "%r"),
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "take" domain () ins (%x [() -> (0)]) outs (write) { t0 = const 1 : i64; t1 = extract in0[t0] : f64; yield t1 } : f64
        %r = generic "add" domain (s0) ins (%y, %t [(d0) -> ()]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        return %r
        """,
    )
    becomes(
        fold_all,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "take" domain () ins (%x [() -> (0)]) outs (write) { t0 = const 1 : i64; t1 = extract in0[t0] : f64; yield t1 } : f64
        %r = generic "add" domain (s0) ins (%y, %t [(d0) -> ()]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "add+1" domain (s0) ins (%y, %x [(d0) -> (0)]) outs (write) { t0 = const 1 : i64; t1 = extract in1[t0] : f64; t2 = add in0, t1 : f64; yield t2 } : s0 x f64
        return %r
        """,
    )


def test_chain_of_ops_with_two_results(becomes: Becomes) -> None:
    def step(name: str, a: str, b: str) -> str:
        return (
            f'%{name}a, %{name}b = generic "{name}" domain (s0) ins ({a}, {b}) outs (write, write) '
            "{ t0 = add in0, in1 : f64; t1 = subtract in0, in1 : f64; yield t0, t1 } : s0 x f64, s0 x f64"
        )

    becomes(
        fold_producers,
        f"""
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        {step("p", "%x", "%y")}
        {step("q", "%pa", "%pb")}
        {step("r", "%qa", "%qb")}
        return %ra, %rb
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %ra, %rb = generic "r+2" domain (s0) ins (%x, %y) outs (write, write) { t0 = add in0, in1 : f64; t1 = subtract in0, in1 : f64; t2 = add t0, t1 : f64; t3 = subtract t0, t1 : f64; t4 = add t2, t3 : f64; t5 = subtract t2, t3 : f64; yield t4, t5 } : s0 x f64, s0 x f64
        return %ra, %rb
        """,
    )


def test_a_dead_result_of_the_producer_is_dropped(becomes: Becomes) -> None:
    becomes(
        lambda graph: fold_producers(canonicalize(graph)),
        """
        %x = load @x v0 : s0 x f64
        %a, %b = generic "two" domain (s0) ins (%x, %x) outs (write, write) { t0 = exp in0 : f64; t1 = log in1 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        %r = generic "negative" domain (s0) ins (%b) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "negative+1" domain (s0) ins (%x) outs (write) { t0 = log in0 : f64; t1 = negative t0 : f64; yield t1 } : s0 x f64
        return %r
        """,
    )


def test_producer_that_is_returned_too_becomes_a_result(becomes: Becomes) -> None:
    becomes(
        merge_siblings,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %a, %b = generic "two" domain (s0) ins (%x, %y) outs (write, write) { t0 = add in0, in1 : f64; t1 = subtract in0, in1 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        %r = generic "multiply" domain (s0) ins (%a, %b) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x f64
        return %a, %b, %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %a, %b, %r = generic "multiply+1" domain (s0) ins (%x, %y) outs (write, write, write) { t0 = add in0, in1 : f64; t1 = subtract in0, in1 : f64; t2 = multiply t0, t1 : f64; yield t0, t1, t2 } : s0 x f64, s0 x f64, s0 x f64
        return %a, %b, %r
        """,
    )


def test_loop_bodies_fold_inside_only(becomes: Becomes) -> None:
    becomes(
        fold_producers,
        """
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64
        for i0 = 0 to s1 step 1 {
          %b = generic "negative" domain (s0) ins (%a) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
          %c = generic "sqrt" domain (s0) ins (%b) outs (write) { t0 = sqrt in0 : f64; yield t0 } : s0 x f64
          store @y v2 = %c
        }
        return
        """,
        """
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64
        for i0 = 0 to s1 step 1 {
          %c = generic "sqrt+1" domain (s0) ins (%a) outs (write) { t0 = negative in0 : f64; t1 = sqrt t0 : f64; yield t1 } : s0 x f64
          store @y v2 = %c
        }
        return
        """,
    )


# ------------------------------------------------------------------------- the mechanism by itself
def generics(graph: Graph) -> list[GenericOp]:
    return [op for op in graph.block.ops if isinstance(op, GenericOp)]


def test_preserved_result_keeps_its_own_map(parse: Callable[[str], Graph]) -> None:
    # The producer is read along d0 while the consumer writes along d1.
    producer, consumer = generics(
        parse(
            """
            %m = load @m v0 : s0 x s1 x f64
            %t = generic "index" domain (s0, s1) ins (%m) outs (write) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; yield t2 } : s0 x s1 x f64
            %r = generic "exp" domain (s1, s0) ins (%t [(d0, d1) -> (d1, d0)]) outs (write) { t0 = exp in0 : f64; yield t0 } : s1 x s0 x f64
            return %t, %r
            """
        )
    )
    assert print_op(fold(producer, 0, consumer, preserved=[0])) == (
        '%t, %r = generic "exp+1" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)]) '
        "outs (write [(d0, d1) -> (d1, d0)], write) { t0 = index (d1) : i64; t1 = cast t0 : f64; "
        "t2 = add in0, t1 : f64; t3 = exp t2 : f64; yield t2, t3 } : s0 x s1 x f64, s1 x s0 x f64"
    )


def test_only_the_named_operand_is_folded(parse: Callable[[str], Graph]) -> None:
    producer, consumer = generics(
        parse(
            """
            %x = load @x v0 : s0 x f64
            %t = generic "exp" domain (s0) ins (%x) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64
            %r = generic "diff" domain (s0 - 1) ins (%t [(d0) -> (d0 + 1)], %t) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : (s0 - 1) x f64
            return %r
            """
        )
    )
    fused = fold(producer, 0, consumer)
    assert [str(o.map) for o in fused.inputs] == ["(d0) -> (d0 + 1)", "(d0) -> (d0)"]
    assert fused.inputs[1] == Operand(producer.results[0], consumer.inputs[1].map)
    assert fused.name == "diff+1"
    assert consumer.name == "diff"


def test_a_fold_needs_a_producer_of_the_operand(parse: Callable[[str], Graph]) -> None:
    producer, consumer = generics(
        parse(
            """
            %x = load @x v0 : s0 x f64
            %t = generic "exp" domain (s0) ins (%x) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64
            %r = generic "add" domain (s0) ins (%t, %x) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
            return %r
            """
        )
    )
    with pytest.raises(ValueError, match="not in tuple"):
        fold(producer, 1, consumer)
