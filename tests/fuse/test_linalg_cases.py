# ruff: noqa: E501
"""The cases of MLIR's elementwise fusion, with inputs of our own: maps, indices, reductions.

One test per case of linalg's own tests, named after what it exercises. Each asserts the fused IR,
how many ops there are before and after, and equal bits with and without fusion: by the interpreter,
and by the generated source of the fused graph. Constants and results: test_linalg_cases_results.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Fuses = Callable[..., list[tuple[dict[str, Any], list[Any]]]]


# ------------------------------------------------------------------------------------------- maps
def test_add_mul_fusion(fuses: Fuses) -> None:
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "add" domain (s0) ins (%x, %y) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        %r = generic "multiply" domain (s0) ins (%t, %y) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "multiply+1" domain (s0) ins (%x, %y) outs (write) { t0 = add in0, in1 : f64; t1 = multiply t0, in1 : f64; yield t1 } : s0 x f64
        return %r
        """,
        (2, 1),
    )


def test_scalar_operands(fuses: Fuses) -> None:
    # Operands of rank 0 have the map () before and after.
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %o = load @o v0 : f64
        %t = generic "add" domain (s0) ins (%x, %o [(d0) -> ()]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        %r = generic "multiply" domain (s0) ins (%t, %o [(d0) -> ()]) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %o = load @o v0 : f64
        %r = generic "multiply+1" domain (s0) ins (%x, %o [(d0) -> ()]) outs (write) { t0 = add in0, in1 : f64; t1 = multiply t0, in1 : f64; yield t1 } : s0 x f64
        return %r
        """,
        (2, 1),
    )


def test_transposed_producer_input(fuses: Fuses) -> None:
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %w = load @w v0 : s0 x s1 x f64
        %t = generic "add" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)], %w [(d0, d1) -> (d1, d0)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s1 x s0 x f64
        %r = generic "multiply" domain (s1, s0) ins (%t, %w [(d0, d1) -> (d1, d0)]) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s1 x s0 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %w = load @w v0 : s0 x s1 x f64
        %r = generic "multiply+1" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)], %w [(d0, d1) -> (d1, d0)]) outs (write) { t0 = add in0, in1 : f64; t1 = multiply t0, in1 : f64; yield t1 } : s1 x s0 x f64
        return %r
        """,
        (2, 1),
    )


def test_consumer_reads_the_producer_transposed(fuses: Fuses) -> None:
    # Both maps of the producer get the permutation.
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %w = load @w v0 : s0 x s1 x f64
        %t = generic "subtract" domain (s0, s1) ins (%m, %w) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "square" domain (s1, s0) ins (%t [(d0, d1) -> (d1, d0)]) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s1 x s0 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %w = load @w v0 : s0 x s1 x f64
        %r = generic "square+1" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)], %w [(d0, d1) -> (d1, d0)]) outs (write) { t0 = subtract in0, in1 : f64; t1 = multiply t0, t0 : f64; yield t1 } : s1 x s0 x f64
        return %r
        """,
        (2, 1),
    )


def test_vector_broadcast_into_a_matrix(fuses: Fuses) -> None:
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "add" domain (s0) ins (%x, %y) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        %r = generic "multiply" domain (s0, s1) ins (%t [(d0, d1) -> (d0)], %m) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "multiply+1" domain (s0, s1) ins (%x [(d0, d1) -> (d0)], %y [(d0, d1) -> (d0)], %m) outs (write) { t0 = add in0, in1 : f64; t1 = multiply t0, in2 : f64; yield t1 } : s0 x s1 x f64
        return %r
        """,
        (2, 1),
    )


def test_rank_0(fuses: Fuses) -> None:
    fuses(
        """
        %o = load @o v0 : f64
        %t = generic "add" domain () ins (%o, %o) outs (write) { t0 = add in0, in1 : f64; yield t0 } : f64
        %r = generic "multiply" domain () ins (%t, %o) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : f64
        return %r
        """,
        """
        %o = load @o v0 : f64
        %r = generic "multiply+1" domain () ins (%o) outs (write) { t0 = add in0, in0 : f64; t1 = multiply t0, in0 : f64; yield t1 } : f64
        return %r
        """,
        (2, 1),
    )


