"""Parallel loops of the program: source, the same bits on one thread and many, errors, overlap."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit
from fusejit.codegen.machine import pool
from fusejit.ir.loops.nodes import Integer
from fusejit.ir.loops.polynomial import Polynomial
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, decorate

LARGE = 3000
SIDE = 120


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    threads = pool.get_num_threads()
    yield
    pool.set_num_threads(threads)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The extents of all launches of the pool, in order; without TBB there are none."""
    monkeypatch.delenv("FUSEJIT_NUM_THREADS", raising=False)  # of two threads, whatever is set
    pool.start_pool()
    real = pool._words[pool.WORD_LAUNCH]
    if not real:
        pytest.skip("no pool")
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(None, *[pointer] * 5, *[integer] * 3)
    seen: list[int] = []

    def launch(task: int, args: int, dims: int, *others: int) -> None:
        seen.append(integer.from_address(dims).value)
        kind(real)(task, args, dims, *others)

    counting = kind(launch)
    pool._words[pool.WORD_LAUNCH] = ctypes.cast(counting, pointer).value or 0
    pool.set_num_threads(2)
    yield seen
    pool._words[pool.WORD_LAUNCH] = real


def source(function: Callable[..., Any], *args: Any) -> str:
    return fuse_jit(function).trace(*args).fuse().lower().source


def vector(n: int = LARGE) -> np.ndarray:
    return np.random.default_rng(3).uniform(0.1, 2.0, n)


def matrix(n: int = SIDE) -> np.ndarray:
    return np.random.default_rng(4).uniform(0.1, 2.0, (n, n))


# --------------------------------------------------------------------------------------- programs
def escape(x: np.ndarray, most: int) -> np.ndarray:
    out = np.zeros(len(x), dtype=np.int64)
    for i in range(len(x)):
        z, k = 0.0, 0
        while k < most and z * z <= 4.0:
            z = z * z + x[i] - 1.0
            k += 1
        out[i] = k
    return out


def triangle(a: np.ndarray) -> np.ndarray:
    b = np.zeros(a.shape)
    for i in range(len(a)):
        for j in range(i + 1):
            s = 0.0
            for k in range(j + 1):
                s += a[i, k] * a[j, k]
            b[i, j] = s
    return b


def sweeps(a: np.ndarray, b: np.ndarray) -> None:
    for i in range(len(a)):
        row = b[i]
        for j in range(1, len(row)):
            row[j] = 0.25 * row[j - 1] + np.sin(a[i, j])


def own_scratch(a: np.ndarray, b: np.ndarray) -> None:
    for i in range(len(a)):
        row = np.sqrt(a[i]) + 1.0
        for j in range(1, len(row)):
            row[j] += row[j - 1]
        b[i] = row / row[-1]


def in_steps_of_three(x: np.ndarray) -> None:
    for i in range(1, len(x) - 2, 3):
        for _ in range(20):
            x[i] = np.cos(x[i] + x[i + 1]) + x[i + 2]


def rows_of_sums(a: np.ndarray) -> np.ndarray:
    out = np.empty(len(a))
    for i in range(len(a)):
        out[i] = np.sum(a[i, : i + 1] * a[i]) if i < 0 else np.sum(np.exp(a[i]))
    return out


