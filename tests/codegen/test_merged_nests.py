"""Nests over the same points become one, and loops around them move inside: source, and answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fusejit import fuse_jit
from fusejit.codegen.backend.compile import ArgType, python_kernel
from fusejit.codegen.intrinsics.intrinsic_table import load_providers
from fusejit.codegen.loop_passes.loop_fusion import merge_nests
from fusejit.codegen.loop_passes.temporal_tiling import tile_time_loops
from fusejit.codegen.printer.outlining import outlined
from fusejit.codegen.printer.statement_printer import emit_kernel
from fusejit.ir.loops.index_math import BOOL, let, number, operand
from fusejit.ir.loops.mentioned_names import free_names
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    For,
    Free,
    If,
    Integer,
    KernelParameter,
    Let,
    LoopKernel,
    Number,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import scalar
from fusejit.ir.verifier.loop_rules import verify_kernel

F8 = np.dtype(np.float64)


def source(function: Callable[..., Any], *args: Any, **options: Any) -> str:
    return fuse_jit(function, **options).trace(*args).fuse().lower().source


def num_nests(function: Callable[..., Any], *args: Any) -> int:
    return len(re.findall(r"^def chunk", source(function, *args), re.MULTILINE))


def check(function: Callable[..., Any], *args: Any) -> None:
    """Results and modified arguments have NumPy's bits."""
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    expected = function(*theirs)
    f = fuse_jit(function)
    actual = f(*mine)
    assert not f.variants.fallbacks
    np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


# -- programs -------------------------------------------------------------------------------------
def keep_two(x, steps):
    seen = np.empty((steps, len(x)))
    for i in range(steps):
        x = 1.5 * x * (1 - x)
        seen[i] = x
    return seen


def escape(x, y, count, steps):
    zx = np.zeros_like(x)
    zy = np.zeros_like(y)
    for i in range(steps):
        inside = zx * zx + zy * zy < 4.0
        count[inside] = i
        new = zx * zx - zy * zy + x
        zy[inside] = (2 * zx * zy + y)[inside]
        zx[inside] = new[inside]
    return zx


def neighbours(x, y, steps):
    for _ in range(steps):
        x[:-1] = y[:-1] * 0.5
        y[:-1] = x[1:] + 1.0  # reads what the store in front did not write at the same point
    return x


def columns(v, w):
    out = np.empty((len(v), 2))
    out[:, 0] = v * w
    out[:, 1] = v + w
    return out


def sums_behind(x, y, steps):
    total = 0.0
    for _ in range(steps):
        x[:] = x * 0.5 + y
        total = total + x.sum()
        y[:] = y - x
    return total


def rows(a, steps):
    for _ in range(steps):
        a[...] = a * 0.5 + 1.0
    return a


def numbers(n=37):
    rng = np.random.default_rng(3)
    return rng.normal(size=n), rng.normal(size=n)


