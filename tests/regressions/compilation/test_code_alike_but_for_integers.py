"""Unrolled loops compiled for 3 s: each iteration's kernel differed only in integers.

Standard deviations of 19 sliding windows took 3 s to be compiled, and spectra of 19 frames in a
dictionary of options 3.2 s: LLVM was given the same loops again and again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.analysis.integer_facts import Facts
from fusejit.codegen.loop_passes.function_sharing import MANY, share_functions, share_kernels
from fusejit.codegen.printer.statement_printer import emit_kernel
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import let, name, operand
from fusejit.ir.loops.nodes import (
    Element,
    Expr,
    For,
    Launch,
    LoopFunction,
    LoopModule,
    Number,
    Scratch,
    Stmt,
    StoreElement,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit_testing.compare import Bound, gamma
from fusejit_testing.oracle import check


def sliding_std(x: Any, n: int) -> Any:
    rows = list(map(lambda i: x[i : i + n].std(), range(len(x) - n + 1)))  # noqa: C417
    return np.array(rows)


def spectra(x: Any) -> Any:
    frames = [np.fft.rfft(x[s : s + 8] * 1.0) for s in range(0, len(x) - 7, 4)]
    return np.array([np.abs(f) ** 2 for f in frames]).mean(axis=0)


def shifted_sums(x: Any) -> Any:
    return [x[k:].sum() + np.sqrt(x[:-9]).sum() * x[k] for k in (1, 2, 3, 4, 5, 6)]


def in_place(x: Any) -> Any:
    for k in (1, 2, 3, 4):
        x[k:] += x[:-k] * 2.0
    for k in (1, 2, 3, 4):
        x[:-k] -= x[k:] * 0.5
    return x


def columns(table: Any) -> Any:
    return [table[:, k].mean() + table[k, 1:].std() for k in (0, 1, 2, 3, 4)]


SUMS = Bound(absolute=1e3 * gamma(200, np.dtype(float)))  # sums of up to 120 numbers below 1e3
X = np.random.default_rng(5).normal(size=60) + 4.0


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (sliding_std, (X[:30], 12)),
        (spectra, (X,)),
        (spectra, (np.r_[X, X],)),
        (shifted_sums, (X,)),
        (in_place, (X.copy(),)),
        (columns, (X.reshape(6, 10),)),
    ],
)
def test_what_shares_code_is_right(function: Any, arguments: tuple[Any, ...]) -> None:
    check(function, arguments, jit=function is shifted_sums, bound=SUMS, inner_bound=SUMS)


def test_functions_alike_have_one_text() -> None:
    source = fuse_jit(sliding_std).trace(X[:30], 12).fuse().lower().source
    chunks = source.split("\n\n\n")[:-1]
    assert len(chunks) == 38  # means, and squares of distances from them
    names = [text.partition("(")[0] for text in chunks]
    bodies = {"\n".join(sorted(_without_numbers(text))) for text in chunks}
    assert len(set(names)) == 38
    assert len(bodies) <= 3  # parameters stand in the order of their numbers


def _without_numbers(text: str) -> list[str]:
    """Lines without what tells names of one function from those of another."""
    return [re.sub(r"_\d+\b|(?<=chunk)\d+|(?<=p_t)\d+", "", line) for line in text.splitlines()]


def test_kernels_alike_are_compiled_once() -> None:
    f = fuse_jit(spectra)
    f(X)
    kernels = f.variants[0].kernels
    assert len(kernels) == 15
    assert len({kernel.name for kernel in kernels}) <= 5


AT, N = name("i"), name("n")
ONE = Number(1.0, np.dtype(np.float64))


def put(pointer: str, offset: Polynomial, value: Expr = ONE) -> StoreElement:
    return StoreElement(pointer, offset, value)


def loop(*body: Stmt, upper: Any = "hi") -> For:
    return For("i", operand("lo" if upper == "hi" else 0), operand(upper), body)


def module(bodies: Sequence[Sequence[Stmt]], *more: Stmt) -> LoopModule:
    """A kernel that launches a function of each body."""
    chunks = [LoopFunction(f"chunk{k}", ("lo", "hi", "p", "q"), b) for k, b in enumerate(bodies)]
    given = (operand(5), operand(0)), (operand("p"), operand("q"))
    launches = [Launch(chunk.name, *given) for chunk in chunks]
    return LoopModule((*chunks, LoopFunction("kernel", ("p", "q"), [*launches, *more])))


def test_steps_and_numbers_of_iterations_stay_in_the_code() -> None:
    """So do distances within memory that is read and written: vectors depend on them."""
    bodies: list[Callable[[int], list[Stmt]]] = [
        lambda k: [loop(put("p", AT), upper=k)],
        lambda k: [loop(put("p", AT * k))],
        lambda k: [loop(put("p", AT + k, Element("p", AT)))],
        lambda k: [Scratch("a", operand(k), ONE.dtype, on_stack=True), put("p", AT)],
    ]
    for body in bodies:
        run_uninterruptible = module([body(k + 2) for k in range(MANY + 1)])
        assert share_functions(run_uninterruptible) == run_uninterruptible


def test_functions_get_the_integers_in_which_they_differ() -> None:
    bodies = [[loop(put("p", AT + k, Element("q", AT * 2 + N * (k + 2))))] for k in range(MANY)]
    bodies = [[let("m", 0), *body] for body in bodies]
    with_sizes = module(bodies)
    chunks = tuple(replace(f, parameters=(*f.parameters, "n")) for f in with_sizes.functions[:-1])
    shared = share_functions(LoopModule((*chunks, with_sizes.kernel)))
    first, *others = shared.functions[:-1]
    assert [f.body for f in others] == [first.body] * (MANY - 1)
    assert first.parameters[-3:] == ("n", "place0", "place1")
    launches = [s for s in shared.kernel.body if isinstance(s, Launch)]
    given = [[a.value.as_constant() for a in s.arguments[-2:]] for s in launches]
    assert sorted(map(sorted, given)) == [[k, k + 2] for k in range(MANY)]


def test_kernels_get_the_integers_in_which_they_differ() -> None:
    zero = Number(0.0, ONE.dtype)
    alike = [
        module(
            [[loop(put("q", AT + 3, Element("p", AT + k)))]], put("q", Polynomial.const(k), zero)
        )
        for k in range(MANY)
    ]
    shared = share_kernels(alike, ["same"] * MANY)
    assert [each.module for each in shared] == [shared[0].module] * MANY
    assert [[number for _, number in each.numbers] for each in shared] == [[0], [1], [2]]
    text = emit_kernel(shared[0].module)
    assert "put(q, i + 3, get(p, i + place0))" in text
    assert "def kernel(p, q, place0):" in text
    assert [s.module for s in share_kernels(alike, [*range(MANY)])] == alike
    assert [s.module for s in share_kernels(alike[1:], ["same"] * (MANY - 1))] == alike[1:]


def test_a_goal_is_tried_once_in_a_proof() -> None:
    """Equal sizes lead to the same goals in many orders: 21,000 attempts for 72 checks."""

    class Counted(Facts):
        attempts = 0

        def _follows(self, *arguments: Any) -> bool:
            self.attempts += 1
            return super()._follows(*arguments)

    facts, sizes = Counted(), [Polynomial.name(f"s{k}") for k in range(12)]
    for size in sizes[1:]:
        facts.add(size - sizes[0])
        facts.add(sizes[0] - size)
    assert facts.proves(sizes[7] - sizes[3] + 2)
    assert not facts.proves(sizes[7] - sizes[3] - 2)
    assert facts.attempts < 1_000
