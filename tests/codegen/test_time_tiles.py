"""Loops around nests move inside where points are columns or rows: source, and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fusejit import fuse_jit
from fusejit.codegen import pool
from fusejit.codegen.compile import ArgType, python_kernel
from fusejit.codegen.emit import emit_kernel
from fusejit.codegen.intrinsics import INTRINSICS, load_providers
from fusejit.codegen.time_tiles import move_time_loops
from fusejit.ir.loops import (
    Apply,
    Element,
    For,
    Integer,
    KernelParameter,
    Let,
    LoopKernel,
    ParallelFor,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.polynomial import Polynomial
from fusejit.testing.oracle import check

F8 = np.dtype(np.float64)
N, AT = Polynomial.name("n"), Polynomial.name("at0")


# --------------------------------------------------------------------------------------- programs
def down_the_rows(c: np.ndarray, d: np.ndarray) -> None:
    for i in range(1, len(c)):
        c[i] = 0.5 * c[i - 1] + d[i]
        d[i] = d[i] - c[i] * d[i - 1]


def up_the_rows(c: np.ndarray, d: np.ndarray) -> None:
    for i in range(len(c) - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]


def inside_a_border(c: np.ndarray, d: np.ndarray) -> None:
    for i in range(1, len(c)):
        c[i, 1:-1] = 0.5 * c[i - 1, 1:-1] + d[i, 1:-1]


def along_the_rows(c: np.ndarray, d: np.ndarray) -> None:
    for j in range(1, c.shape[1]):
        c[:, j] = 0.5 * c[:, j - 1] + d[:, j]


def diagonally(c: np.ndarray, d: np.ndarray) -> None:
    for i in range(1, len(c)):
        c[i, 1:] = 0.5 * c[i - 1, :-1] + d[i, 1:]


def back_and_forth(c: np.ndarray, d: np.ndarray) -> None:
    for i in range(1, len(c)):
        c[i] = c[i - 1] + d[i, ::-1]
        d[i - 1] = c[i]


MATRICES = np.linspace(0.1, 1.0, 42).reshape(6, 7), np.linspace(-1.0, 1.0, 42).reshape(6, 7)
SWEEPS = [down_the_rows, up_the_rows, inside_a_border, along_the_rows]


def source(function: Callable[..., Any]) -> str:
    return fuse_jit(function).trace(*MATRICES).fuse().lower().source


@pytest.mark.parametrize("program", SWEEPS, ids=lambda p: p.__name__)
def test_sweeps_move_inside(program: Callable[..., Any]) -> None:
    text = source(program)
    assert "for tile in range(" in text
    assert "\n    for at" not in text.split("def kernel(")[1]
    check(program, MATRICES, (MATRICES[0][:2], MATRICES[1][:2]), jit=True)


@pytest.mark.parametrize("program", [diagonally, back_and_forth], ids=lambda p: p.__name__)
def test_points_that_meet_stay(program: Callable[..., Any]) -> None:
    assert "for tile in range(" not in source(program)
    check(program, MATRICES, jit=True)


@pytest.mark.parametrize("program", SWEEPS, ids=lambda p: p.__name__)
def test_bits_on_one_thread_and_several(program: Callable[..., Any]) -> None:
    before, outcomes = pool.get_num_threads(), []
    compiled = fuse_jit(program)
    try:
        for threads in (1, 3):
            pool.set_num_threads(threads)
            c, d = (np.random.default_rng(k).random((40, 3000)) for k in (1, 2))
            compiled(c, d)
            outcomes.append((c.tobytes(), d.tobytes()))
    finally:
        pool.set_num_threads(before)
    c, d = (np.random.default_rng(k).random((40, 3000)) for k in (1, 2))
    program(c, d)
    assert outcomes == [(c.tobytes(), d.tobytes())] * 2


# ------------------------------------------------------------------------------------ random nests
ACCESS = st.tuples(
    st.sampled_from(["p_a0", "p_a1"]),
    st.integers(0, 2),  # rows for each iteration
    st.integers(0, 2),  # rows
    st.sampled_from([0, 0, 0, 1]),  # elements
)
NEST = st.lists(st.tuples(ACCESS, ACCESS), min_size=1, max_size=2)
WIDTHS = {"n": N, "n + 1": N + 1, "2 * n": N * 2}


def offset(access: tuple[str, int, int, int], width: Polynomial) -> Polynomial:
    _, often, rows, elements = access
    return (AT * often + rows) * width + Polynomial.name("d0") + elements


def nest(stores: list[Any], width: Polynomial) -> ParallelFor:
    points: list[Stmt] = []
    for at, (target, read) in enumerate(stores):
        value = Element(read[0], offset(read, width))
        points.append(Let(f"v{at}", value))
        points.append(Let(f"t{at}", Apply("({0} * 0.5 + 1.0)", (Var(f"v{at}"),))))
        points.append(StoreElement(target[0], offset(target, width), Var(f"t{at}")))
    return ParallelFor(Integer(N), Integer(N), [For("d0", Var("lo"), Var("hi"), points)])


def is_nest(stores: list[Any]) -> bool:
    """Whether the points of one iteration are independent."""
    written = {target for target, _ in stores}
    touched = [access for pair in stores for access in pair]
    return all(t == w for t in touched for w in written if t[0] == w[0])


def run(statements: list[Stmt], n: int) -> list[np.ndarray]:
    load_providers()
    arrays = [KernelParameter(name, F8, 1) for name in ("a0", "a1")]
    top: list[Stmt] = [
        Let(f"p_a{at}", Apply(f"flat_scoped(a{at}, {at + 1})", ())) for at in range(2)
    ]
    parameters = (*arrays, KernelParameter("n", np.dtype(np.int64)))
    kernel = LoopKernel("kernel", parameters, [*top, *statements])
    text = emit_kernel(kernel, frozenset(INTRINSICS))
    types = (ArgType("array", F8, 1), ArgType("array", F8, 1), ArgType("scalar", np.dtype("i8")))
    given_arrays = [np.arange(24.0 * n + 24) * k for k in (1.0, -0.5)]
    assert python_kernel(text, types)(*given_arrays, n) == 0
    return given_arrays


@settings(max_examples=300, deadline=None)
@given(
    st.lists(NEST.filter(is_nest), min_size=1, max_size=3),
    st.sampled_from(sorted(WIDTHS)),
    st.integers(0, 4),
    st.integers(1, 5),
)
@example(
    [[(("p_a0", 1, 1, 0), ("p_a1", 0, 0, 0))], [(("p_a1", 0, 0, 0), ("p_a0", 1, 0, 0))]], "n", 3, 4
)
@example(
    [[(("p_a0", 1, 1, 0), ("p_a1", 0, 0, 1))], [(("p_a1", 0, 0, 0), ("p_a0", 1, 0, 0))]], "n", 3, 4
)
def test_random_nests_compute_the_same(made: Any, width: str, trips: int, n: int) -> None:
    zero, end = Integer(Polynomial.const(0)), Integer(Polynomial.const(trips))
    body = [nest(stores, WIDTHS[width]) for stores in made]
    statements: list[Stmt] = [For("at0", zero, end, body)]
    moved = move_time_loops(statements, [])
    for a, b in zip(run(moved, n), run(statements, n), strict=True):
        np.testing.assert_array_equal(a, b)
    assert move_time_loops(moved, []) == moved
