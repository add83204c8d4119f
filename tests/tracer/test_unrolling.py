"""Loops over Python's own data, and large containers, are not unrolled far: Python runs them.

Regression: Loops over lists, texts and ``zip`` were unrolled or compiled into tiny segments
(0.01x). There is now an unrolling budget.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import NeedsPython
from fusejit.tracer.program.unrolling import (
    FREE_ITERATIONS,
    MAX_ITEMS,
    MAX_PER_PART,
    OPS_OF_FEW,
    OPS_OF_MANY,
    is_large,
)
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

X = np.linspace(0.5, 2.0, 7)


def powers(x: Any, factors: Any) -> Any:
    y = x
    for factor in factors:
        y = y * len(factor) + x
    return y


def squares(x: Any, n: int) -> Any:
    made = [np.sqrt(x[k % 2 :]) + x[k % 5] * x[0] for k in range(n)]  # of two shapes
    return made, len(made)


def halved(x: Any, n: int) -> Any:
    steps = frozenset([n])
    while max(steps) > 0:
        steps = frozenset([max(steps) - 1])
        x = x / 2 + max(steps) * x
    return x


@pytest.mark.parametrize("count", [3, FREE_ITERATIONS])
def test_short_loops_over_lists_are_one_kernel(count: int) -> None:
    fused = decorate(powers, jit=False)
    factors = ["ab"] * count
    assert_same(powers(X, factors), fused(X, factors))
    assert len(fused.variants) == 1


def test_long_loops_over_lists_are_python_s_with_a_segment_in_them() -> None:
    fused = decorate(powers, jit=False)
    factors = ["ab"] * OPS_OF_MANY + [b"cd"]  # no column holds both
    assert_same(powers(X, factors), fused(X, factors))
    assert len(fused.variants) == 0
    segments = fused.variants.newest_segmented.segments
    assert any(s.state is not None and 0 < len(s.state.variants) < 3 for s in segments)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("program", [squares, halved])
def test_long_comprehensions_and_whiles_are_python_s(program: Callable[..., Any]) -> None:
    fused = decorate(program, jit=False)
    for count in (OPS_OF_MANY, OPS_OF_MANY + 7):
        assert_same(program(X, count), fused(X, count))
    assert len(fused.variants) == 0


def test_explain_says_which_loop_is_python_s() -> None:
    fused = decorate(powers, jit=False)
    text = fused.explain(X, ["ab", b"c"] * 30)
    assert "for factor in factors" in text
    assert "too long to be compiled iteration by iteration" in text


def test_long_bodies_end_short_loops() -> None:
    def program(x: Any, tables: Any) -> Any:
        y = x
        for a, b in tables:
            for c in (a, b, a * b, a - b, a + b, a, b, a):
                for d in (1.5, 2.5, 3.5, 4.5):
                    y = y * c + d
        return y

    fused = decorate(program, jit=False)
    table = X * 0 + 0.25
    tables = ((0.5, table), (table, 0.5)) * 6  # no column holds both
    assert OPS_OF_FEW < 12 * 8 * 4 * 2
    assert_same(program(X, tables), fused(X, tables))
    assert len(fused.variants) == 0


def test_fullgraph_unrolls_further() -> None:
    fused: Any = fuse_jit(fullgraph=True)(powers)
    factors = ["ab"] * 60
    assert_same(powers(X, factors), fused(X, factors))
    assert len(fused.variants) == 1


def test_large_containers_are_no_inputs() -> None:
    def mean(x: Any, weights: Any) -> Any:
        y = np.sqrt(x) * 2
        return y * sum(weights) / len(weights)

    fused = decorate(mean, jit=False)
    for count in (MAX_ITEMS + 1, MAX_ITEMS + 9):
        weights = tuple(0.5 * k for k in range(count))
        assert_same(mean(X, weights), fused(X, weights))
    assert len(fused.variants) == 0
    with pytest.raises(NeedsPython, match="weights is a tuple of many items"):
        fused.trace(X, weights)


@pytest.mark.parametrize(
    ("container", "is_too_large"),
    [
        ([0.5] * MAX_ITEMS, False),
        ([0.5] * (MAX_ITEMS + 1), True),
        ({k: [1.0, 2.0] for k in range(MAX_ITEMS // 3)}, False),
        ({k: [1.0, 2.0, 3.0] for k in range(MAX_ITEMS // 3)}, True),
        ((1, [2] * MAX_ITEMS), True),
        ("a text is one item" * 9, False),
    ],
)
def test_items_are_counted_with_those_inside(container: Any, is_too_large: bool) -> None:
    assert is_large(container, is_segment=False) is is_too_large
    assert is_large([0] * (MAX_PER_PART + 1), is_segment=True)
