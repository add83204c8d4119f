# ruff: noqa: E501
"""Folding through maps beyond permutations: slices, strides, flips, windows, stencil chains.

Each test asserts the fused IR and equal bits with and without fusion. What is kept apart, and why,
is in test_cost.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.fuse.folding.cost import fold_if_profitable
from fusejit.ir.ops import GenericOp
from fusejit_testing.oracle import check

Fuses = Callable[..., list[tuple[dict[str, Any], list[Any]]]]


# ------------------------------------------------------------------------------------------ parts
def test_a_slice(fuses: Fuses) -> None:
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %t = generic "square" domain (s0) ins (%x) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x f64
        %v = view %t [(d0) -> (d0 + 1)] : (s0 - 2) x f64
        %r = generic "negative" domain (s0 - 2) ins (%v) outs (write) { t0 = negative in0 : f64; yield t0 } : (s0 - 2) x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "negative+1" domain (s0 - 2) ins (%x [(d0) -> (d0 + 1)]) outs (write) { t0 = multiply in0, in0 : f64; t1 = negative t0 : f64; yield t1 } : (s0 - 2) x f64
        return %r
        """,
        (2, 1),
        fold_if_profitable,
    )


def test_a_flip_and_a_stride_with_an_index(fuses: Fuses) -> None:
    # `(x + arange)[::-1][::2]`: maps and index instructions are composed alike.
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %t = generic "ramp" domain (s0) ins (%x) outs (write) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; yield t2 } : s0 x f64
        %f = view %t [(d0) -> (s0 - 1 - d0)] : s0 x f64
        %v = view %f [(d0) -> (2 * d0)] : (s0 + 1) floordiv 2 x f64
        %r = generic "negative" domain ((s0 + 1) floordiv 2) ins (%v) outs (write) { t0 = negative in0 : f64; yield t0 } : (s0 + 1) floordiv 2 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "negative+1" domain ((s0 + 1) floordiv 2) ins (%x [(d0) -> (-2 * d0 + s0 - 1)]) outs (write) { t0 = index (-2 * d0 + s0 - 1) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; t3 = negative t2 : f64; yield t3 } : (s0 + 1) floordiv 2 x f64
        return %r
        """,
        (2, 1),
        fold_if_profitable,
    )


def test_a_transposed_producer_read_in_part(fuses: Fuses) -> None:
    # The permutation of the producer's result is undone before the slice.
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %t = generic "add" domain (s0, s1) ins (%m, %z [(d0, d1) -> (d1)]) outs (write [(d0, d1) -> (d1, d0)]) { t0 = add in0, in1 : f64; yield t0 } : s1 x s0 x f64
        %r = generic "negative" domain (s1 - 1, s0 - 2) ins (%t [(d0, d1) -> (d0 + 1, s0 - 1 - d1)]) outs (write) { t0 = negative in0 : f64; yield t0 } : (s1 - 1) x (s0 - 2) x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %r = generic "negative+1" domain (s1 - 1, s0 - 2) ins (%m [(d0, d1) -> (-d1 + s0 - 1, d0 + 1)], %z [(d0, d1) -> (d0 + 1)]) outs (write) { t0 = add in0, in1 : f64; t1 = negative t0 : f64; yield t1 } : (s1 - 1) x (s0 - 2) x f64
        return %r
        """,
        (2, 1),
        fold_if_profitable,
    )


def test_one_row_and_one_element(fuses: Fuses) -> None:
    # Constants and symbols in maps: the last row, and its first element.
    fuses(
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "square" domain (s0, s1) ins (%m) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x s1 x f64
        %r = generic "subtract" domain (s1) ins (%t [(d0) -> (s0 - 1, d0)], %t [(d0) -> (s0 - 1, 0)]) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "subtract+2" domain (s1) ins (%m [(d0) -> (s0 - 1, d0)], %m [(d0) -> (s0 - 1, 0)]) outs (write) { t0 = multiply in1, in1 : f64; t1 = multiply in0, in0 : f64; t2 = subtract t1, t0 : f64; yield t2 } : s1 x f64
        return %r
        """,
        (2, 1),
    )


def test_a_broadcast_slice_of_a_vector(fuses: Fuses) -> None:
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %m = load @m v0 : s0 x s1 x f64
        %t = generic "negative" domain (s0) ins (%x) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
        %r = generic "add" domain (s0 - 1, s1) ins (%m [(d0, d1) -> (d0 + 1, d1)], %t [(d0, d1) -> (d0)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : (s0 - 1) x s1 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "add+1" domain (s0 - 1, s1) ins (%m [(d0, d1) -> (d0 + 1, d1)], %x [(d0, d1) -> (d0)]) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : (s0 - 1) x s1 x f64
        return %r
        """,
        (2, 1),
        fold_if_profitable,
    )


