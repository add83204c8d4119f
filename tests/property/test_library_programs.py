"""Helpers that return arguments, conversions with keywords and texts of shapes, against NumPy."""

from __future__ import annotations

import pytest

from fusejit_testing.programs.library_programs import make_library_program
from fusejit_testing.programs.library_templates import LIBRARY_TEMPLATES
from fusejit_testing.programs.mutation_fuzzer import Plan, assert_no_difference

STRICT = Plan(make_library_program, strict=True, jit_every=60)


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_random_programs(first: int) -> None:
    """Any error of fusejit's own is a failure, and so is a refusal."""
    assert_no_difference(first, 100, STRICT)


@pytest.mark.deep
@pytest.mark.parametrize("first", range(1000, 21_000, 1000))
def test_many_random_programs(first: int) -> None:
    assert_no_difference(first, 1000, STRICT)


def test_programs_have_what_they_are_made_for() -> None:
    text = "\n".join(make_library_program(seed).source for seed in range(400))
    for part in ('text = f"', "through(", "as_array(", "ndmin=", "order=", "casting=", "copy="):
        assert part in text, part


def test_most_templates_are_taken_by_numpy() -> None:
    sources = [make_library_program(seed).source for seed in range(400)]
    kinds = dict.fromkeys(LIBRARY_TEMPLATES, 0)
    for kind, mark in zip(kinds, ("text = ", "same(", "np.as", "dtype=np.float64"), strict=True):
        kinds[kind] = sum(mark in source.split("def f(")[1] for source in sources)
    assert min(kinds.values()) > 20, kinds
