# ruff: noqa: E501
"""The cases of MLIR's elementwise fusion, continued: constants, results, and where linalg is wrong.

As in test_linalg_cases.py. The three cases at the end give wrong numbers in MLIR (executed on LLVM
19, 22 and 24); the numbers of ours are compared with those that NumPy gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.fuse.folding.cost import fold_if_profitable

Fuses = Callable[..., list[tuple[dict[str, Any], list[Any]]]]


# -------------------------------------------------------------------------------------- constants
def test_splat_constant_input(fuses: Fuses) -> None:
    # An array that is one number everywhere becomes a constant of the payload.
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %c = constant 42.0 : f64
        %s = view %c [(d0, d1) -> ()] : s0 x s1 x f64
        %r = generic "multiply" domain (s0, s1) ins (%s, %m) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "multiply" domain (s0, s1) ins (%m) outs (write) { t0 = const 42.0 : f64; t1 = multiply t0, in0 : f64; yield t1 } : s0 x s1 x f64
        return %r
        """,
        (1, 1),
    )


def test_rank_0_constant_input(fuses: Fuses) -> None:
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %c = constant 42.0 : f64
        %r = generic "multiply" domain (s0, s1) ins (%c [(d0, d1) -> ()], %m) outs (write) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "multiply" domain (s0, s1) ins (%m) outs (write) { t0 = const 42.0 : f64; t1 = multiply t0, in0 : f64; yield t1 } : s0 x s1 x f64
        return %r
        """,
        (1, 1),
    )


def test_fill(fuses: Fuses) -> None:
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %f = generic "fill" domain (s0, s1) ins () outs (write) { t0 = const 7.0 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "add" domain (s0, s1) ins (%f, %m) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "add" domain (s0, s1) ins (%m) outs (write) { t0 = const 7.0 : f64; t1 = add t0, in0 : f64; yield t1 } : s0 x s1 x f64
        return %r
        """,
        (2, 1),
    )


