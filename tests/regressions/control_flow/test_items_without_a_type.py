"""`return i, "big"` in a loop gave `(i, None)`: values of unknown type merged to None.

``return i, "big"`` in a loop, with ``return None`` after it, gave ``(i, None)``. Two values that
could not be told, of a branch and of the code after the loop, were joined to None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


def text_of_one_kind(t):
    for i, v in enumerate(t):
        if v > 1:
            return i, "big"
    return None


def text_of_two_kinds(t):
    for i, v in enumerate(t):
        if v > 1:
            return i, "big"
        if v < -1:
            return i, "small"
    return None


def nested(t):
    for i, v in enumerate(t):
        if v > 1:
            return i, ("a", v)
        if v < -1:
            return i, ("b", v)
    return None


def arrays_and_parts(t):
    for v in t:
        if v > 0:
            return "a", t
        if v < 0:
            return "a", t[:2]
    return None


def text_or_none_inside(t):
    for i, v in enumerate(t):
        if v > 1:
            s = "a" if v > 3 else "b"
            return i, s
        if v < -1:
            return i, None
    return None


def bound_in_the_loop(t):
    found = None
    for i, v in enumerate(t):
        if v > 1:
            found = i, "big"
    return found


FUNCTIONS = (
    text_of_one_kind,
    text_of_two_kinds,
    nested,
    arrays_and_parts,
    text_or_none_inside,
    bound_in_the_loop,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_items_are_what_the_return_says(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for values in ([0, 0, 0], [0, 2, -2], [0, -2, 2], [4, 2, 0], [-2, -4, 5]):
        arguments = (np.array(values, float),)
        compare_outcomes(run(function, arguments), run(fused, arguments), where=str(values))


def test_a_text_that_is_one_in_all_iterations_is_compiled() -> None:
    fused = decorate(text_of_one_kind, jit=False, fullgraph=True)
    assert fused(np.array([0.0, 2.0])) == (1, "big")
    assert fused(np.zeros(2)) is None
    assert len(fused.variants) == 1


def part_or_none(t):
    for i, v in enumerate(t):
        if v > 1:
            return i, t[1:]
    return None


def part_of_a_new_array_or_none(t):
    doubled = t * 2
    for i, v in enumerate(t):
        if v > 1:
            return i, doubled[1:]
    return None


@pytest.mark.parametrize("function", [part_or_none, part_of_a_new_array_or_none])
def test_a_view_in_a_tuple_or_none_is_compiled_and_a_view(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for values in ([0, 0, 0], [0, 2, -2], [4, 2, 0]):
        arguments = (np.array(values, float),)
        outcomes = run(function, arguments), run(fused, arguments)
        compare_outcomes(*outcomes, where=str(values))
        wanted, found = (outcome.result for outcome in outcomes)
        if wanted is not None:
            assert (found[1].base is None) == (wanted[1].base is None)
    assert len(fused.variants) == 1
