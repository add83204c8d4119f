"""The check of random programs finds what is planted, and allows only what a rule allows."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit.ir.payload import PayloadBuilder
from fusejit.tracer.builder.shapes import Decisions
from fusejit.tracer.np.elementwise import ufuncs
from fusejit.tracer.ops import elementwise_op as elementwise
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.values.array import TracedArray
from fusejit_testing import liberties
from fusejit_testing.graphs.written_sums import numpy_as_written
from fusejit_testing.liberties import DECLINES, allowed_decline
from fusejit_testing.oracle import decorate
from fusejit_testing.programs.program_check import Tally, campaign, check_program
from fusejit_testing.programs.program_facts import observe
from fusejit_testing.programs.programs_random import SIZES, Argument, RandomProgram, load


def program(
    *statements: str, dtype: str = "f8", axes: tuple[str, ...] = ("n",), inexact: bool = False
) -> RandomProgram:
    return RandomProgram(1, (Argument("x", dtype, axes, "C"),), 2.5, statements, "v", inexact)


SUM = program("v = np.sum(x * 2 + 1, axis=-1)", axes=("n", "m"))
FLOAT16 = program("w = np.sqrt(x)", "v = w.astype(np.float64)", dtype="u1")


def check(subject: RandomProgram, **options: Any) -> bool:
    return check_program(subject, jit=False, **options)


def test_what_is_right_passes() -> None:
    assert check(SUM)
    assert check(SUM, calls="edges")
    assert check(program("v = np.exp(x)", inexact=True))


# ----------------------------------------------------------------------------------- wrong results
def test_a_wrong_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = PayloadBuilder.op

    def wrong(self: PayloadBuilder, name: str, *args: Any, **kwargs: Any) -> int:
        return right(self, "subtract" if name == "add" else name, *args, **kwargs)

    monkeypatch.setattr(PayloadBuilder, "op", wrong)
    with pytest.raises(AssertionError, match=r"elements differ"):
        check(SUM)


def test_one_wrong_bit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no inexact function is used not even one ulp is allowed."""
    quotient = program("v = x / 3")
    assert check(quotient)
    right = PayloadBuilder.const

    def wrong(self: PayloadBuilder, value: Any, dtype: np.dtype) -> int:
        return right(self, np.nextafter(3.0, 4.0) if value == 3 else value, dtype)

    monkeypatch.setattr(PayloadBuilder, "const", wrong)
    with pytest.raises(AssertionError, match=r"elements differ"):
        check(quotient)


def test_the_sign_of_a_zero_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    negated = program("v = np.where(x < 9, -0.0, -0.0)")
    assert check(negated)
    right = PayloadBuilder.const
    monkeypatch.setattr(
        PayloadBuilder, "const", lambda self, value, dtype: right(self, abs(value), dtype)
    )
    with pytest.raises(AssertionError, match=r"elements differ.*0\.0.* instead of .*-0\.0"):
        check(negated)


def test_a_reference_that_fails_is_no_excuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_as_written, "sum", lambda *args, **kwargs: 1 // 0)
    with pytest.raises(AssertionError, match="the reference fails"):
        check(SUM)


def test_a_missing_guard_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variant that was made where an axis is 1 long serves longer ones."""
    monkeypatch.setattr(Decisions, "condition", lambda self, expr, answer, reason="": answer)
    subject = program("w = x[1::2]", "v = x[0:2] + w", axes=("m",))
    with pytest.raises(AssertionError, match=r"call \d, unjitted"):
        check(subject, calls="many")


# ---------------------------------------------------------------------------------------- declines
@pytest.fixture
def declining(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``declining(cause)``: every ufunc declines with that cause."""

    def plant(cause: str) -> None:
        def resolve(*args: Any, **kwargs: Any) -> Any:
            raise Fallback(cause)

        monkeypatch.setattr(ufuncs, "resolve", resolve)

    return plant


@pytest.mark.parametrize(
    "cause",
    [
        "integers are too hard",  # no row has it
        "dtype float16",  # a row has it, but no float16 appears
        "a float64 scalar stored into int64 has to be checked",  # nothing is stored
        "NumPy warns: mean of an empty slice",  # nothing is empty
        "NumPy raises ValueError: made up",  # NumPy does not
    ],
)
@pytest.mark.parametrize("calls", ["two", "edges"])
def test_a_decline_without_a_rule_is_found(declining: Any, cause: str, calls: str) -> None:
    declining(cause)
    subject = program("v = np.sum(x * 2 + 1, axis=-1)", axes=("m",))  # m is never empty
    with pytest.raises(AssertionError, match=re.escape(cause)):
        check(subject, calls=calls)


def test_a_refusal_without_a_rule_is_found() -> None:
    """Python runs the statement, rightly; the check asks for a rule all the same."""
    with pytest.raises(AssertionError, match=r"no rule allows: .*tobytes"):
        check(program("w = x * 2", "v = np.frombuffer(w.tobytes(), w.dtype)"))
    assert check(program("v = x ** (x + 3)", dtype="i4"))  # was refused once