@pytest.mark.parametrize("n", [1, 2, 37, 700])
@pytest.mark.parametrize("steps", [5, 6])
def test_answers(n: int, steps: int) -> None:
    x, y = numbers(n)
    check(keep_two, np.abs(x) % 1, steps)
    check(escape, x, y, np.zeros(n, dtype=np.int64), steps)
    check(neighbours, x, y, steps)
    check(columns, x, y)
    check(rows, np.outer(x, y[: n // 2 + 1]), steps)


def test_sums_between_nests() -> None:
    x, y = numbers(300)
    expected = sums_behind(x.copy(), y.copy(), 6)
    np.testing.assert_allclose(fuse_jit(sums_behind)(x, y, 6), expected, rtol=1e-13)


def test_a_value_that_is_stored_twice_is_computed_in_one_nest() -> None:
    text = source(keep_two, numbers()[0], 6)
    assert re.search(r"for at0 in range\(s\d\):\n +for d0 in range\(tile_start, tile_stop\)", text)
    assert num_nests(keep_two, numbers()[0], 6) == 2  # a copy of x, and the loop


def test_masked_stores_share_a_nest_and_the_mask_is_no_array() -> None:
    x, y = numbers()
    text = source(escape, x, y, np.zeros(37, dtype=np.int64), 6)
    assert "boolean, " not in text  # no scratch of bools
    assert len(re.findall(r"^def chunk", text, re.MULTILINE)) == 2


def test_neighbours_stay_apart() -> None:
    text = source(neighbours, *numbers(), 6)
    loop = text[text.index("for at0") :]
    assert loop.count("_for(chunk") == 2
    assert "tile_start" not in text


def test_columns_of_one_array_share_a_nest() -> None:
    assert num_nests(columns, *numbers()) == 1


def test_fusion_none_merges_nothing() -> None:
    assert "tile_start" not in source(keep_two, numbers()[0], 6, fusion="none")


def test_explain_says_why() -> None:
    text = fuse_jit(keep_two).explain(numbers()[0], 6, detail=True)
    assert "nests written as one loop:" in text
    assert "[same points]" in text
    assert "[points never meet]" in text


def test_memory_that_only_feeds_memory_that_nobody_reads_is_dropped() -> None:
    size = Integer(N)
    statements: list[Stmt] = [
        Scratch("p_t0", size, F8, False, 0, 4),
        Scratch("p_t1", size, F8, False, 0, 4),
        nest("d0", [("p_t0", 0, "p_a0", 0, False)]),
        nest("d1", [("p_t1", 0, "p_t0", 0, True)]),
        Free("p_t0"),
        Free("p_t1"),
    ]
    assert merge_nests(statements, []) == []
    kept = [*statements[:-2], nest("d2", [("p_a1", 0, "p_t1", 0, False)]), *statements[-2:]]
    names = [s.name for s in merge_nests(kept, []) if isinstance(s, Scratch)]
    assert names == ["p_t1"]  # stored under a mask: what it was before may be read


# -- random statements ----------------------------------------------------------------------------
D, N = Polynomial.name("d0"), Polynomial.name("n")
OFFSETS = (D, D, D + 1, D * 2, D * 2 + 1)
POINTERS = ("p_a0", "p_a1", "p_t0", "p_t1")


def nest(var: str, stores: list[tuple[str, int, str, int, bool]]) -> ParallelFor:
    body: list[Stmt] = []
    for at, (target, there, source, here, masked) in enumerate(stores):
        body.append(Let(f"v{at}", Element(source, _in(OFFSETS[here], var))))
        body.append(Let(f"t{at}", scalar("add", Var(f"v{at}"), Number(at + 1.0, F8), dtype=F8)))
        store = StoreElement(target, _in(OFFSETS[there], var), Var(f"t{at}"))
        if masked:
            body.append(
                If(scalar("greater", Var(f"v{at}"), Number(2.0, F8), dtype=BOOL, of=F8), [store])
            )
        else:
            body.append(store)
    loop = For(var, Var("lo"), Var("hi"), body)
    return ParallelFor(Integer(N), Integer(N), [loop], "nest")


def _in(offset: Polynomial, var: str) -> Polynomial:
    return offset.substitute("d0", Polynomial.name(var))


def is_parallel(stores: list[tuple[str, int, str, int, bool]]) -> bool:
    """Whether the points of one nest may run in any order, as those of every op may."""
    written: dict[str, set[int]] = {}
    for target, there, *_ in stores:
        written.setdefault(target, set()).add(there)
    touched = [(t, i) for t, i, *_ in stores] + [(p, i) for _, _, p, i, _ in stores]
    kinds = {0: 0, 1: 0, 2: 2, 3: 3, 4: 4}
    return all(
        {kinds[i] for p, i in touched if p == pointer} <= {kinds[next(iter(own))]}
        for pointer, own in written.items()
    )


STORE = st.tuples(
    st.sampled_from(POINTERS),
    st.integers(0, 4),
    st.sampled_from(POINTERS),
    st.integers(0, 4),
    st.booleans(),
)
NEST = st.lists(STORE, min_size=1, max_size=2).filter(is_parallel)
PROGRAM = st.tuples(st.lists(NEST, min_size=2, max_size=4), st.booleans(), st.integers(0, 3))


def program(nests: list[list[Any]], looped: bool, trips: int) -> list[Stmt]:
    size = N * 2 + 2
    begin: list[Stmt] = []
    for name in ("p_t0", "p_t1"):
        begin.append(Scratch(name, Integer(size), F8, False, 0, 4))
        fill = [StoreElement(name, Polynomial.name("i"), Number(0.25, F8))]
        begin.append(For("i", Integer(Polynomial.const(0)), Integer(size), fill))
    body: list[Stmt] = [nest(f"d{at}", stores) for at, stores in enumerate(nests)]
    if looped:
        zero, end = Integer(Polynomial.const(0)), Integer(Polynomial.const(trips))
        body = [For("at0", zero, end, body)]
    return [*begin, *body, Free("p_t0"), Free("p_t1")]


def run(statements: list[Stmt], n: int) -> tuple[np.ndarray, np.ndarray]:
    load_providers()
    arrays = [KernelParameter(name, F8, 1) for name in ("a0", "a1")]
    top: list[Stmt] = [
        Let(f"p_a{at}", Call("flat_scoped", (Var(f"a{at}"), operand(at + 1)))) for at in range(2)
    ]
    kernel = LoopKernel(
        "kernel", (*arrays, KernelParameter("n", np.dtype(np.int64))), [*top, *statements]
    )
    text = emit_kernel(outlined(kernel))
    types = (ArgType("array", F8, 1), ArgType("array", F8, 1), ArgType("scalar", np.dtype("i8")))
    first, second = np.arange(2.0 * n + 2), np.arange(2.0 * n + 2) * -0.5
    assert python_kernel(text, types)(first, second, n) == 0
    return first, second


@settings(max_examples=150, deadline=None)
@given(PROGRAM, st.integers(0, 5))
@example(
    # the second stores an element and loads it again
    (
        [
            [("p_a0", 0, "p_a0", 0, False)],
            [("p_a0", 0, "p_a0", 0, False), ("p_a0", 0, "p_a0", 0, False)],
        ],
        False,
        0,
    ),
    1,
)
@example(
    # the third suits the second, and only both together suit the first
    (
        [
            [("p_a0", 0, "p_a0", 0, False)],
            [("p_a1", 0, "p_a1", 0, False)],
            [("p_a0", 0, "p_a1", 0, False)],
        ],
        False,
        0,
    ),
    3,
)
def test_random_nests_compute_the_same(made: Any, n: int) -> None:
    statements = program(*made)
    merged = merge_nests(statements, [])
    moved = tile_time_loops(merged, [])
    expected = run(statements, n)
    for other in (merged, moved):
        for a, b in zip(run(other, n), expected, strict=True):
            np.testing.assert_array_equal(a, b)
    assert merge_nests(merged, []) == merged
    assert tile_time_loops(moved, []) == moved


def test_a_chunk_is_given_what_a_chunk_in_it_calls_alike() -> None:
    """A name that an inner chunk gives itself is another one than that of the functions around."""
    inner = ParallelFor(
        number(2),
        number(0),
        [let("n", "m"), StoreElement("p", Polynomial.name("n"), Number(1.0, F8))],
    )
    outer = ParallelFor(
        number(3), number(0), [StoreElement("p", Polynomial.name("n"), Number(1.0, F8)), inner]
    )
    assert free_names(inner) == {"m", "p"}
    assert free_names(outer) == {"m", "n", "p"}
    body = [let("n", 1), let("m", 2), Scratch("p", number(4), F8, False), outer]
    verify_kernel(LoopKernel("kernel0", (), body))
    text = emit_kernel(outlined(LoopKernel("kernel0", (), body)))
    assert "def chunk0(lo, hi, m, p):" in text
    assert "def chunk1(lo, hi, m, n, p):" in text