# ------------------------------------------------------------------------ several dims, quotients
def test_windows(fuses: Fuses) -> None:
    # `r[i] = sum_k t[i + k] * z[k]`: the window of the producer is the window of its input.
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %t = generic "square" domain (s0) ins (%x) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x f64
        %r = generic "convolve" domain (s0 - 2, 3) iterators (parallel, reduction) ins (%t [(d0, d1) -> (d0 + d1)], %y [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) { t0 = multiply in0, in1 : f64; yield t0 } : (s0 - 2) x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "convolve+1" domain (s0 - 2, 3) iterators (parallel, reduction) ins (%x [(d0, d1) -> (d0 + d1)], %y [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) { t0 = multiply in0, in0 : f64; t1 = multiply t0, in1 : f64; yield t1 } : (s0 - 2) x f64
        return %r
        """,
        (2, 1),
    )


def test_each_element_twice(fuses: Fuses) -> None:
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %t = generic "ramp" domain (s0) ins (%x) outs (write) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; yield t2 } : s0 x f64
        %r = generic "negative" domain (2 * s0) ins (%t [(d0) -> (d0 floordiv 2)]) outs (write) { t0 = negative in0 : f64; yield t0 } : 2 * s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "negative+1" domain (2 * s0) ins (%x [(d0) -> ((d0) floordiv 2)]) outs (write) { t0 = index ((d0) floordiv 2) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; t3 = negative t2 : f64; yield t3 } : 2 * s0 x f64
        return %r
        """,
        (2, 1),
    )


# --------------------------------------------------------------------------------- stencil chains
def test_a_chain_of_three_differences(fuses: Fuses) -> None:
    # Equal loads and equal differences once: 6 subtractions, not 7, and 4 loads.
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %t = generic "diff" domain (s0 - 1) ins (%x [(d0) -> (d0 + 1)], %x) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : (s0 - 1) x f64
        %u = generic "diff" domain (s0 - 2) ins (%t [(d0) -> (d0 + 1)], %t) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : (s0 - 2) x f64
        %v = generic "diff" domain (s0 - 3) ins (%u [(d0) -> (d0 + 1)], %u) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : (s0 - 3) x f64
        return %v
        """,
        """
        %x = load @x v0 : s0 x f64
        %v = generic "diff+6" domain (s0 - 3) ins (%x [(d0) -> (d0 + 3)], %x [(d0) -> (d0 + 2)], %x [(d0) -> (d0 + 1)], %x) outs (write) { t0 = subtract in2, in3 : f64; t1 = subtract in1, in2 : f64; t2 = subtract t1, t0 : f64; t3 = subtract in0, in1 : f64; t4 = subtract t3, t1 : f64; t5 = subtract t4, t2 : f64; yield t5 } : (s0 - 3) x f64
        return %v
        """,
        (3, 1),
        fold_if_profitable,
    )


def test_a_chain_of_three_blurs(fuses: Fuses) -> None:
    # 5 points of the first stage, 3 of the second: cheaper than two more passes over memory.
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %t = generic "blur" domain (s0 - 2) ins (%x, %x [(d0) -> (d0 + 1)], %x [(d0) -> (d0 + 2)]) outs (write) { t0 = add in0, in1 : f64; t1 = add t0, in2 : f64; t2 = const 0.5 : f64; t3 = multiply t1, t2 : f64; yield t3 } : (s0 - 2) x f64
        %u = generic "blur" domain (s0 - 4) ins (%t, %t [(d0) -> (d0 + 1)], %t [(d0) -> (d0 + 2)]) outs (write) { t0 = add in0, in1 : f64; t1 = add t0, in2 : f64; t2 = const 0.5 : f64; t3 = multiply t1, t2 : f64; yield t3 } : (s0 - 4) x f64
        %v = generic "blur" domain (s0 - 6) ins (%u, %u [(d0) -> (d0 + 1)], %u [(d0) -> (d0 + 2)]) outs (write) { t0 = add in0, in1 : f64; t1 = add t0, in2 : f64; t2 = const 0.5 : f64; t3 = multiply t1, t2 : f64; yield t3 } : (s0 - 6) x f64
        return %v
        """,
        """
        %x = load @x v0 : s0 x f64
        %v = generic "blur+12" domain (s0 - 6) ins (%x, %x [(d0) -> (d0 + 1)], %x [(d0) -> (d0 + 2)], %x [(d0) -> (d0 + 3)], %x [(d0) -> (d0 + 4)], %x [(d0) -> (d0 + 5)], %x [(d0) -> (d0 + 6)]) outs (write) { t0 = add in4, in5 : f64; t1 = add t0, in6 : f64; t2 = const 0.5 : f64; t3 = multiply t1, t2 : f64; t4 = add in3, in4 : f64; t5 = add t4, in5 : f64; t6 = multiply t5, t2 : f64; t7 = add in2, in3 : f64; t8 = add t7, in4 : f64; t9 = multiply t8, t2 : f64; t10 = add t9, t6 : f64; t11 = add t10, t3 : f64; t12 = multiply t11, t2 : f64; t13 = add in1, in2 : f64; t14 = add t13, in3 : f64; t15 = multiply t14, t2 : f64; t16 = add t15, t9 : f64; t17 = add t16, t6 : f64; t18 = multiply t17, t2 : f64; t19 = add in0, in1 : f64; t20 = add t19, in2 : f64; t21 = multiply t20, t2 : f64; t22 = add t21, t15 : f64; t23 = add t22, t9 : f64; t24 = multiply t23, t2 : f64; t25 = add t24, t18 : f64; t26 = add t25, t12 : f64; t27 = multiply t26, t2 : f64; yield t27 } : (s0 - 6) x f64
        return %v
        """,
        (3, 1),
        fold_if_profitable,
    )


