"""A later call with an axis of length 1 had other strides: the variant assumed longer axes.

A variant that was traced for longer axes served such calls and gave results in its own order: an
axis of length 1 has no stride that NumPy would sort by, so the others may lie in another order.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, compare_outcomes, decorate, run


def total(x: Any, y: Any) -> Any:
    return x + y


def chosen(x: Any, y: Any) -> Any:
    v = 1 - np.any(x.T, axis=1, keepdims=True)
    return np.sin(-(y * np.where(y, v, y)))


def test_a_column_beside_a_transposed_array() -> None:
    calls = [(np.ones((7, 6, 6)), np.ones((6, n, 1), np.float32)) for n in (4, 1)]
    check(chosen, *calls, variants=2)
    check(chosen, *calls[::-1], variants=2)
    check(chosen, *calls, jit=True, variants=2)


def test_one_order_needs_one_variant() -> None:
    """Where operands agree, or only one has several axes, the length does not matter."""
    check(total, *((np.ones((4, n, 6)), np.ones((1, n, 6))) for n in (5, 1)))
    check(total, *((np.ones((6, n, 4)).T, np.ones((4, n, 1))) for n in (5, 1)))
    check(total, *((np.ones((n, 5, 6)), np.ones(6)) for n in (4, 1)))


def laid_out(rng: Random, sizes: tuple[int, ...], order: list[int], ones: set[int]) -> np.ndarray:
    """An array of these sizes, 1 long along some axes, its axes in this order in memory."""
    shape = [1 if axis in ones else n for axis, n in enumerate(sizes)]
    return np.ones([shape[axis] for axis in order]).transpose(np.argsort(order))


@pytest.mark.parametrize("seed", range(60))
def test_strides_are_those_of_numpy(seed: int) -> None:
    rng = Random(seed)
    rank = rng.choice((3, 3, 4))
    axes = list(range(rank))
    layouts = [(rng.sample(axes, rank), {a for a in axes if rng.random() < 0.3}) for _ in "xy"]
    fused = decorate(total, jit=False)
    for _ in range(8):
        sizes = tuple(rng.choice((1, 2 + axis)) for axis in axes)
        arguments = tuple(laid_out(rng, sizes, *layout) for layout in layouts)
        where = f"seed {seed}, {[(a.shape, a.strides) for a in arguments]}"
        compare_outcomes(run(total, arguments), run(fused, arguments), where=where)
