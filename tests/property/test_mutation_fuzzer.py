"""Random programs of views and stores: NumPy and every stage of fusejit agree, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusejit.codegen.bufferize import bufferization as assignment
from fusejit.codegen.bufferize.hazards import FREE
from fusejit_testing.compare import assert_same
from fusejit_testing.programs.mutation_fuzzer import (
    Plan,
    assert_no_difference,
    check_program,
    report,
    shrink,
)
from fusejit_testing.programs.mutation_maker import make_program
from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter, Statement

CHUNK = 250


@pytest.mark.parametrize("first", range(0, 2500, CHUNK))
def test_random_programs(first: int) -> None:
    assert_no_difference(first, CHUNK, Plan(jit_every=33))


@pytest.mark.deep
@pytest.mark.parametrize("first", range(2500, 60_000, 1000))
def test_many_random_programs(first: int) -> None:
    assert_no_difference(first, 1000, Plan(jit_every=5))


def test_a_seed_gives_one_program() -> None:
    for seed in range(40):
        one, other = make_program(seed), make_program(seed)
        assert one.source == other.source
        assert one.calls == other.calls
        for call in range(len(one.calls)):
            for a, b in zip(one.arguments(call), other.arguments(call), strict=True):
                assert_same(a, b)


def test_programs_have_what_they_are_made_for() -> None:
    text = "\n".join(make_program(seed).source for seed in range(500))
    parts = ["[::-1]", ".T", "-= ", "[:-1] =", "out=", "bump(", ".sum("]
    parts += ["in range(", "in enumerate(", "in zip(", "reversed(", "while ", "elif ", "else:"]
    parts += ["break", "continue", "return float(", "np.copyto(", "np.putmask(", "np.add.at("]
    for part in parts:
        assert part in text, part
    layouts = {p.layout for seed in range(120) for p in make_program(seed).parameters}
    assert {"C", "F", "step", "reversed", "offset", "broadcast"} < layouts


@pytest.fixture
def overlapping() -> MutationProgram:
    """A program with one statement that matters, among others."""
    body = (
        Statement("t = a + 1"),
        Statement("for i in range(2):", (Statement("t[i] = 5"), Statement("a[1:] = a[:-1]"))),
        Statement("u = t[::-1]"),
        Statement("u *= 2"),
    )
    parameters = (Parameter("a", "float64", ("n",), "C"),)
    return MutationProgram(1, parameters, body, ("t", "u"), "tuple", ({"n": 5},) * 2)


def test_a_fault_is_found_and_shrunk(
    overlapping: MutationProgram, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check_program(overlapping, tmp_path)
    monkeypatch.setattr(assignment, "overlap_of", lambda *args, **kwargs: FREE)
    with pytest.raises(AssertionError, match=r"arguments afterwards\[0\]"):
        check_program(overlapping, tmp_path)
    small = shrink(overlapping, tmp_path)
    assert [s.text for s in small.body] == ["a[1:] = a[:-1]"]
    assert small.returned == ()
    assert len(small.calls) == 1
    assert "a[1:] = a[:-1]" in report(overlapping, tmp_path)