def test_two_fills_with_different_maps(fuses: Fuses) -> None:
    # What is left reads no array at all.
    fuses(
        """
        %f = generic "fill" domain (s0) ins () outs (write) { t0 = const 7.0 : f64; yield t0 } : s0 x f64
        %g = generic "fill" domain (s1, s0) ins () outs (write) { t0 = const 0.5 : f64; yield t0 } : s1 x s0 x f64
        %r = generic "divide" domain (s0, s1) ins (%f [(d0, d1) -> (d0)], %g [(d0, d1) -> (d1, d0)]) outs (write) { t0 = divide in0, in1 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        """
        %r = generic "divide" domain (s0, s1) ins () outs (write) { t0 = const 14.0 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        (3, 1),
    )


def test_scalar_constants_and_two_results(fuses: Fuses) -> None:
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %c = constant 2.0 : f64
        %d = constant 5.0 : f64
        %a, %b = generic "two" domain (s0) ins (%c [(d0) -> ()], %x, %d [(d0) -> ()]) outs (write, write) { t0 = multiply in0, in1 : f64; t1 = add in1, in2 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        return %a, %b
        """,
        """
        %x = load @x v0 : s0 x f64
        %a, %b = generic "two" domain (s0) ins (%x) outs (write, write) { t0 = const 2.0 : f64; t1 = const 5.0 : f64; t2 = multiply t0, in0 : f64; t3 = add in0, t1 : f64; yield t2, t3 } : s0 x f64, s0 x f64
        return %a, %b
        """,
        (1, 1),
    )


# ---------------------------------------------------------------------------------------- results
def test_a_dead_result_of_the_producer(fuses: Fuses) -> None:
    # It is dropped, and its operand with it; what is equal is read once.
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %a, %b = generic "two" domain (s0) ins (%x, %y, %x) outs (write, write) { t0 = add in0, in2 : f64; t1 = multiply in0, in1 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        %r = generic "subtract" domain (s0) ins (%a, %x) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "subtract+1" domain (s0) ins (%x) outs (write) { t0 = add in0, in0 : f64; t1 = subtract t0, in0 : f64; yield t1 } : s0 x f64
        return %r
        """,
        (2, 1),
    )


def test_a_producer_whose_results_are_returned(fuses: Fuses) -> None:
    # One op with three results.
    fuses(
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
        (2, 1),
        fold_if_profitable,
    )


def test_a_chain_of_three_ops_with_two_results(fuses: Fuses) -> None:
    # With indices in the first, and constants from outside.
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %c = constant 3.0 : f64
        %a, %b = generic "p" domain (s0) ins (%x, %c [(d0) -> ()]) outs (write, write) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; t3 = multiply in0, in1 : f64; yield t2, t3 } : s0 x f64, s0 x f64
        %d, %e = generic "q" domain (s0) ins (%a, %b) outs (write, write) { t0 = add in0, in1 : f64; t1 = subtract in0, in1 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        %f, %g = generic "r" domain (s0) ins (%d, %c [(d0) -> ()], %e) outs (write, write) { t0 = multiply in0, in1 : f64; t1 = add in2, in1 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        return %f, %g
        """,
        """
        %x = load @x v0 : s0 x f64
        %f, %g = generic "r+2" domain (s0) ins (%x) outs (write, write) { t0 = const 3.0 : f64; t1 = index (d0) : i64; t2 = cast t1 : f64; t3 = add in0, t2 : f64; t4 = multiply in0, t0 : f64; t5 = add t3, t4 : f64; t6 = subtract t3, t4 : f64; t7 = multiply t5, t0 : f64; t8 = add t6, t0 : f64; yield t7, t8 } : s0 x f64, s0 x f64
        return %f, %g
        """,
        (3, 1),
    )


def test_outs_that_are_only_shapes(fuses: Fuses) -> None:
    # The starts are not read: what the consumer overwrites need not be computed.
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %e = generic "empty" domain (s0) ins (%y) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
        %t = generic "add" domain (s0) ins (%x, %y) outs (write from %e) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        %r = generic "square" domain (s0) ins (%t) outs (write from %e) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "square+1" domain (s0) ins (%x, %y) outs (write) { t0 = add in0, in1 : f64; t1 = multiply t0, t0 : f64; yield t1 } : s0 x f64
        return %r
        """,
        (3, 1),
    )


def test_indexed_producer_read_along_d0_written_along_d1(fuses: Fuses) -> None:
    # The producer's result is returned too: it keeps its own map.
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "ramp" domain (s0, s1) ins (%m) outs (write) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; yield t2 } : s0 x s1 x f64
        %r = generic "square" domain (s0, s1) ins (%t) outs (write [(d0, d1) -> (d1, d0)]) { t0 = index (d1) : i64; t1 = cast t0 : f64; t2 = multiply in0, t1 : f64; yield t2 } : s1 x s0 x f64
        return %t, %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %t, %r = generic "square+1" domain (s0, s1) ins (%m) outs (write, write [(d0, d1) -> (d1, d0)]) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; t3 = index (d1) : i64; t4 = cast t3 : f64; t5 = multiply t2, t4 : f64; yield t2, t5 } : s0 x s1 x f64, s1 x s0 x f64
        return %t, %r
        """,
        (2, 1),
        fold_if_profitable,
    )


# ------------------------------------------------------------------ legal here, refused by linalg
def test_constant_into_a_reduction(fuses: Fuses) -> None:
    # linalg refuses: nothing would give the extent of the sum.
    fuses(
        """
        %f = generic "ones" domain (s0) ins () outs (write) { t0 = const 1.5 : f64; yield t0 } : s0 x f64
        %r = generic "sum" domain (s0) iterators (reduction) ins (%f) outs (add [(d0) -> ()]) { yield in0 } : f64
        return %r
        """,
        """
        %r = generic "sum" domain (s0) iterators (reduction) ins () outs (add [(d0) -> ()]) { t0 = const 1.5 : f64; yield t0 } : f64
        return %r
        """,
        (2, 1),
    )


def test_scalar_broadcast_into_a_reduction(fuses: Fuses) -> None:
    # linalg refuses: only the producer gives the reduced extent.
    fuses(
        """
        %o = load @o v0 : f64
        %x = load @x v0 : s0 x f64
        %t = generic "broadcast" domain (s0, s1) ins (%o [(d0, d1) -> ()]) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%t, %x [(d0, d1) -> (d0)]) outs (add [(d0, d1) -> (d0)]) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %o = load @o v0 : f64
        %x = load @x v0 : s0 x f64
        %r = generic "sum+1" domain (s0, s1) iterators (parallel, reduction) ins (%o [(d0, d1) -> ()], %x [(d0, d1) -> (d0)]) outs (add [(d0, d1) -> (d0)]) { t0 = negative in0 : f64; t1 = multiply t0, in1 : f64; yield t1 } : s0 x f64
        return %r
        """,
        (2, 1),
    )


# -------------------------------------------------------------------------------- wrong in linalg
def test_wrong_a_start_that_is_read_and_broadcast(fuses: Fuses) -> None:
    # The producer reads its own start: linalg adds to it once per broadcast step.
    runs = fuses(
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "accumulate" domain (s0) ins (%x) outs (write from %y) { t0 = add out0, in0 : f64; yield t0 } : s0 x f64
        %r = generic "broadcast" domain (s0, s1) ins (%t [(d0, d1) -> (d0)]) outs (write) { yield in0 } : s0 x s1 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "broadcast+1" domain (s0, s1) ins (%x [(d0, d1) -> (d0)], %y [(d0, d1) -> (d0)]) outs (write) { t0 = add in1, in0 : f64; yield t0 } : s0 x s1 x f64
        return %r
        """,
        (2, 1),
    )
    for arguments, (result,) in runs:
        total = arguments["x"] + arguments["y"]
        np.testing.assert_array_equal(result, np.broadcast_to(total[:, None], result.shape))


