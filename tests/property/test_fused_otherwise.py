"""A fault of one policy is found though the policies share their traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fusejit import stages
from fusejit.errors import InternalError
from fusejit.ir.ops import GenericOp
from fusejit_testing.programs.mutation_fuzzer import How, Plan, Tally, check_program
from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter, Statement

PROGRAM = MutationProgram(
    1,
    (Parameter("a", "float64", ("n",), "C"),),
    (Statement("t = a * 2"), Statement("u = t + 3")),
    ("u",),
    "tuple",
    ({"n": 5}, {"n": 5}, {"n": 0}),
)
WAYS = How(fusion="auto", others=("aggressive", "none"))


def test_a_stage_that_fails_under_one_policy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lower = stages.lower

    def fails_unmerged(graph: Any, merge: bool, log: Any) -> Any:
        if not merge:
            raise KeyError("planted")
        return lower(graph, merge, log)

    monkeypatch.setattr(stages, "lower", fails_unmerged)
    check_program(PROGRAM, tmp_path, How(fusion="auto", others=("aggressive",)))
    with pytest.raises(InternalError, match="planted"):
        check_program(PROGRAM, tmp_path, WAYS)


def test_a_wrong_kernel_under_one_policy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    emit, make = stages.emit_kernel, stages.make_plan

    def wrong_kernel(kernel: Any) -> str:
        return emit(kernel).replace("3.0", "4.0")

    def scheduled(graph: Any, *args: Any) -> Any:
        is_apart = sum(isinstance(op, GenericOp) for op in graph.block.ops) > 1
        monkeypatch.setattr(stages, "emit_kernel", wrong_kernel if is_apart else emit)
        return make(graph, *args)

    monkeypatch.setattr(stages, "make_plan", scheduled)
    with pytest.raises(AssertionError, match="call 0, fusion none: result"):
        check_program(PROGRAM, tmp_path, WAYS)


def test_policies_that_fuse_alike_are_compiled_once(tmp_path: Path) -> None:
    tally = Tally()
    check_program(PROGRAM, tmp_path, WAYS, tally)
    assert tally.programs == 3
    assert tally.variants == 2  # "aggressive" folds the one producer as "auto" does
    assert tally.served == 9


def test_the_first_policy_is_checked_whole() -> None:
    ways = list(Plan(fusions=("none", "auto"), jit_every=5).ways(10))
    assert ways == [How(fusion="none", others=("auto",)), How(jit=True, fusion="none")]
