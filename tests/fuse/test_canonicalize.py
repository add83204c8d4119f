# ruff: noqa: E501
"""Canonicalisation, pass by pass: body before, body after."""

from __future__ import annotations

from collections.abc import Callable

from fusejit.fuse.canonical.canonicalize import canonicalize, simplify_payloads
from fusejit.fuse.canonical.common_subexpressions import eliminate_common_subexpressions
from fusejit.fuse.canonical.constants import detach_starts, fold_constants
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.canonical.fold_views import compose_views
from fusejit.ir.graph import Graph

Becomes = Callable[[Callable[[Graph], Graph], str, str], None]
EXP = "{ t0 = exp in0 : f64; yield t0 }"
ADD = "{ t0 = add in0, in1 : f64; yield t0 }"


# ------------------------------------------------------------------------------------------- views
def test_operands_read_through_chains_of_views(becomes: Becomes) -> None:
    becomes(
        canonicalize,
        f"""
        %t = generic "exp" domain (s0, s1) ins (%a) outs (write) {EXP} : s0 x s1 x f64
        %u = view %t [(d0, d1) -> (d1, d0)] : s1 x s0 x f64
        %v = view %u [(d0) -> (1, d0)] : s0 x f64
        %r = generic "exp" domain (s0) ins (%v) outs (write) {EXP} : s0 x f64
        return %r
        """.replace("%t =", "%a = load @m v0 : s0 x s1 x f64\n%t ="),
        f"""
        %a = load @m v0 : s0 x s1 x f64
        %t = generic "exp" domain (s0, s1) ins (%a) outs (write) {EXP} : s0 x s1 x f64
        %r = generic "exp" domain (s0) ins (%t [(d0) -> (d0, 1)]) outs (write) {EXP} : s0 x f64
        return %r
        """,
    )


def test_fresh_parts_are_read_from_whole_buffers(becomes: Becomes) -> None:
    becomes(
        canonicalize,
        f"""
        %a = load @x v0 [(d0) -> (d0 + 1)] : (s0 - 1) x f64
        %b = load @x v0 [(d0) -> (d0)] : (s0 - 1) x f64
        %r = generic "add" domain (s0 - 1) ins (%a, %b) outs (write) {ADD} : (s0 - 1) x f64
        return %r
        """,
        f"""
        %x = load @x v0 : s0 x f64
        %r = generic "add" domain (s0 - 1) ins (%x [(d0) -> (d0 + 1)], %x) outs (write) {ADD} : (s0 - 1) x f64
        return %r
        """,
    )


def test_stale_parts_stay_parts(becomes: Becomes) -> None:
    # a, b = x[0], x[1]; x[0] = b; x[1] = a: only one element has to be copied.
    body = f"""
        %a = load @x v0 [() -> (0)] : f64
        %b = load @x v0 [() -> (1)] : f64
        store @x v1 [() -> (0)] () = %b
        %r = generic "exp" domain () ins (%a) outs (write) {EXP} : f64
        store @x v2 [() -> (1)] () = %r
        return
        """
    becomes(canonicalize, body, body)


def test_a_view_of_a_stale_load_is_a_stale_load_of_the_part(becomes: Becomes) -> None:
    becomes(
        canonicalize,
        f"""
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        store @x v1 = %y
        %v = view %x [() -> (0)] : f64
        %r = generic "exp" domain () ins (%v) outs (write) {EXP} : f64
        return %r
        """,
        f"""
        %v = load @x v0 [() -> (0)] : f64
        %y = load @y v0 : s0 x f64
        store @x v1 = %y
        %r = generic "exp" domain () ins (%v) outs (write) {EXP} : f64
        return %r
        """,
    )


def test_library_calls_and_gathers_keep_their_views(becomes: Becomes) -> None:
    body = """
        %m = load @m v0 : s0 x s1 x f64
        %i = load @o v0 : f64
        %t = generic "neg" domain (s0, s1) ins (%m) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x s1 x f64
        %v = view %t [(d0, d1) -> (d1, d0)] : s1 x s0 x f64
        %p = generic "matmul" domain (s0, s0, s1) iterators (parallel, parallel, reduction) ins (%t [(d0, d1, d2) -> (d0, d2)], %v [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1, d2) -> (d0, d1)]) library_call "matmul" { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s0 x f64
        %g = generic "take" domain (s1) ins (%v [(d0) -> (0, 0)]) outs (write) { t0 = index (d0) : i64; t1 = const 0 : i64; t2 = extract in0[t0, t1] : f64; yield t2 } : s1 x f64
        return %p, %g
        """
    becomes(compose_views, body, body)


# --------------------------------------------------------------------------------------- constants
def test_fills_with_different_maps_become_constants(becomes: Becomes) -> None:
    becomes(
        canonicalize,
        f"""
        %z = generic "zeros" domain (s0, s1) ins () outs (write) {{ t0 = const 0.0 : f64; yield t0 }} : s0 x s1 x f64
        %c = constant 2.5 : f64
        %f = view %c [(d0) -> ()] : s1 x f64
        %s = generic "mul" domain (s0, s1) ins (%z, %f [(d0, d1) -> (d1)]) outs (write) {{ t0 = subtract in0, in1 : f64; yield t0 }} : s0 x s1 x f64
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "add" domain (s0, s1) ins (%m, %s) outs (write) {ADD} : s0 x s1 x f64
        return %r
        """,
        """
        %m = load @m v0 : s0 x s1 x f64
        %r = generic "add" domain (s0, s1) ins (%m) outs (write) { t0 = const -2.5 : f64; t1 = add in0, t0 : f64; yield t1 } : s0 x s1 x f64
        return %r
        """,
    )