def test_a_stencil_into_a_reduction(fuses: Fuses) -> None:
    fuses(
        """
        %x = load @x v0 : s0 x f64
        %t = generic "diff" domain (s0 - 1) ins (%x [(d0) -> (d0 + 1)], %x) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : (s0 - 1) x f64
        %r = generic "sum" domain (s0 - 1) iterators (reduction) ins (%t) outs (add [(d0) -> ()]) { t0 = multiply in0, in0 : f64; yield t0 } : f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "sum+1" domain (s0 - 1) iterators (reduction) ins (%x [(d0) -> (d0 + 1)], %x) outs (add [(d0) -> ()]) { t0 = subtract in0, in1 : f64; t1 = multiply t0, t0 : f64; yield t1 } : f64
        return %r
        """,
        (2, 1),
        fold_if_profitable,
    )


# ---------------------------------------------------------------------------------- as functions
def differences(a: Any) -> Any:
    t = a[1:] - a[:-1]
    u = t[1:] - t[:-1]
    return u[1:] - u[:-1]


def flipped_blurs(a: Any) -> Any:
    t = (a[:-2] + a[1:-1] + a[2:])[::-1] * 0.5
    u = (t[:-2] + t[1:-1] + t[2:]) * 0.5
    return (u[:-2] + u[1:-1] + u[2:])[::2] * 0.5


def flipped_means(a: Any) -> Any:
    t = (a[:-2] + a[1:-1] + a[2:])[::-1] / 3
    u = (t[:-2] + t[1:-1] + t[2:]) * 0.5
    return (u[:-2] + u[1:-1] + u[2:])[::2] * 0.5


def smoothed_planes(a: Any) -> Any:
    t = a[:-1, 1:] + a[1:, :-1]
    u = t[:-1, 1:] + t[1:, :-1]
    return u[::-1].T - u[-1, 0]


def powers_of_neighbours(a: Any) -> Any:
    t = np.sqrt(a[1:]) * np.sqrt(a[:-1])
    return t[1:] + t[:-1]


@pytest.mark.parametrize(
    ("function", "shape", "num_ops"),
    [
        (differences, (3,), 1),
        (differences, (1000,), 1),
        (flipped_blurs, (9,), 1),
        (flipped_blurs, (1001,), 1),
        (flipped_means, (9,), 2),  # each quotient is needed at five points: kept, flipped
        (flipped_means, (1001,), 2),
        (smoothed_planes, (3, 3), 1),
        (smoothed_planes, (40, 31), 1),
        (powers_of_neighbours, (100,), 2),  # expensive: once per element, in tiles with a halo
    ],
)
def test_functions_fold_and_give_the_bits_of_numpy(
    function: Callable[..., Any], shape: tuple[int, ...], num_ops: int
) -> None:
    a = np.random.default_rng(1).random(shape)
    decorated = check(function, (a,), (a[::-1],), (np.asfortranarray(a),), variants=None)
    ops = decorated.trace(a).fuse().graph.block.ops
    assert sum(isinstance(op, GenericOp) for op in ops) == num_ops