# ---------------------------------------------------------------------------------------- indices
def test_consumer_with_index(fuses: Fuses) -> None:
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "add" domain (s0) ins (%x, %y) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        %r = generic "ramp" domain (s0) ins (%t) outs (write) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = subtract in0, t1 : f64; yield t2 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "ramp+1" domain (s0) ins (%x, %y) outs (write) { t0 = add in0, in1 : f64; t1 = index (d0) : i64; t2 = cast t1 : f64; t3 = subtract t0, t2 : f64; yield t3 } : s0 x f64
        return %r
        """,
        (2, 1),
    )


def test_producer_with_index(fuses: Fuses) -> None:
    # The domain of the producer is the consumer's: its indices stay.
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %w = load @w v0 : s0 x s1 x f64
        %t = generic "ramp" domain (s0, s1) ins (%m) outs (write) { t0 = index (d0) : i64; t1 = index (d1) : i64; t2 = subtract t0, t1 : i64; t3 = cast t2 : f64; t4 = add in0, t3 : f64; yield t4 } : s0 x s1 x f64
        %r = generic "multiply" domain (s0, s1) ins (%t, %w) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %w = load @w v0 : s0 x s1 x f64
        %r = generic "multiply+1" domain (s0, s1) ins (%m, %w) outs (write) { t0 = index (d0) : i64; t1 = index (d1) : i64; t2 = subtract t0, t1 : i64; t3 = cast t2 : f64; t4 = add in0, t3 : f64; t5 = multiply t4, in1 : f64; yield t5 } : s0 x s1 x f64
        return %r
        """,
        (2, 1),
    )


def test_both_with_index_and_a_transposed_producer(fuses: Fuses) -> None:
    # d0 and d1 of the producer's indices swap, the consumer's stay.
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "ramp" domain (s0, s1) ins (%m) outs (write [(d0, d1) -> (d1, d0)]) { t0 = index (d0) : i64; t1 = index (3 * d1) : i64; t2 = add t0, t1 : i64; t3 = cast t2 : f64; t4 = add in0, t3 : f64; yield t4 } : s1 x s0 x f64
        %r = generic "ramp2" domain (s1, s0) ins (%t) outs (write) { t0 = index (d0) : i64; t1 = index (5 * d1) : i64; t2 = add t0, t1 : i64; t3 = cast t2 : f64; t4 = multiply in0, t3 : f64; yield t4 } : s1 x s0 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "ramp2+1" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)]) outs (write) { t0 = index (d1) : i64; t1 = index (3 * d0) : i64; t2 = add t0, t1 : i64; t3 = cast t2 : f64; t4 = add in0, t3 : f64; t5 = index (d0) : i64; t6 = index (5 * d1) : i64; t7 = add t5, t6 : i64; t8 = cast t7 : f64; t9 = multiply t4, t8 : f64; yield t9 } : s1 x s0 x f64
        return %r
        """,
        (2, 1),
    )


def test_indexed_vector_read_along_d1(fuses: Fuses) -> None:
    # Index d0 of the producer becomes d1.
    fuses(
        """
        %z = load @z v0 : s1 x f64
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "ramp" domain (s1) ins (%z) outs (write) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; yield t2 } : s1 x f64
        %r = generic "multiply" domain (s0, s1) ins (%t [(d0, d1) -> (d1)], %m) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %z = load @z v0 : s1 x f64
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "multiply+1" domain (s0, s1) ins (%z [(d0, d1) -> (d1)], %m) outs (write) { t0 = index (d1) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; t3 = multiply t2, in1 : f64; yield t3 } : s0 x s1 x f64
        return %r
        """,
        (2, 1),
    )


def test_rank_0_producer_with_an_extract(fuses: Fuses) -> None:
    # The gather goes along, with the number of its input and a map of the new domain.
    fuses(
        """
        %i = load @i v0 : i64
        %x = load @x v0 : s0 x f64
        %z = load @z v0 : s1 x f64
        %t = generic "take" domain () ins (%i, %x [() -> (0)]) outs (write) { t0 = extract in1[in0] : f64; yield t0 } : f64
        %r = generic "multiply" domain (s1) ins (%z, %t [(d0) -> ()]) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s1 x f64
        return %r
        """,
        """
        %i = load @i v0 : i64
        %x = load @x v0 : s0 x f64
        %z = load @z v0 : s1 x f64
        %r = generic "multiply+1" domain (s1) ins (%z, %i [(d0) -> ()], %x [(d0) -> (0)]) outs (write) { t0 = extract in2[in1] : f64; t1 = multiply in0, t0 : f64; yield t1 } : s1 x f64
        return %r
        """,
        (2, 1),
    )


# ------------------------------------------------------------------------------------- reductions
def test_reduction_of_row_0(fuses: Fuses) -> None:
    # The consumer reads through (d0) -> (0, d0), and so do the producer's inputs.
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %t = generic "add" domain (s0, s1) ins (%m, %z [(d0, d1) -> (d1)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "sum" domain (s1) iterators (reduction) ins (%t [(d0) -> (0, d0)]) outs (add [(d0) -> ()]) { yield in0 } : f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %r = generic "sum+1" domain (s1) iterators (reduction) ins (%m [(d0) -> (0, d0)], %z) outs (add [(d0) -> ()]) { t0 = add in0, in1 : f64; yield t0 } : f64
        return %r
        """,
        (2, 1),
    )
