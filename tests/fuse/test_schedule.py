# ruff: noqa: E501
"""Cutting into steps: which ops stand in which kernel."""

from __future__ import annotations

from collections.abc import Callable

from fusejit.fuse.grouping.form_steps import make_plan
from fusejit.ir.execution_plan import FusionReport, HostStep, KernelStep, LibraryStep, Step
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Alloc, Op, Store

Parse = Callable[[str], Graph]
EXP = "{ t0 = exp in0 : f64; yield t0 }"


def name(op: Op) -> str:
    if isinstance(op, Store):
        return f"store {op.view.buffer.name}"
    if isinstance(op, Alloc):
        return f"alloc {op.buffer.name}"
    return ", ".join(r.name for r in op.results) or type(op).__name__.lower()


def text(step: Step) -> str:
    if isinstance(step, KernelStep):
        return f"kernel({'; '.join(map(name, step.ops))})"
    kind = {LibraryStep: "library", HostStep: "host"}[type(step)]
    return f"{kind}({name(step.op)})"


def steps(graph: Graph) -> list[str]:
    return [text(s) for s in make_plan(graph, graph, FusionReport()).steps]


def test_one_kernel_holds_nests_stores_and_loops_in_order(parse: Parse) -> None:
    graph = parse(
        f"""
        %x = load @x v0 : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        store @y v1 = %a
        for i0 = 0 to 3 step 1 {{
          store @z v2 [() -> (i0)] () = %o
        }}
        return %a
        """.replace("%a =", "%o = load @o v0 : f64\n%a =")
    )
    assert steps(graph) == ["kernel(x; o; a; store y; loop)"]


def test_a_library_call_cuts_and_loads_go_where_they_are_read(parse: Parse) -> None:
    graph = parse(
        f"""
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %x = load @x v0 : s0 x f64
        %v = view %x [(d0) -> (s0 - 1 - d0)] : s0 x f64
        %e = generic "exp" domain (s1) ins (%z) outs (write) {EXP} : s1 x f64
        %p = generic "matvec" domain (s0, s1) iterators (parallel, reduction) ins (%m, %e [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) library_call "matmul" {{ t0 = multiply in0, in1 : f64; yield t0 }} : s0 x f64
        %q = generic "add" domain (s0) ins (%p, %v) outs (write) {{ t0 = add in0, in1 : f64; yield t0 }} : s0 x f64
        %r = host_call "numpy.sort"(%q) : s0 x f64
        %s = generic "add" domain (s0) ins (%r, %v) outs (write) {{ t0 = add in0, in1 : f64; yield t0 }} : s0 x f64
        return %s
        """
    )
    assert steps(graph) == [
        "kernel(z; e)",
        "library(p)",
        "kernel(x; v; q)",
        "host(r)",
        "kernel(x; v; s)",
    ]


def test_what_only_a_library_call_reads_is_in_no_kernel(parse: Parse) -> None:
    graph = parse(
        """
        %m = load @m v0 : s0 x s1 x f64
        %t = view %m [(d0, d1) -> (d1, d0)] : s1 x s0 x f64
        %p = generic "matmul" domain (s0, s0, s1) iterators (parallel, parallel, reduction) ins (%m [(d0, d1, d2) -> (d0, d2)], %t [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1, d2) -> (d0, d1)]) library_call "matmul" { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s0 x f64
        return %p
        """
    )
    assert steps(graph) == ["library(p)"]


def test_a_load_that_stands_for_a_copy_stays_in_its_place(parse: Parse) -> None:
    # The copy of x is made by the first kernel, although only the second reads it.
    graph = parse(
        f"""
        %x = load @x v0 : s0 x f64
        %y = load @y v0 : s0 x f64
        store @x v1 = %y
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %p = generic "matvec" domain (s0, s1) iterators (parallel, reduction) ins (%m, %z [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) library_call "matmul" {{ t0 = multiply in0, in1 : f64; yield t0 }} : s0 x f64
        %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        return %a, %p
        """
    )
    assert steps(graph) == ["kernel(x; y; store x)", "library(p)", "kernel(a)"]


def test_a_load_that_is_handed_out_is_a_copy(parse: Parse) -> None:
    graph = parse(
        """
        %a = load @x v0 [() -> (0)] : f64 scalar
        return %a
        """
    )
    assert steps(graph) == ["kernel(a)"]


def test_allocs_go_to_every_kernel_that_touches_the_buffer(parse: Parse) -> None:
    graph = parse(
        """
        alloc @t : s0 x f64 class 9
        alloc @unused : s0 x f64 class 10
        %x = load @x v0 : s0 x f64
        store @t v1 = %x
        %r = host_call "f"(%x) : s0 x f64
        %l = load @t v1 : s0 x f64
        %e = generic "add" domain (s0) ins (%l, %r) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
        return %e
        """
    )
    assert steps(graph) == ["kernel(alloc t; x; store t)", "host(r)", "kernel(alloc t; l; e)"]


def test_generic_ops_and_stores_are_counted(parse: Parse) -> None:
    graph = parse(
        f"""
        %x = load @x v0 : s0 x f64
        for i0 = 0 to 3 step 1 {{
          %a = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
          store @y v2 = %a
        }}
        return
        """
    )
    report = FusionReport()
    schedule = make_plan(graph, graph, report)
    assert (report.ops_before, report.ops_after) == (2, 2)
    assert schedule.report is report