def test_wrong_a_start_that_is_read_and_returned(fuses: Fuses) -> None:
    # Its result is not kept inside the fused op, which would write it once per step.
    runs = fuses(
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "accumulate" domain (s0) ins (%x) outs (write from %y) { t0 = add out0, in0 : f64; yield t0 } : s0 x f64
        %r = generic "broadcast" domain (s0, s1) ins (%t [(d0, d1) -> (d0)]) outs (write) { yield in0 } : s0 x s1 x f64
        return %t, %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "accumulate" domain (s0) ins (%x, %y) outs (write) { t0 = add in1, in0 : f64; yield t0 } : s0 x f64
        %r = generic "broadcast+1" domain (s0, s1) ins (%x [(d0, d1) -> (d0)], %y [(d0, d1) -> (d0)]) outs (write) { t0 = add in1, in0 : f64; yield t0 } : s0 x s1 x f64
        return %t, %r
        """,
        (2, 2),
    )
    for arguments, (total, result) in runs:
        np.testing.assert_array_equal(total, arguments["x"] + arguments["y"])
        np.testing.assert_array_equal(result, np.broadcast_to(total[:, None], result.shape))


def test_wrong_b_result_returned_and_one_row_read(fuses: Fuses) -> None:
    # The consumer reads one row: a fused op would write only that row of %t.
    runs = fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "square" domain (s0, s1) ins (%m) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "negative" domain (s1) ins (%t [(d0) -> (1, d0)]) outs (write) { t0 = negative in0 : f64; yield t0 } : s1 x f64
        return %t, %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "square" domain (s0, s1) ins (%m) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "negative+1" domain (s1) ins (%m [(d0) -> (1, d0)]) outs (write) { t0 = multiply in0, in0 : f64; t1 = negative t0 : f64; yield t1 } : s1 x f64
        return %t, %r
        """,
        (2, 2),
    )
    for arguments, (whole, row) in runs:
        np.testing.assert_array_equal(whole, arguments["m"] ** 2)
        np.testing.assert_array_equal(row, -whole[1])


def test_wrong_c_result_returned_and_a_stride_read(fuses: Fuses) -> None:
    # The consumer reads every other element, and would write only those of %t.
    runs = fuses(
        """
        %x = load @x v0 : s0 x f64
        %t = generic "square" domain (s0) ins (%x) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x f64
        %r = generic "negative" domain ((s0 + 1) floordiv 2) ins (%t [(d0) -> (2 * d0)]) outs (write) { t0 = negative in0 : f64; yield t0 } : (s0 + 1) floordiv 2 x f64
        return %t, %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %t = generic "square" domain (s0) ins (%x) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x f64
        %r = generic "negative+1" domain ((s0 + 1) floordiv 2) ins (%x [(d0) -> (2 * d0)]) outs (write) { t0 = multiply in0, in0 : f64; t1 = negative t0 : f64; yield t1 } : (s0 + 1) floordiv 2 x f64
        return %t, %r
        """,
        (2, 2),
    )
    for arguments, (whole, part) in runs:
        np.testing.assert_array_equal(whole, arguments["x"] ** 2)
        np.testing.assert_array_equal(part, -whole[::2])