def gathered(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    y = np.zeros(len(at))
    for i in range(len(at)):
        y[i] = np.sin(x[at[i]])
    return y


def inside_a_time_loop(a: np.ndarray, steps: int) -> None:
    for _ in range(steps):
        for i in range(len(a)):
            for j in range(1, a.shape[1]):
                a[i, j] = 0.5 * (a[i, j - 1] + a[i, j])
        a[:, 0] = a[::-1, -1]


PROGRAMS = [
    (escape, lambda: (vector(), 60)),
    (triangle, lambda: (matrix(),)),
    (sweeps, lambda: (matrix(), matrix())),
    (own_scratch, lambda: (matrix(), matrix())),
    (in_steps_of_three, lambda: (vector(),)),
    (rows_of_sums, lambda: (matrix(),)),
    (gathered, lambda: (vector(), np.arange(LARGE)[::-1].copy())),
    (inside_a_time_loop, lambda: (matrix(), 4)),
]


@pytest.mark.parametrize(("program", "made"), PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_bits_do_not_depend_on_threads(
    program: Callable[..., Any], made: Callable[[], Any], jit: bool
) -> None:
    args = made()
    text = source(program, *args)
    assert "    # iterations of test_parallel_loops.py:" in text
    expected_args, compiled = made(), decorate(program, jit=jit)
    if not jit:
        args = tuple(a[:40].copy() if isinstance(a, np.ndarray) else a for a in made())
        args = tuple(a % 40 if getattr(a, "dtype", None) == np.int64 else a for a in args)
        expected_args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    expected = program(*expected_args)
    outcomes = []
    for threads in (1, 2, 7):
        pool.set_num_threads(threads)
        given = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
        outcomes.append((compiled(*given), given))
    assert not compiled.variants.fallbacks
    for got, given in outcomes:
        assert_bits((got, given), outcomes[0])
        for one, other in zip(leaves((got, given)), leaves((expected, expected_args)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def leaves(value: Any) -> list[np.ndarray]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if value is None else [np.asarray(value)]


def assert_bits(one: Any, other: Any) -> None:
    for a, b in zip(leaves(one), leaves(other), strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


# ---------------------------------------------------------------------------------------- launches
def test_large_loops_are_launched_once_and_small_ones_never(launches: list[int]) -> None:
    compiled = fuse_jit(escape)
    compiled(vector(4), 60)
    assert launches == []
    compiled(vector(20_000), 60)
    assert len(launches) == 1
    assert 16 < launches[0] <= 32  # chunks: 16 for each thread
    pool.set_num_threads(1)
    compiled(vector(20_000), 60)
    assert len(launches) == 1


def heat(u: np.ndarray, steps: int) -> None:
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2.0 * u[1:-1, 1:-1])


def test_large_nests_inside_a_serial_loop_are_launched_in_each_iteration(
    launches: list[int],
) -> None:
    compiled = fuse_jit(heat)
    compiled(matrix(20), 5)
    assert launches == []
    got, expected = matrix(600), matrix(600)
    compiled(got, 5)
    heat(expected, 5)
    assert len(launches) >= 5
    np.testing.assert_array_equal(got, expected)


# --------------------------------------------------------------------------------------- structure
def test_a_chunk_holds_the_memory_of_its_iterations() -> None:
    text = source(own_scratch, matrix(), matrix())
    chunk = next(t for t in text.split("\n\n\n") if "# iterations of" in t)
    lines = chunk.splitlines()
    loop = next(at for at, line in enumerate(lines) if " for at0 in range(" in line)
    made = [at for at, line in enumerate(lines) if "heap_scratch(" in line]
    freed = [at for at, line in enumerate(lines) if line.startswith("    free_scratch(")]
    assert made
    assert len(made) == len(freed)
    assert max(made) < loop < min(freed)


def test_uneven_iterations_have_smaller_chunks() -> None:
    assert "uneven_for(chunk" in source(triangle, matrix())
    assert "uneven_for(chunk" in source(escape, vector(), 60)
    assert "uneven_for(chunk" not in source(sweeps, matrix(), matrix())


def test_work_is_estimated_from_trips() -> None:
    text = source(triangle, matrix())
    (call,) = (line for line in text.splitlines() if "uneven_for(chunk" in line)
    work = call.split(", ")[2]
    for n in (2, 20, 300):
        ns = eval(work, {"s0": n, "s1": n})
        points = n**3 / 8  # the mean of both variables
        assert 0.1 * points < ns < 10 * points + 10 * n * n


def test_a_few_iterations_of_large_nests_leave_the_threads_to_the_nests() -> None:
    def rows(a: np.ndarray, b: np.ndarray) -> None:
        for i in range(len(a)):
            b[i] = np.exp(a[i])

    text = source(rows, matrix(), matrix())
    (call,) = (line for line in text.splitlines() if "_for(chunk1" in line or "* i64(" in line)
    work = call.split("_for(")[1].split(", ", 2)[2].split(") > 0)")[0] + ") > 0)"

    def ns(rows: int, columns: int) -> int:
        return int(eval(work, {"s0": rows, "s1": columns, "s2": rows, "s3": columns, "i64": int}))

    assert ns(4, 10_000_000) == 0
    assert ns(4, 1000) > 0
    assert ns(400, 10_000_000) > 0


# ------------------------------------------------------------------------------------------ errors
def test_an_index_out_of_bounds_in_a_chunk_is_numpys_error() -> None:
    compiled = fuse_jit(gathered)
    x, at = vector(), np.arange(LARGE)
    pool.set_num_threads(2)
    expected = compiled(x, at)
    for place in (0, 1700, LARGE - 1):
        wrong = at.copy()
        wrong[place] = LARGE
        with pytest.raises(IndexError, match=f"index {LARGE} is out of bounds"):
            compiled(x, wrong)
    assert_bits(compiled(x, at), expected)


def test_an_index_out_of_bounds_unjitted() -> None:
    compiled = decorate(gathered, jit=False)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        compiled(vector(6), np.array([0, 1, 9, 2]))


# ----------------------------------------------------------------------------------------- overlap
def add_next(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(y)):
        y[i] = np.sin(x[i]) + 1.0


@pytest.mark.parametrize("distance", [0, 1, -1, 5])
def test_arguments_that_overlap_take_the_serial_path(distance: int) -> None:
    assert "# iterations of" in source(add_next, vector(), vector())
    compiled = fuse_jit(add_next)
    pool.set_num_threads(2)
    compiled(vector(), vector())
    first, second = 5, 5 + distance
    expected, got = vector(LARGE + 10), vector(LARGE + 10)
    add_next(expected[first : first + LARGE], expected[second : second + LARGE])
    with pytest.warns(FuseWarning, match="arrays overlap in memory"):
        compiled(got[first : first + LARGE], got[second : second + LARGE])
    assert_bits(got, expected)


def fill_rows(x: np.ndarray, w: np.ndarray) -> None:
    for i in range(len(w)):
        for j in range(w.shape[1]):
            w[i, j] = x[i] + 0.25 * w[i, j - 1] if j > 0 else x[i]


def test_rows_that_overlap_in_one_argument_take_the_serial_path() -> None:
    def windows(memory: np.ndarray) -> np.ndarray:
        return np.lib.stride_tricks.as_strided(memory, (LARGE, 8), (8, 8))

    compiled = fuse_jit(fill_rows)
    pool.set_num_threads(2)
    expected, got = vector(LARGE + 8), vector(LARGE + 8)
    fill_rows(vector(), windows(expected))
    with pytest.warns(FuseWarning, match="arrays overlap in memory"):
        compiled(vector(), windows(got))
    assert_bits(got, expected)


# ------------------------------------------------------------------- launches at the smallest sizes
def own_blocks(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    out = np.zeros(4 * len(x))
    for i in range(len(x)):
        out[4 * i : 4 * i + 4] = x[i] * w
    return out


def with_conditions(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    y = np.full(len(x), -1.0)
    for i in range(len(x)):
        if x[i] < 0.5:
            continue
        if x[i] > 1.0:
            y[i] = x[i] * w[0]
        else:
            y[i] = x[i] - w[1]
    return y


def through_two_views(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    out = np.zeros((len(x), len(w)))
    columns = out.T
    for i in range(len(x)):
        columns[:, i] = x[i] * w
        out[i, 0] += 1.0
    return out


def ends_are_swapped(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    b = x[:, None] * w
    for i in range(len(b)):
        b[i, 0], b[i, -1] = b[i, -1], b[i, 0]
        b[i] = b[i][::-1]
    return b


def several_nests(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    out = np.zeros((len(x), len(w)))
    for i in range(len(x)):
        row = w * x[i]
        row[1:] += row[:-1]
        row -= row.mean()
        out[i] = np.sqrt(np.abs(row))
    return out


def last_one_is_kept(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    out, last = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        last = (w * x[i]).max()
        out[i] = 2 * last
    return out, last


SMALL = [
    own_blocks,
    with_conditions,
    through_two_views,
    ends_are_swapped,
    several_nests,
    last_one_is_kept,
]


@pytest.mark.parametrize("program", SMALL, ids=lambda p: p.__name__)
def test_small_loops_that_are_launched_all_the_same(
    program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, launches: list[int]
) -> None:
    enough = Integer(Polynomial.const(10**6))
    monkeypatch.setattr(
        "fusejit.codegen.lower.parallel_loops.loop_work", lambda loop, trips: enough
    )
    monkeypatch.setattr("fusejit.fuse.loops.loop_fission.LAUNCH_NS", 0)
    monkeypatch.setattr("fusejit.fuse.loops.loop_fission.BLOCK", 32)
    args = vector(90), np.linspace(0.5, 1.5, 4)
    check(program, args, (vector(7), args[1]), jit=True, bound=Bound(ulps=8))
    assert launches