def test_a_part_does_not_warn_of_memory_that_the_cut_shares(tmp_path: Path) -> None:
    """``x[:-1]`` and ``x`` go to one part, as Python makes the float16 between them."""
    shared = program("x[:-1] -= np.sqrt(np.any(x))", "v = x * 2", dtype="f4")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fused = decorate(load(shared, tmp_path), jit=False)
        fused(*shared.call(SIZES[0], 0))
    assert not [str(w.message) for w in seen if "overlap in memory" in str(w.message)]
    assert "overlap in memory; pass a copy" in fused.explain(*shared.call(SIZES[0], 0))
    assert not check(shared)


@pytest.mark.parametrize(
    ("subject", "cause"),
    [
        (FLOAT16, "dtype float16"),
        (program("v = np.sqrt(x)", dtype="?"), "dtype float16"),
        (program("v = x + x", "v[1:] = p", dtype="i4"), "run-time float arg:p into an array of"),
        (program("v = x + (len(x) << 62) // len(x)"), "integer arithmetic beyond 62 bits"),
    ],
    ids=["loop result", "loop operand", "number", "integer"],
)
def test_each_rule_is_needed(
    subject: RandomProgram, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = Tally()
    assert not check(subject, tally=tally)
    assert tally.declined.total() == 2
    monkeypatch.setattr(liberties, "DECLINES", ())
    with pytest.raises(AssertionError, match=rf"no rule allows: .*{cause}"):
        check(subject)


def test_rules_say_where_they_are_documented() -> None:
    """The file exists, and has the heading."""
    root = Path(__file__).parents[2]
    for row in DECLINES:
        file, _, rest = row.where.partition(", ")
        heading = rest.partition(":")[0]
        assert f"## {heading}\n" in (root / file).read_text(), row.where


def test_a_proof_reads_what_numpy_did() -> None:
    facts = observe(FLOAT16.source, FLOAT16.call({"n": 3}))
    assert allowed_decline("dtype float16", facts)
    assert not allowed_decline("dtype float16", observe(SUM.source, SUM.call({"n": 3, "m": 2})))
    store = program("v = x + x", "v[0] += np.float64(0.5)", dtype="i8")
    seen = observe(store.source, store.call({"n": 3}))
    assert allowed_decline("a float64 scalar stored into int64 has to be checked", seen)
    assert not allowed_decline("a float32 scalar stored into int64 has to be checked", seen)
    assert not allowed_decline("a float64 scalar stored into int32 has to be checked", seen)
    for bits, allowed in ((60, False), (62, True)):
        shifted = program(f"v = x + (len(x) << {bits}) // len(x)")
        seen = observe(shifted.source, shifted.call({"n": 3}))
        assert bool(allowed_decline("integer arithmetic beyond 62 bits", seen)) is allowed


# ---------------------------------------------------------------------------------------- variants
def test_a_second_variant_without_a_reason_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = elementwise.result_order

    def greedy(trace: Any, arrays: list[TracedArray], domain: Any) -> Any:
        for extent in domain:
            trace.decisions.exactly(extent, "an extent of 1 is broadcast")  # not true
        return right(trace, arrays, domain)

    assert check(SUM)
    monkeypatch.setattr(elementwise, "result_order", greedy)
    with pytest.raises(AssertionError, match=r"2 variant\(s\)[^$]* for 1 pattern"):
        check(SUM)


def test_a_second_variant_for_another_reason_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes differ in a decision, but it is another one that the first variant fails at."""
    by_chance = program("w = x[1:-1:4] + 1", "v = x * 2", axes=("n",))
    assert len(set(map(str, _patterns(by_chance)))) == 2
    right = elementwise.result_order

    def greedy(trace: Any, arrays: list[TracedArray], domain: Any) -> Any:
        trace.decisions.exactly(arrays[0].extents[0], "made up")
        return right(trace, arrays, domain)

    monkeypatch.setattr(elementwise, "result_order", greedy)
    with pytest.raises(AssertionError, match=r"a second variant because of \[.*made up"):
        check(by_chance)


def test_a_length_of_one_by_chance_needs_a_second_variant() -> None:
    tally = Tally()
    assert check(program("w = x[1::2]", "v = x[0:2] + w", axes=("m",)), tally=tally)
    assert tally.second_variants == 1


def _patterns(subject: RandomProgram) -> list[Any]:
    return [observe(subject.source, subject.call(s, at)).pattern for at, s in enumerate(SIZES)]


# ----------------------------------------------------------------------------------------- reports
def test_failures_are_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    right = PayloadBuilder.op

    def wrong(self: PayloadBuilder, name: str, *args: Any, **kwargs: Any) -> int:
        return right(self, "square" if name == "sqrt" else name, *args, **kwargs)

    monkeypatch.setattr(PayloadBuilder, "op", wrong)
    log: list[str] = []
    _, failures = campaign(range(50), jit=False, calls="two", log=log.append)
    assert failures == len(log) > 0
    assert all("np.sqrt" in text or "** 0.5" in text for text in log)
    assert all(text.count("\n") < 16 for text in log)
