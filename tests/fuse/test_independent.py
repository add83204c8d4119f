"""Which loops of the program are marked parallel, and what is said about the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.fuse.loops.independent import mark_independent_loops
from fusejit.ir.ops import Loop, walk
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.stages import Fused

N = 12
PLUS = "{ t0 = add in0, in1 : f64; yield t0 }"


def fused(function: Callable[..., Any], *args: Any) -> Fused:
    return fuse_jit(function).trace(*args).fuse()


def rules(function: Callable[..., Any], *args: Any) -> list[str]:
    """The rule of each counted loop, in program order of the outermost ones."""
    return [note.rule for note in fused(function, *args).report.loops]


def vector() -> np.ndarray:
    return np.linspace(0.5, 2.0, N)


def matrix() -> np.ndarray:
    return np.linspace(0.5, 2.0, N * N).reshape(N, N)


# -------------------------------------------------------------------------------- independent ones
def own_element(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        y[i] = np.sin(x[i])


def own_row(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        y[i] = x[i] * 2.0
        y[i, 1:] += y[i, :-1]


def own_column(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        y[:, i] = x[i] * 2.0


def shifted_alike(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x) - 2):
        y[i + 2] = y[i + 2] * x[i]


def pairs_of_elements(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x) // 2):
        y[2 * i] = x[i] + 1.0
        y[2 * i + 1] = y[2 * i] * x[i]


def backwards(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x) - 1, -1, -1):
        y[i] = x[i] + y[i]


def every_third(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(0, len(x) - 2, 3):
        y[i] = y[i + 1] + y[i + 2] + x[i]


def triangle(a: np.ndarray, b: np.ndarray) -> None:
    for i in range(len(a)):
        for j in range(i):
            b[i, j] = a[i, j] + a[j, i]


def own_scratch(a: np.ndarray, b: np.ndarray) -> None:
    for i in range(len(a)):
        row = a[i].copy()
        for j in range(1, len(row)):
            row[j] += row[j - 1]
        b[i] = row


def rows_below(a: np.ndarray, b: np.ndarray) -> None:
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            a[i, k:] = a[i, k:] - a[k, k:] * b[i, k]


INDEPENDENT = [
    (own_element, vector),
    (own_row, matrix),
    (own_column, matrix),
    (shifted_alike, vector),
    (pairs_of_elements, vector),
    (backwards, vector),
    (every_third, vector),
    (triangle, matrix),
    (own_scratch, matrix),
]


@pytest.mark.parametrize(("program", "made"), INDEPENDENT, ids=lambda p: p.__name__)
def test_the_outermost_loop_is_parallel(program: Callable[..., Any], made: Any) -> None:
    stage = fused(program, made(), made())
    loops = [op for op in walk(stage.graph.block) if isinstance(op, Loop)]
    assert [op.is_parallel for op in loops] == [True] + [False] * (len(loops) - 1)
    assert [note.rule for note in stage.report.loops] == ["independent"]
    assert " parallel {" in print_graph(stage.graph)


def test_rows_below_the_pivot_are_independent() -> None:
    assert rules(rows_below, matrix(), matrix()) == ["not its own elements", "independent"]


# ---------------------------------------------------------------------------------------- hazards
def previous_element(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]


def previous_row(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]


def next_row(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x) - 1):
        y[i] = y[i + 1] + x[i]


def at_computed_places(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        y[int(x[i])] = x[i]


def always_the_first(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        y[0] = y[0] + x[i]


def two_strides(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x) // 2):
        y[2 * i] = y[i] + x[i]


def overlapping_blocks(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x) - 2):
        y[i : i + 3] = x[i]


def through_the_transpose(a: np.ndarray, b: np.ndarray) -> None:
    t = b.T
    for i in range(len(a)):
        b[i, 0] = t[i, 1] + a[i, 0]


def whole_array(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        y[i] = y.max() + x[i]


def through_a_reshape(x: np.ndarray, a: np.ndarray) -> None:
    flat = a.reshape(-1)
    for i in range(len(a)):
        a[i] = flat[i] + x[i]


def reads_the_pivot_inside(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        y[i] = y[3] + x[i]


HAZARDS = [
    (previous_element, vector, vector, "neighbouring elements"),
    (previous_row, matrix, matrix, "neighbouring elements"),
    (next_row, matrix, matrix, "neighbouring elements"),
    (always_the_first, vector, vector, "not its own elements"),
    (two_strides, vector, vector, "neighbouring elements"),
    (overlapping_blocks, vector, vector, "not its own elements"),
    (through_the_transpose, matrix, matrix, "neighbouring elements"),
    (whole_array, vector, vector, "not its own elements"),
    (through_a_reshape, vector, matrix, "one memory"),
    (reads_the_pivot_inside, vector, vector, "not its own elements"),
]


def _name(value: Any) -> str:
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(("program", "first", "second", "rule"), HAZARDS, ids=_name)
def test_iterations_that_meet_are_kept_in_order(
    program: Callable[..., Any], first: Any, second: Any, rule: str
) -> None:
    stage = fused(program, first(), second())
    assert not any(isinstance(op, Loop) and op.is_parallel for op in walk(stage.graph.block))
    assert stage.report.loops[-1].rule == rule


@pytest.mark.parametrize(
    ("bounds", "parallel"), [("1 to s0 step 1", True), ("s0 - 1 to -1 step -1", False)]
)
def test_an_element_that_one_iteration_writes_and_all_read(bounds: str, parallel: bool) -> None:
    text = f"""graph @f
  symbol s0 = size(arg:x, 0)
  buffer @x : s0 x f64 = arg:x class 0
{{
  for i0 = {bounds} {{
    %x = load @x v1 : s0 x f64
    %a = view %x [() -> (i0)] : f64 scalar
    %b = view %x [() -> (0)] : f64 scalar
    %c = generic "add" domain () ins (%a, %b) outs (write) {PLUS} : f64 scalar
    store @x v2 [() -> (i0)] () = %c
  }}
  return
}}
"""
    (loop,) = mark_independent_loops(parse_graph(text)).block.ops
    assert isinstance(loop, Loop)
    assert loop.is_parallel == parallel


def test_computed_places_may_be_equal() -> None:
    stage = fused(at_computed_places, np.zeros(N), vector())
    assert {note.rule for note in stage.report.loops} <= {"may raise", "not its own elements"}
    assert stage.report.loops


def running_total(x: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + x[i]
    return total


def with_a_product(a: np.ndarray, b: np.ndarray) -> None:
    for i in range(len(a)):
        b[i] = a @ a[i]


def test_what_else_keeps_the_order() -> None:
    assert rules(running_total, vector()) == ["carried"]
    assert rules(with_a_product, matrix(), matrix()) == ["BLAS"]


def late_index(x: np.ndarray, at: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(at)):
        y[i] = x[at[i]]


def early_index(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    y = np.zeros(len(at))
    for i in range(len(at)):
        y[i] = x[at[i]]
    return y


def test_an_error_behind_stores_to_an_argument_keeps_the_order() -> None:
    places = np.arange(N)
    assert "may raise" in rules(late_index, vector(), places, vector())
    assert rules(early_index, vector(), places) == ["independent"]


def convolved(x: np.ndarray, k: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        for j in range(len(k)):
            y[i + j] = y[i + j] + x[i] * k[j]


def test_small_bodies_inside_a_serial_loop_stay_there() -> None:
    args = vector(), vector(), np.zeros(2 * N)
    assert rules(convolved, *args) == ["not its own elements", "small body"]


# ----------------------------------------------------------------------------------------- in text
def test_the_mark_is_printed_and_read_back() -> None:
    graph = fused(own_element, vector(), vector()).graph
    text = print_graph(graph)
    assert print_graph(parse_graph(text)) == text
    unmarked = parse_graph(text.replace(" parallel {", " {"))
    assert print_graph(mark_independent_loops(unmarked)) == text
    serial = fused(previous_element, vector(), vector()).graph
    assert mark_independent_loops(serial) is serial


def test_explain_names_line_variable_and_reason() -> None:
    text = fuse_jit(previous_element).explain(vector(), vector(), detail=True)
    line = previous_element.__code__.co_firstlineno
    assert f"test_independent.py:{line + 1}  for i in range(1, len(x)):" in text
    assert "iterations one after the other: `y` is written and read at different" in text
    assert f"[neighbouring elements]  (test_independent.py:{line + 2})" in text
    text = fuse_jit(own_element).explain(vector(), vector(), detail=True)
    assert "iterations in parallel: no iteration touches what another one writes" in text
