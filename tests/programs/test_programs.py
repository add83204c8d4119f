"""Whole programs under ``@fuse_jit``, unchanged, against NumPy.

Compared are all that a program returns and all its arguments afterwards, bit for bit where only
exact operations occur, elsewhere within what `benchmarks.programs.sensitivity` measures. One
variant must serve both sizes.

``gaps.txt`` says which programs do not run as one compiled variant yet, and why. Each is expected
to fail in exactly that way; results must be right all the same. When one of them compiles, its test
fails until the line is gone::

    FUSEJIT_UPDATE_PROGRAMS=1 pytest tests/programs
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.programs import PROGRAMS
from benchmarks.programs.comparison import compare
from benchmarks.programs.program import Program
from benchmarks.programs.sensitivity import allowances, distance, leaves, outcome
from fusejit.api import FuseWarning
from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit.outcome import Outcome
from fusejit_testing.compare import assert_same
from fusejit_testing.gaps import UPDATE, Gaps
from fusejit_testing.oracle import decorate

ROOT = Path(__file__).resolve().parents[2]

FORMS = ("unjitted", "jitted")
JITTED_PER_FAMILY = 6  # of the programs that every run compiles
GAPS = Gaps(Path(__file__).with_name("gaps.txt"), ROOT)


class NotWholeError(Exception):
    """A program gave the right answers, or none, but not as one compiled variant."""


@pytest.fixture(scope="module", autouse=True)
def updated_gaps() -> Iterator[None]:
    """Writes the gaps that were found, if asked to; those of programs not run stay."""
    yield
    if UPDATE:
        GAPS.write((program.name for program in PROGRAMS), FORMS)


def cases(form: str) -> list[Any]:
    """The programs as test parameters; one in ``gaps.txt`` must fail as it is said there."""
    parameters = []
    seen: Counter[str] = Counter()
    for program in PROGRAMS:
        seen[program.family] += 1
        marks = []
        if form == "jitted" and seen[program.family] > JITTED_PER_FAMILY and not UPDATE:
            marks.append(pytest.mark.deep)  # compiling all of them takes several minutes
        reason = None if UPDATE else GAPS.known.get((program.name, form))
        mark = pytest.mark.xfail(raises=NotWholeError, strict=True, reason=reason)
        marks += [mark] if reason else []
        parameters.append(pytest.param(program, marks=marks, id=program.name))
    return parameters


def check(program: Program, sizes: tuple[int, ...], jit: bool) -> None:
    """Compare a decorated program with NumPy at each size, all served by the first variant."""
    fused = decorate(program.function, jit=jit)
    for size in sizes:
        theirs, ours = program.build(size), program.build(size)
        expected = program.function(*theirs)
        actual = call(fused, ours)
        compare(program, size, (expected, theirs), (actual, ours))
        if fused.variants.fallbacks:
            raise NotWholeError(f"declined: {'; '.join(fused.variants.fallbacks)}")
    assert len(fused.variants) == 1


def call(fused: Any, arguments: tuple[Any, ...]) -> Any:
    """Call a decorated function, or its variant once it has one: no second one is compiled.

    An unrolled loop would grow with the size, and compile for minutes.
    """
    if len(fused.variants):
        result = fused.variants[0].launch(*arguments)
        if isinstance(result, Outcome):
            raise NotWholeError("the variant for the small size does not serve the large one")
        return result
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        try:
            return fused(*arguments)
        except (UnsupportedError, ConcretizationError) as error:
            raise NotWholeError(str(error)) from None


def attempt(program: Program, sizes: tuple[int, ...], form: str) -> None:
    """`check`, noting a gap when asked to update them."""
    GAPS.try_now(program.name, form)
    try:
        check(program, sizes, jit=form == "jitted")
    except NotWholeError as gap:
        reason = GAPS.note(program.name, form, str(gap))
        if UPDATE:
            pytest.xfail(reason)
        raise


def test_names_are_unique_and_gaps_are_about_programs() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names) >= 60
    assert {name for name, _ in GAPS.known} <= set(names)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_plain_numpy_gives_the_same_answer_twice(program: Program) -> None:
    for size in program.sizes:
        first = outcome(program.function, program.build(size))
        second = outcome(program.function, program.build(size))
        untouched = [*leaves(program.build(size), "arguments")]
        assert len(first) > len(untouched) or any(
            distance(a, b) for (_, a), (_, b) in zip(first, untouched, strict=True)
        ), "it must return something or change an argument"
        for (where, a), (_, b) in zip(first, second, strict=True):
            assert_same(a, b, where=where)
        assert all(np.isfinite(allowed) for allowed in allowances(program, size))


@pytest.mark.parametrize("program", cases("unjitted"))
def test_unjitted(program: Program) -> None:
    attempt(program, program.sizes[:1], "unjitted")


@pytest.mark.parametrize("program", cases("jitted"))
def test_one_compilation_serves_both_sizes(program: Program) -> None:
    attempt(program, program.sizes, "jitted")
