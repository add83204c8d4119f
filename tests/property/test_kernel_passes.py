"""Each pass over loops may be left out: the results are the same, and the loops well written.

A pass that is no optimisation says so in `NEEDED`. Each must have something to do in some program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusejit.codegen.lower.kernel_passes
from fusejit.codegen.lower.kernel_passes import KERNEL_PASSES, KernelContext, Statements
from fusejit.errors import VerificationError
from fusejit.ir.loops.index_math import I64, equal, let, name, number
from fusejit.ir.loops.nodes import (
    Element,
    Exit,
    Field,
    If,
    KernelParameter,
    Let,
    LoopKernel,
    Number,
    ParallelFor,
    Scratch,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import scalar
from fusejit.ir.verifier.loop_rules import verify_kernel
from fusejit.options import Options
from fusejit.stages import trace
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check

NAMES = [name for name, _ in KERNEL_PASSES]
NEEDED = {"undo stores"}
"""Behind this pass NumPy can run a call again that a kernel has begun."""
NEAR = Bound(ulps=8, absolute=1e-12)


def two_stores(x: Any, y: Any) -> Any:
    x[:] = x + y
    y[:] = y * 2
    return x - y


def over_time(x: Any, y: Any) -> Any:
    for t in range(7):
        x[:] = x * 0.5 + y * t
    return x


def ring(x: Any, y: Any) -> Any:
    i, total = 0, 0.0
    for _ in range(20):
        total += x[i]
        i = (i + 3) % len(x)
    return total


def collatz(x: Any, y: Any) -> Any:
    n, length = int(abs(x[0]) * 9) + 1, 0
    while n != 1 and length < 50:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        length += 1
    return length, n


def gathered(x: Any, y: Any) -> Any:
    places = np.argsort(y) - 3
    total = 0.0
    for k in range(len(x)):
        total += x[places[k]]
    return total


def in_a_loop(x: Any, y: Any) -> Any:
    total = np.zeros(len(x))
    for k in range(4):
        c = np.cumsum(np.concatenate((x[k:], x[:k])))
        total += c - c[::-1]
    return total


def triangle(x: Any, y: Any) -> Any:
    for k in range(len(x)):
        x[:k] += y[k]
    return x


def both_branches(x: Any, y: Any) -> Any:
    best = current = x[0]
    for i in range(1, len(x)):
        if current < 0:
            current = x[i]
        else:
            current = current + x[i]
        best = max(best, current)
    return best


def rows(x: Any, y: Any) -> Any:
    m = np.outer(x, y)
    for i in range(1, len(x)):
        for j in range(1, len(y)):
            m[i, j] += m[i - 1, j] * 0.5 + m[i, j - 1]
    return m


def of_a_strided_one(x: Any, y: Any) -> Any:
    return np.exp(y) / (1 + x * x)


def behind_stores(x: Any, y: Any) -> Any:
    n = len(x)
    for k in range(len(x)):
        x[k] += y[k]
        n = 3 * n + 1
    return x, n


def quotients(x: Any, y: Any) -> Any:
    n = (x * 100).astype(np.int64)
    return n // n.size + n % 7 + n // (n[0] * n[0] + 1)


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    *(two_stores, over_time, ring, collatz, gathered, in_a_loop, triangle, both_branches),
    *(rows, of_a_strided_one, quotients, behind_stores),
]


def arguments(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.normal(size=n), rng.normal(size=3 * n)[::3]


def sources(program: Callable[[Any, Any], Any]) -> str:
    traced = trace(program, arguments(9), {}, Options(cache=False))
    return "".join(traced.fuse().lower().sources)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {program.__name__: sources(program) for program in PROGRAMS}


@pytest.mark.parametrize("left_out", NAMES)
def test_results_are_the_same_without_a_pass(
    left_out: str, texts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tuple(row for row in KERNEL_PASSES if row[0] != left_out)
    monkeypatch.setattr(fusejit.codegen.lower.kernel_passes, "KERNEL_PASSES", kept)
    differ = [p for p in PROGRAMS if sources(p) != texts[p.__name__]]
    assert differ, "no program shows what it does"
    for program in () if left_out in NEEDED else differ:
        check(program, arguments(9), arguments(2), bound=NEAR, variants=None)


def test_no_pass_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = tuple(row for row in KERNEL_PASSES if row[0] in NEEDED)
    monkeypatch.setattr(fusejit.codegen.lower.kernel_passes, "KERNEL_PASSES", needed)
    for program in PROGRAMS:
        check(program, arguments(9), arguments(2), bound=NEAR, variants=None)


@pytest.mark.parametrize("left_out", NAMES)
def test_a_second_run_changes_nothing_that_counts(
    left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a pass has made is an input of it as any other."""
    if left_out in {"undo stores", "insert polls"}:
        pytest.skip("adds an undo log or polls each time")

    def doubled(rewrite: Any) -> Any:
        def run(statements: Statements, at: KernelContext) -> Statements:
            return rewrite(rewrite(statements, at), at)

        return run

    passes = tuple((n, doubled(run) if n == left_out else run) for n, run in KERNEL_PASSES)
    monkeypatch.setattr(fusejit.codegen.lower.kernel_passes, "KERNEL_PASSES", passes)
    for program in PROGRAMS:
        check(program, arguments(9), bound=NEAR, variants=None)


# --------------------------------------------------------------------------------- the verifier
F64 = np.dtype(np.float64)
ZERO = Polynomial.const(0)
MADE = Let("p_a", Var("a"))
LOOP = ParallelFor(number(3), number(0), [Exit(5)])
WRONG = {
    "t is read and may have no value": [let("n", "t")],
    "b is no array": [Let("n", Field("b", "shape", 0))],
    "k is not a pointer": [Let("v", Element("k", ZERO))],
    "subtract.i of bool": [
        Let("v", scalar("subtract", Number(True, np.dtype(np.bool_)), number(1), dtype=I64))
    ],
    "a condition is int64, not bool": [If(number(1), [Exit(2)])],
    "k has no value that could be another one": [],
    "a chunk may end early and has nowhere to say so": [LOOP],
    "n is float64, not int64": [let("n", 1), Let("n", Number(1.0, F64), rebind=True)],
    "what is stored into p is int64, not float64": [StoreElement("p", ZERO, number(1))],
}


@pytest.mark.parametrize("complaint", WRONG)
def test_what_is_wrong_is_named(complaint: str) -> None:
    body: list[Any] = [Scratch("p", number(4), F64, False), let("b", 2), let("k", 3)]
    body += WRONG[complaint] or [If(equal("k", 3), [let("m", 1)]), let("m", name("m") + 1)]
    if not WRONG[complaint]:
        complaint = "m is read and may have no value"
    with pytest.raises(VerificationError, match=re.escape(complaint)):
        verify_kernel(LoopKernel("kernel0", (KernelParameter("a", F64, 1),), body))


def test_what_is_right_is_let_pass() -> None:
    body = [If(equal("n", 3), [let("m", 1)], [let("m", 2)]), let("t", name("m") + 1)]
    verify_kernel(LoopKernel("kernel0", (KernelParameter("n", I64),), body))
