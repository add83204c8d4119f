"""Values that a statement of Python makes are inputs of later segments, as arguments would be.

Regression: a loop that drew from `default_rng(7)` of its own function, or read a list, a dictionary
or an object that a statement before it made, ran in Python: "reads 'r', which Python made".
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same, clone
from fusejit_testing.oracle import decorate

LOG: list[int] = []


def generator(x: Any) -> Any:
    draws = np.random.default_rng(7)
    for i in range(len(x)):
        x[i] = x[i] * draws.random() + draws.normal()
    return x


def bit_generator(x: Any) -> Any:
    draws = np.random.Generator(np.random.PCG64(len(LOG)))
    s = 0.0
    for i in range(len(x)):
        if draws.random() > 0.5:
            s += x[i]
    return s, draws.random()


def numbers(x: Any) -> Any:
    known = json.loads("[1.5, 2.5, 3.5]")
    s = 0.0
    for i in range(len(x)):
        s += x[i] * known[i % 3]
    return s


def dictionary(x: Any) -> Any:
    known = json.loads('{"scale": 2.5, "shift": 3}')
    for i in range(len(x)):
        x[i] = x[i] * known["scale"] + known["shift"]
    return x


class State:
    """A user's object with an array."""

    def __init__(self, size: int, scale: float) -> None:
        self.values = np.full(size, scale)
        self.scale = scale


def object_with_an_array(x: Any) -> Any:
    state = State(len(x), json.loads("2.5"))
    for i in range(len(x)):
        state.values[i] += x[i] * state.scale
    return state.values


def list_of_arrays(x: Any) -> Any:
    parts = [np.array(part) for part in json.loads("[[1.5, 2], [3, 4, 5]]")]
    s = 0.0
    for i in range(len(x)):
        s += x[i] * parts[1][i % 3] + parts[0][0]
    return s


def pair(x: Any) -> Any:
    first, second = divmod(json.loads("17"), 5)
    known = first, [second, 1]
    for i in range(len(x)):
        x[i] += known[0] * known[1][0]
    return x


def compiled_lines(variants: Any) -> set[int]:
    """The lines of compiled segments, of segments of segments too."""
    found: set[int] = set()
    for segmented in variants.all_segmented:
        for segment in segmented.segments:
            if segment.state is not None and segment.state.variants.compiled:
                found |= {*range(segment.lines[0], segment.lines[1] + 1)}
            elif segment.state is not None:
                found |= compiled_lines(segment.state.variants)
    return found


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        *(generator, bit_generator, numbers, dictionary, object_with_an_array, list_of_arrays),
        pair,
    ],
)
def test_the_loops_after_it_are_compiled(function: Callable[..., Any], jit: bool) -> None:
    fused = decorate(function, jit=jit)
    x = np.linspace(-1, 2, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            given, plain = clone((x, x))
            assert_same(function(plain), fused(given))
            assert_same(plain, given)
    lines, first = inspect.getsourcelines(function)
    loop = {first + at for at, line in enumerate(lines) if at > 1 and line.startswith("    ")}
    if fused.variants.compiled:
        assert not fused.variants.all_segmented
    else:
        assert loop - {first + 2} <= compiled_lines(fused.variants) | {first + len(lines) - 1}


def test_other_lengths_do_not_compile_again_and_again() -> None:
    def lengths(x: Any, text: Any) -> Any:
        known = json.loads(text)
        s = 0.0
        for v in known:
            s += v
        for i in range(len(x)):
            x[i] += s
        return x

    fused = decorate(lengths, jit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(40):
            text = str([*range(k)])
            assert_same(lengths(np.arange(5.0), text), fused(np.arange(5.0), text))
    made = [s.state for s in fused.variants.segmented.segments if s.state is not None]
    assert sum(len(state.variants) for state in made) < 12