def test_starts_are_cut_loose_or_become_inputs(becomes: Becomes) -> None:
    becomes(
        detach_starts,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %a = generic "shape" domain (s0) ins (%x) outs (write from %y) { yield in0 } : s0 x f64
        %b = generic "acc" domain (s0) ins (%x) outs (write from %y) { t0 = add out0, in0 : f64; yield t0 } : s0 x f64
        return %a, %b
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %a = generic "shape" domain (s0) ins (%x) outs (write) { yield in0 } : s0 x f64
        %b = generic "acc" domain (s0) ins (%x, %y) outs (write) { t0 = add in1, in0 : f64; yield t0 } : s0 x f64
        return %a, %b
        """,
    )


def test_a_start_that_shows_through_stays(becomes: Becomes) -> None:
    body = """
        %x = load @x v0 : s0 x f64
        %z = load @z v0 : s1 x f64
        %a = generic "part" domain (s0 - 1) ins (%x) outs (write from %x) { yield in0 } : s0 x f64
        %s = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%z [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)] from %x) { yield in0 } : s0 x f64
        return %a, %s
        """
    becomes(detach_starts, body, body)


def test_library_calls_keep_constant_operands(becomes: Becomes) -> None:
    body = """
        %z = generic "ones" domain (s0, s1) ins () outs (write) { t0 = const 1.0 : f64; yield t0 } : s0 x s1 x f64
        %z1 = load @z v0 : s1 x f64
        %p = generic "matvec" domain (s0, s1) iterators (parallel, reduction) ins (%z, %z1 [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) library_call "matmul" { t0 = multiply in0, in1 : f64; yield t0 } : s0 x f64
        return %p
        """
    becomes(fold_constants, body, body)


# ------------------------------------------------------------------------------- operands, payloads
def test_equal_operands_merge_and_dead_ones_go(becomes: Becomes) -> None:
    becomes(
        simplify_payloads,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "square" domain (s0) ins (%x, %y, %x) outs (write) { t0 = multiply in0, in2 : f64; yield t0 } : s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %r = generic "square" domain (s0) ins (%x) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x f64
        return %r
        """,
    )


# ------------------------------------------------------------------------------------ CSE and DCE
def test_equal_ops_are_computed_once(becomes: Becomes) -> None:
    becomes(
        canonicalize,
        f"""
        %x = load @x v0 : s0 x f64
        %x2 = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %b = generic "exp again" domain (s0) ins (%x2) outs (write) {EXP} : s0 x f64
        %r = generic "add" domain (s0) ins (%a, %b) outs (write) {ADD} : s0 x f64
        return %r
        """,
        f"""
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %r = generic "add" domain (s0) ins (%a) outs (write) {{ t0 = add in0, in0 : f64; yield t0 }} : s0 x f64
        return %r
        """,
    )


def test_loads_of_different_versions_stay_apart(becomes: Becomes) -> None:
    body = f"""
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %a = generic "add" domain (s0) ins (%x, %y) outs (write) {ADD} : s0 x f64
        store @x v1 = %a
        %x2 = load @x v1 : s0 x f64
        %b = generic "add" domain (s0) ins (%x2, %y) outs (write) {ADD} : s0 x f64
        return %b
        """
    becomes(eliminate_common_subexpressions, body, body)


def test_values_that_are_handed_out_stay_apart(becomes: Becomes) -> None:
    # return exp(x), exp(x), and views of two equal arrays: NumPy makes two arrays.
    body = f"""
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %b = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        return %a, %b
        """
    becomes(eliminate_common_subexpressions, body, body)
    body = f"""
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %b = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %c = view %b [(d0) -> (s0 - 1 - d0)] : s0 x f64
        return %a, %c
        """
    becomes(eliminate_common_subexpressions, body, body)


def test_nothing_is_said_of_ops_that_nothing_reads(becomes: Becomes) -> None:
    body = f"""
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %b = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        return %a
        """
    becomes(eliminate_common_subexpressions, body, body)


def test_a_handed_out_value_serves_the_inner_ones(becomes: Becomes) -> None:
    becomes(
        canonicalize,
        f"""
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %b = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %r = generic "exp" domain (s0) ins (%a) outs (write) {EXP} : s0 x f64
        return %b, %r
        """,
        f"""
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        %r = generic "exp" domain (s0) ins (%a) outs (write) {EXP} : s0 x f64
        return %a, %r
        """,
    )


def test_dead_results_and_ops_go_effects_stay(becomes: Becomes) -> None:
    becomes(
        eliminate_dead_ops,
        f"""
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        %dead = generic "exp" domain (s0) ins (%y) outs (write) {EXP} : s0 x f64
        %a, %b = generic "two" domain (s0) ins (%x, %y) outs (write, write) {{ t0 = exp in0 : f64; t1 = exp in1 : f64; yield t0, t1 }} : s0 x f64, s0 x f64
        %h = host_call "numpy.sort"(%b)  : s0 x f64
        for i0 = 0 to 3 step 1 {{
          %l = load @x v1 [() -> (i0)] : f64
          %k = generic "exp" domain () ins (%l) outs (write) {EXP} : f64
          store @x v2 [() -> (i0)] () = %l
        }}
        return
        """,
        """
        %y = load @y v0 : s0 x f64
        %b = generic "two" domain (s0) ins (%y) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64
        %h = host_call "numpy.sort"(%b)  : s0 x f64
        for i0 = 0 to 3 step 1 {
          %l = load @x v1 [() -> (i0)] : f64
          store @x v2 [() -> (i0)] () = %l
        }
        return
        """,
    )
