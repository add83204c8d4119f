# ruff: noqa: E501
"""Ops that only IR or MLIR text makes: quotients of reduced dims, plain writes beside sums, starts.

Each was a fault of code generation, or gave wrong numbers. Run unjitted and jitted, with and
without fusion, against the interpreter.
"""

from __future__ import annotations

import numpy as np
import pytest

from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import assert_same_results
from fusejit_testing.graphs.graph_launcher import launcher

HEAD = """graph @test
  symbol s0 = size(arg:m, 0)
  symbol s1 = size(arg:m, 1)
  buffer @m : s0 x s1 x f64 = arg:m class 0
  buffer @x : s0 x f64 = arg:x class 1
  buffer @z : s1 x f64 = arg:z class 2
{
  %m = load @m v0 : s0 x s1 x f64
  %x = load @x v0 : s0 x f64
  %z = load @z v0 : s1 x f64
"""
SUM_ROWS = "domain (s0, s1) iterators (parallel, reduction)"
SUM_COLUMNS = "domain (s0, s1) iterators (reduction, parallel)"
SUM_ALL = "domain (s0, s1) iterators (reduction, reduction)"
PRODUCT = "{ t0 = multiply in0, in1 : f64; yield t0 }"
CASES = {
    "quotient of a dim summed along rows": f"""
  %r = generic "sum" {SUM_ROWS} ins (%m, %z [(d0, d1) -> (d1 floordiv 2)]) outs (add [(d0, d1) -> (d0)]) {PRODUCT} : s0 x f64
  return %r""",
    "remainder of a dim summed down columns": f"""
  %r = generic "sum" {SUM_COLUMNS} ins (%m, %x [(d0, d1) -> (d0 mod 3)]) outs (add [(d0, d1) -> (d1)]) {PRODUCT} : s1 x f64
  return %r""",
    "quotient of a dim that stays, down columns": f"""
  %r = generic "sum" {SUM_COLUMNS} ins (%m, %z [(d0, d1) -> ((d1 + 1) floordiv 3)]) outs (add [(d0, d1) -> (d1)]) {PRODUCT} : s1 x f64
  return %r""",
    "quotient in a sum of everything": f"""
  %r = generic "sum" {SUM_ALL} ins (%m, %x [(d0, d1) -> ((d0 + 1) floordiv 2)]) outs (add [(d0, d1) -> ()]) {PRODUCT} : f64
  return %r""",
    "quotient of both dims in a maximum": f"""
  %r = generic "max" {SUM_ALL} ins (%m, %x [(d0, d1) -> (d0 floordiv 2)], %z [(d0, d1) -> (d1 mod 4)]) outs (max [(d0, d1) -> ()]) {{ t0 = multiply in0, in1 : f64; t1 = add t0, in2 : f64; yield t1 }} : f64
  return %r""",
    "quotient of integers": f"""
  %i = generic "index" domain (s1) ins () outs (write) {{ t0 = index (d0 + 3) : i64; yield t0 }} : s1 x i64
  %r = generic "sum" {SUM_ROWS} ins (%i [(d0, d1) -> (d1 floordiv 2)], %i [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) {{ t0 = multiply in0, in1 : i64; t1 = index (5 * d1 floordiv 2) : i64; t2 = add t0, t1 : i64; yield t2 }} : s0 x i64
  return %r""",
    "quotient in short rows of a vector function": """
  %r = generic "sqrt" domain (s0, s1) ins (%m, %z [(d0, d1) -> (d1 floordiv 2)]) outs (write) { t0 = add in0, in1 : f64; t1 = exp t0 : f64; yield t1 } : s0 x s1 x f64
  return %r""",
    "quotient in a sum of short rows of a vector function": f"""
  %r = generic "sum" {SUM_ROWS} ins (%m, %z [(d0, d1) -> (d1 floordiv 2)]) outs (add [(d0, d1) -> (d0)]) {{ t0 = add in0, in1 : f64; t1 = exp t0 : f64; yield t1 }} : s0 x f64
  return %r""",
    "write beside a sum along rows": f"""
  %r, %q = generic "sum" {SUM_ROWS} ins (%m) outs (add [(d0, d1) -> (d0)], write) {{ t0 = negative in0 : f64; yield in0, t0 }} : s0 x f64, s0 x s1 x f64
  return %r, %q""",
    "write before a sum of everything": f"""
  %q, %r = generic "sum" {SUM_ALL} ins (%m) outs (write [(d0, d1) -> (d1, d0)], add [(d0, d1) -> ()]) {{ t0 = negative in0 : f64; yield t0, in0 }} : s1 x s0 x f64, f64
  return %r, %q""",
    "writes alone over a reduction dim": f"""
  %q = generic "negative" {SUM_ROWS} ins (%m) outs (write) {{ t0 = negative in0 : f64; yield t0 }} : s0 x s1 x f64
  return %q""",
    "a start that a write beside a sum reads": f"""
  %q, %r = generic "sum" {SUM_ROWS} ins (%m) outs (write from %m, add [(d0, d1) -> (d0)]) {{ t0 = add in0, out0 : f64; yield t0, in0 }} : s0 x s1 x f64, s0 x f64
  return %r, %q""",
    "a start of a write that the sum reads": f"""
  %q, %r = generic "sum" {SUM_ROWS} ins (%m) outs (write from %m, add [(d0, d1) -> (d0)]) {{ t0 = add in0, out0 : f64; yield in0, t0 }} : s0 x s1 x f64, s0 x f64
  return %r, %q""",
    "a start of which a part is overwritten": """
  %q = generic "first" domain (s0 - 1) ins (%x) outs (write from %x) { t0 = negative in0 : f64; yield t0 } : s0 x f64
  return %q""",
    "a start of which one row is added to": """
  %q = generic "row" domain (s1) ins (%z) outs (write [(d0) -> (0, d0)] from %m) { t0 = add in0, out0 : f64; yield t0 } : s0 x s1 x f64
  %r = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%q) outs (add [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
  return %q, %r""",
    "a start after loops that become one": """
  %r = generic "max" domain (s0, s1, 2) iterators (parallel, parallel, reduction) ins (%m [(d0, d1, d2) -> (d0, d1)]) outs (max [(d0, d1, d2) -> (d0, d1)] from %m) { t0 = negative in0 : f64; yield t0 } : s0 x s1 x f64
  return %r""",
    "a start in another order than the loops": """
  %t = generic "turn" domain (s1, s0) ins (%m [(d0, d1) -> (d1, d0)]) outs (write) { yield in0 } : s1 x s0 x f64
  %v = view %t [(d0, d1) -> (d1, d0)] : s0 x s1 x f64
  %r = generic "max" domain (s0, s1, 2) iterators (parallel, parallel, reduction) ins (%m [(d0, d1, d2) -> (d0, d1)]) outs (max [(d0, d1, d2) -> (d0, d1)] from %v) { t0 = negative in0 : f64; yield t0 } : s0 x s1 x f64
  return %r, %t""",
    "subscripts that cancel in a loop without iterations": """
  %t = generic "column" domain (s0, 1) ins (%x [(d0, d1) -> (d0)]) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x 1 x f64
  %r = generic "nothing" domain (s0, 0) ins (%t [(d0, d1) -> (-d1 - 1, d1)]) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x 0 x f64
  return %r""",
}  # fmt: skip
SHAPES = ((8, 6), (3, 130), (40, 3), (1, 1))


def arguments(shape: tuple[int, int]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    rows, columns = shape
    return {
        "m": rng.normal(size=shape),
        "x": rng.normal(size=rows + 1)[:rows],
        "z": rng.normal(size=columns),
    }


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("case", CASES)
def test_kernels_give_what_the_interpreter_gives(case: str, jit: bool) -> None:
    graph = parse_graph(HEAD + CASES[case] + "\n}\n")
    verify(graph)
    has_exp = "exp" in CASES[case]  # NumPy's own may differ in the last bit
    for fusion in ("none", "aggressive"):
        launch = launcher(graph, jit=jit, fusion=fusion)
        for shape in SHAPES:
            given = arguments(shape)
            expected = interpret(graph, argument_paths(given))
            actual = launch(*given.values())
            if has_exp:
                for a, b in zip(actual, expected, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-13)
            else:
                assert_same_results(actual, expected, f"{fusion}, {shape}: ")
