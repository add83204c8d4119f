"""Unrolled loops made a function or a kernel of each iteration, alike but for integers.

Standard deviations of 19 sliding windows took 3 s to be compiled, and spectra of 19 frames in a
dictionary of options 3.2 s: LLVM was given the same loops again and again.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.analysis.integer_facts import Facts
from fusejit.codegen.backend.shared_text import MANY, share_functions, share_kernels
from fusejit.ir.polynomial import Polynomial
from fusejit.testing.compare import Bound, gamma
from fusejit.testing.oracle import check


def sliding_std(x: Any, n: int) -> Any:
    return np.array([x[i : i + n].std() for i in range(len(x) - n + 1)])


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
    assert len(chunks) == 19
    names = [text.partition("(")[0] for text in chunks]
    bodies = {"\n".join(sorted(_without_numbers(text))) for text in chunks}
    assert len(set(names)) == 19
    assert len(bodies) <= 2  # the first window begins at 0


def _without_numbers(text: str) -> list[str]:
    """Lines without what tells names of one function from those of another."""
    return [re.sub(r"_\d+\b|(?<=chunk)\d+", "", line) for line in text.splitlines()]


def test_kernels_alike_are_compiled_once() -> None:
    f = fuse_jit(spectra)
    f(X)
    kernels = f.variants[0].kernels
    assert len(kernels) == 15
    assert len({kernel.name for kernel in kernels}) <= 5


def test_steps_and_numbers_of_iterations_stay_in_the_text() -> None:
    """So do distances within memory that is read and written: vectors depend on them."""
    bodies = (
        "for i in range({0}):\n        put(p, i, 1.0)",
        "for i in range(lo, hi):\n        put(p, {0} * i, 1.0)",
        "for i in range(lo, hi):\n        put(p, i + {0}, get(p, i))",
        "a = scratch({0}, f64)\n    put(p, 0, get(a, 0))",
    )
    for body in bodies:
        chunk = f"def chunk{{1}}(lo, hi, p):\n    {body}\n\n\n"
        chunks = "".join(chunk.format(k + 2, k) for k in range(MANY + 1))
        calls = "".join(f"    parallel_for(chunk{k}, 1, 0, p)\n" for k in range(MANY + 1))
        text = f"{chunks}def kernel(p):\n{calls}"
        assert share_functions(text) == text


def test_kernels_get_the_integers_in_which_they_differ() -> None:
    text = (
        "def chunk0(lo, hi, p, q):\n    for i in range(lo, hi):\n"
        "        put(q, {0} + i, get(p, i + {1}))\n\n\n"
        "def kernel(p, q):\n    parallel_for(chunk0, 5, 0, p, q)\n    put(q, {1}, 0.0)\n"
    )
    texts = [text.format(3, k) for k in range(MANY)]
    shared = share_kernels(texts, ["same"] * MANY)
    assert len({each.text for each in shared}) == 1
    assert [[number for _, number in each.numbers] for each in shared] == [[0], [1], [2]]
    assert "put(q, 3 + i, get(p, i + place0))" in shared[0].text
    assert "def kernel(p, q, place0):" in shared[0].text
    assert [s.text for s in share_kernels(texts, [*range(MANY)])] == texts
    assert [s.text for s in share_kernels(texts[1:], ["same"] * (MANY - 1))] == texts[1:]


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
