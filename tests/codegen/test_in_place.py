"""Epilogues of matrix products: one pass in place over the product, where nothing else reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import EXACT, assert_same

RNG = np.random.default_rng(0)
X, W, B = RNG.normal(size=(70, 30)), RNG.normal(size=(30, 50)), RNG.normal(size=50)


def relu(x: Any, w: Any, b: Any) -> Any:
    return np.maximum(x @ w + b, 0)


def softmax(x: Any, w: Any, b: Any) -> Any:
    t = x @ w + b
    e = np.exp(t - t.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def centred_rows(x: Any, w: Any, b: Any) -> Any:
    t = x @ w
    return t - t.max(axis=1, keepdims=True)


def centred_columns(x: Any, w: Any, b: Any) -> Any:
    t = x @ w
    return t - t.max(axis=0)


def kept(x: Any, w: Any, b: Any) -> Any:
    t = x @ w
    return t, t + b


def read_later(x: Any, w: Any, b: Any) -> Any:
    t = x @ w
    y = np.tan(t)
    return y, y.sum(axis=1), t.max(axis=1) + y.max()


def flipped(x: Any, w: Any, b: Any) -> Any:
    t = x @ w
    return t[::-1] + b


def neighbours(x: Any, w: Any, b: Any) -> Any:
    t = (x @ w).T @ (x @ w)
    return t + t.T


def stored(x: Any, w: Any, b: Any) -> Any:
    t = x @ w
    t[1:] += 1
    return t * 2


def twice(x: Any, w: Any, b: Any) -> Any:
    t = x @ w
    return np.tan(t) * b, np.exp(t) + b


PROGRAMS = [
    relu,
    softmax,
    centred_rows,
    centred_columns,
    kept,
    read_later,
    flipped,
    neighbours,
    stored,
    twice,
]


def num_slots(program: Any, **options: Any) -> int:
    lowered = fuse_jit(**options)(program).trace(X, W, B).fuse().lower()
    return len(lowered.program.slots)


@pytest.mark.parametrize("program", [relu, softmax, centred_rows, centred_columns])
def test_an_epilogue_takes_the_product_s_memory(program: Any) -> None:
    lowered = fuse_jit(program).trace(X, W, B).fuse().lower()
    (product,) = [s for s in lowered.program.steps if hasattr(s, "out")]
    assert product.out.name == lowered.program.results[0].ref.name
    slots = lowered.program.slots
    large = [s for s in slots if len(s.extents) == 2 and s.extents[1].as_constant() != 1]
    assert len(large) == 1


@pytest.mark.parametrize("program", [kept, flipped])
def test_a_product_that_is_read_otherwise_is_kept(program: Any) -> None:
    assert num_slots(program) == 2


@pytest.mark.parametrize("fusion", ["auto", "none", "aggressive"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("unjitted", [True, False])
def test_bits_are_those_of_separate_arrays(
    program: Any, fusion: str, unjitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if unjitted:
        monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    actual = fuse_jit(fusion=fusion, fullgraph=True)(program)(X, W, B)
    monkeypatch.setattr("fusejit.codegen.lower.lower_graph.overwritten_products", lambda *a: {})
    expected = fuse_jit(fusion=fusion, fullgraph=True)(program)(X, W, B)
    assert_same(expected, actual, EXACT)
