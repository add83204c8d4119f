"""Objects that hold lists of many arrays.

Regression: each array of a list in an attribute became an input of the graph, so that
``np.array(self.means)`` of a filter took 15 s to compile, for each length again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate


class Track:
    def __init__(self, n: int) -> None:
        self.means = [np.full(4, float(i)) for i in range(n)]
        self.covs = {i: np.eye(2) + i for i in range(n)}
        self.pairs = [(mean, {"cov": np.eye(2)}) for mean in self.means]
        self.scales = [float(i) for i in range(n)]


def stacked(track: Any, x: Any) -> Any:
    return np.array(track.means) * 2, np.stack([*track.covs.values()]), x + 1


def scaled(track: Any, x: Any) -> Any:
    total = np.zeros(4)
    for mean, scale in zip(track.means, track.scales, strict=True):
        total = total + mean * scale
    return total, x * 2


def paired(track: Any, x: Any) -> Any:
    mean, held = track.pairs[-1]
    return mean * 2, held["cov"] + 1, x - 1


@pytest.mark.parametrize("program", [stacked, scaled, paired])
def test_lists_of_many_arrays_are_python_s(program: Any) -> None:
    fused, x = decorate(program, jit=False), np.arange(5.0)
    for n in (100, 100, 130, 3, 100, 400):
        assert_same(fused(Track(n), x), program(Track(n), x))
    inputs = [
        len(variant.traced.graph.buffers)
        for segment in fused.variants.newest_segmented.segments
        if segment.state is not None
        for variant in segment.state.variants.compiled
    ]
    assert max(inputs, default=0) < 64


def test_numbers_and_texts_are_read() -> None:
    """A loop over the length of a long list of numbers is compiled."""

    def counted(track: Any, x: Any) -> Any:
        for i in range(len(track.scales)):
            x[i % len(x)] += i
        return x

    fused = decorate(counted, jit=False)
    assert_same(fused(Track(100), np.arange(5.0)), counted(Track(100), np.arange(5.0)))
    assert len(fused.variants.compiled) == 1


def test_short_lists_are_compiled() -> None:
    fused, x = decorate(scaled, jit=False), np.arange(5.0)
    assert_same(fused(Track(5), x), scaled(Track(5), x))
    assert len(fused.variants.compiled) == 1


def test_lists_that_hold_themselves() -> None:
    """Regression: an internal error, a RecursionError."""

    def first(track: Any, x: Any) -> Any:
        return x * len(track.scales), track.scales[0]

    track = Track(2)
    track.scales.append(track.scales)  # type: ignore[arg-type]
    fused, x = decorate(first, jit=False), np.arange(5.0)
    for _ in range(2):
        assert_same(fused(track, x), first(track, x))
    assert not fused.variants.fallbacks


class Long:
    def __init__(self) -> None:
        self.numbers = [float(i) for i in range(20_000)]
        self.table = dict(enumerate(self.numbers))
        self.pairs = [(i, [i]) for i in range(2_000)]


def of_length(long: Any, x: Any) -> Any:
    return x * 2 + len(long.numbers)


def of_item(long: Any, x: Any) -> Any:
    return x * 2 + long.table[3]


def of_nested(long: Any, x: Any) -> Any:
    return x * 2 + long.pairs[-1][1][0]


@pytest.mark.parametrize("program", [of_length, of_item, of_nested])
def test_long_lists_are_not_read_item_by_item(program: Any) -> None:
    """Regression: a trace of a list of 200,000 objects took 64 s, beyond any budget."""
    fused, x = decorate(program, jit=False), np.arange(5.0)
    for _ in range(3):
        assert_same(fused(Long(), x), program(Long(), x))
    assert not fused.variants.compiled
    assert fused.variants.newest_segmented is not None
