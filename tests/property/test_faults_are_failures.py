"""A fault of fusejit's is a failure of each judge, though NumPy runs the call."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import stages
from fusejit_testing.oracle import check, decorate, no_faults
from fusejit_testing.programs import mutation_programs
from fusejit_testing.programs.boundaries import check_boundaries
from fusejit_testing.programs.mutation_fuzzer import check_program
from fusejit_testing.programs.mutation_programs import (
    MutationProgram,
    Parameter,
    Statement,
    deadline,
)

PROGRAM = MutationProgram(
    1,
    (Parameter("a", "float64", ("n",), "C"),),
    (Statement("t = a[1:] + 1"),),
    ("t",),
    "tuple",
    ({"n": 5},) * 2,
)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage that fails."""

    def schedule(*args: Any, **kwargs: Any) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(stages, "make_plan", schedule)


@pytest.mark.usefixtures("faulty")
def test_judges_see_faults(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="a fault of fusejit"):
        check_program(PROGRAM, tmp_path)
    with pytest.raises(AssertionError, match="a fault of fusejit"):
        check_boundaries(PROGRAM, tmp_path)
    with pytest.raises(AssertionError, match=r"a fault of fusejit|FuseWarning"):
        check(lambda x: x[1:] + 1, (np.ones(3),), variants=None)


def test_a_deadline_ends_loops_that_swallow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a failing ``int`` the exception of a signal is lost."""

    def endless() -> None:
        while True:
            with contextlib.suppress(ValueError):
                int("x")

    monkeypatch.setattr(mutation_programs, "AGAIN", 0.01)
    for _ in range(12):
        with pytest.raises(TimeoutError), deadline(0.02):
            endless()


def test_no_fault_no_failure(tmp_path: Path) -> None:
    check_program(PROGRAM, tmp_path)
    with no_faults() as reports:
        decorate(lambda x: x + 1, jit=False, reports=reports)(np.ones(3))
        assert not list(reports.iterdir())
