"""Loops that carry numbers are split where an iteration does a lot for itself; their answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusejit.stages
from fusejit import fuse_jit
from fusejit.dataclass import replace
from fusejit.fuse.loops.independent import mark_independent_loops
from fusejit.fuse.loops.loop_fission import split_loops as split_loops_pass
from fusejit.ir.ops import Cond, Loop, walk
from fusejit.ir.target_facts import GENERIC
from fusejit.ir.text.printer import print_graph
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one core no loop is split."""
    monkeypatch.setattr(fusejit.stages, "host_target", lambda: GENERIC)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split loops whatever their size, in blocks of four iterations."""
    monkeypatch.setattr("fusejit.fuse.loops.loop_fission.LAUNCH_NS", 0)
    monkeypatch.setattr("fusejit.fuse.loops.loop_fission.BLOCK", 4)


def primes(n: int) -> int:
    count = 0
    for i in range(2, n):
        d, is_prime = np.int64(2), True
        while d * d <= i:
            if i % d == 0:
                is_prime = False
                break
            d += 1
        if is_prime:
            count += 1
    return count


def longest(limit: int) -> tuple[int, int]:
    best, best_start = 0, 1
    for start in range(1, limit):
        n, length = np.int64(start), 1
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            length += 1
        if length > best:
            best, best_start = length, start
    return best_start, best


def integral(x: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        total += math.sin(x[i]) * math.exp(-x[i]) + math.cos(x[i]) / (1.0 + math.log(1.0 + x[i]))
    return total


def decaying(a: np.ndarray) -> float:
    s = 0.0
    for i in range(len(a)):
        s = 0.5 * s + np.sum(a[i] * a[i])
    return s


def row_and_total(a: np.ndarray, out: np.ndarray) -> float:
    total, largest = 0.0, -1.0
    for i in range(len(a)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * j
        out[i] = s
        total -= s
        if s > largest:
            largest = s
    return total + largest


def own_memory(a: np.ndarray) -> float:
    total = 0.0
    for i in range(len(a)):
        row = np.sqrt(a[i])
        for j in range(1, len(row)):
            row[j] += row[j - 1]
        total = total / 2 + row[-1]
    return total


def starts_late(a: np.ndarray, first: int) -> float:
    last = 0.0
    for i in range(first, len(a) - 1):
        last = last * 0.25 + np.max(a[i] - a[i + 1]) * i
    return last


A = np.linspace(0.1, 3.0, 63).reshape(9, 7)
SPLIT = [
    (primes, [(12,), (31,)]),
    (longest, [(2,), (11,), (30,)]),
    (integral, [(A[:, 0].copy(),), (np.linspace(0.0, 1.0, 4),)]),
    (decaying, [(A,), (A[:4],)]),
    (row_and_total, [(A, np.zeros(9))]),
    (own_memory, [(A,), (A[:5],)]),
    (starts_late, [(A, 1), (A, 3)]),
]


@pytest.mark.parametrize(("program", "calls"), SPLIT, ids=lambda p: getattr(p, "__name__", ""))
def test_halves_compute_what_the_loop_did(
    program: Callable[..., Any], calls: list[tuple[Any, ...]], small_blocks: None
) -> None:
    graph = fuse_jit(program).trace(*calls[0]).fuse().graph
    loops = [op for op in walk(graph.block) if isinstance(op, Loop)]
    assert [op.is_parallel for op in loops].count(True) >= 1
    check(program, *calls, jit=True, bound=Bound(ulps=64))


@pytest.mark.parametrize(("program", "calls"), SPLIT, ids=lambda p: getattr(p, "__name__", ""))
def test_small_sizes_run_as_written_with_the_same_bits(
    program: Callable[..., Any],
    calls: list[tuple[Any, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes = []
    for least in (0, 50_000):
        monkeypatch.setattr("fusejit.fuse.loops.loop_fission.LAUNCH_NS", least)
        monkeypatch.setattr("fusejit.fuse.loops.loop_fission.BLOCK", 4)
        compiled = fuse_jit(program)
        outcomes.append([np.asarray(compiled(*args)).tobytes() for args in calls])
    assert outcomes[0] == outcomes[1]


def test_the_shape_of_a_split_loop() -> None:
    graph = split_loops_pass(fuse_jit(decaying).trace(A).graph)
    verify(graph)
    (choice,) = (op for op in graph.block.ops if isinstance(op, Cond))
    (blocks,) = (op for op in choice.then_block.ops if isinstance(op, Loop))
    own, in_order = (op for op in blocks.body.ops if isinstance(op, Loop))
    (as_written,) = (op for op in choice.else_block.ops if isinstance(op, Loop))
    assert not own.carried
    assert len(in_order.carried) == len(as_written.carried) == 1
    assert print_graph(mark_independent_loops(graph)).count(" parallel {") == 1


# ------------------------------------------------------------------------------------ as they were
def cheap(x: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


def array_is_carried(a: np.ndarray) -> np.ndarray:
    v = a[0]
    for i in range(1, len(a)):
        v = v * 0.5 + np.cumsum(a[i])
    return v


def depends_on_the_total(a: np.ndarray) -> float:
    total = 0.0
    for i in range(len(a)):
        total += np.sum(np.exp(a[i] * total * 1e-3))
    return total


def stores_the_total(a: np.ndarray, out: np.ndarray) -> float:
    total = 0.0
    for i in range(len(a)):
        total += np.sum(a[i])
        out[i] = total
    return total


def neighbours(a: np.ndarray) -> float:
    total = 0.0
    for i in range(1, len(a)):
        a[i] += a[i - 1]
        total += np.sum(a[i])
    return total


@pytest.mark.parametrize(
    ("program", "args"),
    [
        (cheap, (A[0].copy(), A[1].copy())),
        (array_is_carried, (A,)),
        (depends_on_the_total, (A,)),
        (stores_the_total, (A, np.zeros(9))),
        (neighbours, (A.copy(),)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_loops_that_stay_whole(program: Callable[..., Any], args: tuple[Any, ...]) -> None:
    graph = fuse_jit(program).trace(*args).graph
    assert split_loops_pass(graph) is graph


def test_one_core_has_nothing_to_share(monkeypatch: pytest.MonkeyPatch) -> None:
    one = replace(GENERIC, num_cores=1)
    monkeypatch.setattr(fusejit.stages, "host_target", lambda: one)
    assert "[split]" not in fuse_jit(decaying).explain(A, detail=True)
    check(decaying, (A,), bound=Bound(ulps=64))


def test_explain_names_what_is_carried() -> None:
    text = fuse_jit(decaying).explain(A, detail=True)
    assert (
        "iterations in parallel: only the work that depends on no other iteration; `s` is computed "
        "afterwards, in program order [split]" in text
    )
    assert "`total` goes from one iteration to the next [carried]" in fuse_jit(cheap).explain(
        A[0].copy(), A[1].copy(), detail=True
    )


def elements_of_an_alias(a: np.ndarray, b: np.ndarray) -> Any:
    hits, v = 0, 0.0
    for q in range(np.size(a)):
        v = np.ravel(a)[q]
    for q in range(np.size(b)):
        v = np.ravel(b)[q]  # an alias of `b`, made in the loop
        hits += (v in b) is not True
    return hits, v


def elements_in_a_branch(a: np.ndarray, b: np.ndarray) -> Any:
    total = 0.0
    for q in range(b.size):
        s = (a * b.ravel()[q]).sum()
        if total < 3.0:
            total += b.ravel()[q] + s
    return total


@pytest.mark.parametrize("program", [elements_of_an_alias, elements_in_a_branch])
def test_memory_of_the_first_half(program: Callable[..., Any], small_blocks: None) -> None:
    """Regression: the second half loaded a buffer that only the first half made."""
    a, b = np.array([-2.5, 2.5]), np.array([[-2.5, 2.5, 1.0], [0.0, 1.5, -1.0]])
    check(program, (a, b), jit=True)
