"""``fuse_jit(fusion=...)``: names, functions, and equal bits under each of them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fusejit import FusionCandidate, fuse_jit
from fusejit.fuse.folding.cost import Accept, Reject
from fusejit.ir.execution_plan import KernelStep
from fusejit_testing.compare import assert_same

X = np.random.default_rng(0).random((5, 7))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def blend(x: Any) -> Any:
    low, high = np.sqrt(x) * 2, x * x - 1
    y = np.where(x > 0.5, low, high)
    y[1:] += low[:-1]
    return y, abs(y).max(axis=0), (low + high).sum(axis=1)


def num_ops(fused: Any) -> int:
    report = fused.trace(X).fuse().report
    assert isinstance(report.ops_after, int)
    return report.ops_after


def test_none_keeps_every_op_and_forms_no_group() -> None:
    stage = fuse_jit(fusion="none")(softmax).trace(X).fuse()
    assert stage.report.ops_after == stage.report.ops_before == 5
    assert not stage.report.folded
    assert not any(s.groups for s in stage.schedule.steps if isinstance(s, KernelStep))


def test_aggressive_recomputes() -> None:
    assert num_ops(fuse_jit(fusion="aggressive")(softmax)) == 3
    assert num_ops(fuse_jit(fusion="auto")(softmax)) == num_ops(fuse_jit(softmax)) == 4


def test_the_environment_names_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_FUSION", "none")
    assert num_ops(fuse_jit(softmax)) == 5
    assert num_ops(fuse_jit(fusion="auto")(softmax)) == 4


def test_a_function_sees_each_candidate_and_gives_its_reason() -> None:
    seen: list[FusionCandidate] = []

    def control(candidate: FusionCandidate) -> Any:
        seen.append(candidate)
        return "hands off" if candidate.producer.name.startswith("exp") else candidate.default

    fused = fuse_jit(fusion=control)(softmax)
    assert "exp and sum: hands off [policy]" in fused.explain(X, detail=True)
    first = seen[0]
    assert (first.producer.name, first.consumer.name) == ("subtract", "exp")
    assert (first.uses, first.places) == (1, 1)
    # written (and fetched for that) and read back; x is read as before, the maximum with it
    assert first.bytes_saved == 3 * 8
    assert 0 < first.cost_ns < 1
    assert isinstance(first.default, Accept)


def diamond(x: Any) -> Any:
    kept = np.exp(x)
    return kept, kept * 2, kept.sum(axis=1), kept.max(axis=1)


@pytest.mark.parametrize("kind", ["fold", "merge", "group"])
def test_each_kind_can_be_refused_with_a_reason(kind: str) -> None:
    """The others are done all the same, and the refusal is told."""

    def control(candidate: FusionCandidate) -> Any:
        seen.append(candidate)
        return f"no {kind} here" if candidate.kind == kind else candidate.default

    seen: list[FusionCandidate] = []
    fused = fuse_jit(fusion=control)(lambda x: (*diamond(x), (x + 1) * 3))
    report = fused.trace(X).fuse().report
    done = {f.how for f in report.folded} | ({"group"} if report.grouped else set())
    assert done == {"fold", "merge", "group"} - {kind}
    assert {r.how for r in report.refused if r.rule == "policy"} == {kind}
    assert f"no {kind} here [policy]" in fused.explain(X, detail=True)
    (first, *_) = [c for c in seen if c.kind == kind]
    assert first.producers[-1:] == (first.producer,) or kind == "group"
    assert first.producer in first.producers
    if first.operand_index is not None:
        read = first.consumer.operand_values[first.operand_index]
        assert read in first.producer.results
        assert first.bytes_saved >= 8
    assert isinstance(first.default, Accept) or kind == "fold"


def test_merges_and_groups_say_what_is_not_read_again() -> None:
    seen: dict[tuple[str, str], FusionCandidate] = {}

    def control(candidate: FusionCandidate) -> Any:
        seen.setdefault((candidate.kind, candidate.consumer.name), candidate)
        return candidate.default

    fuse_jit(fusion=control)(diamond).trace(X).fuse()
    merge = seen["merge", "multiply"]
    assert (merge.uses, merge.places, merge.bytes_saved, merge.operand_index) == (1, 1, 8, 0)
    ((_, group),) = [item for item in seen.items() if item[0][0] == "group"]
    assert len(group.producers) == 1
    assert group.bytes_saved == 8


def test_a_function_that_refuses_all_fuses_nothing() -> None:
    stage = fuse_jit(fusion=lambda c: False)(diamond).trace(X).fuse()
    assert not stage.report.folded
    assert not stage.report.grouped
    assert stage.report.ops_after == stage.report.ops_before


def test_none_leaves_reshapes_and_reductions_alone() -> None:
    def program(x: Any) -> Any:
        halves = (x + 1).reshape(-1, 2).sum(axis=1)
        return halves * 2, (x * x).sum()

    arg = np.random.default_rng(0).random((6, 4))
    none, auto = fuse_jit(fusion="none")(program), fuse_jit(program)
    report = none.trace(arg).fuse().report
    assert report.ops_after == report.ops_before
    assert_same(none(arg), auto(arg))


@pytest.mark.parametrize("kind", ["merge", "group"])
def test_a_policy_that_raises_about_a_merge_or_group_is_the_users_error(kind: str) -> None:
    def broken(candidate: FusionCandidate) -> Any:
        if candidate.kind == kind:
            raise LookupError("nothing there")
        return candidate.default

    with pytest.raises(LookupError, match="nothing there") as caught:
        fuse_jit(fusion=broken)(diamond)(X)
    word = {"merge": "beside", "group": "in one loop with"}[kind]
    assert f" {word} " in caught.value.__notes__[0]


def test_the_choice_between_storing_and_computing_again_is_told() -> None:
    """Dear values that are read twice are stored, cheap ones computed again; both with figures."""
    arg = np.random.default_rng(0).random((40, 30))
    cheap = fuse_jit(lambda x: (lambda c: (c.sum(axis=0), c.max(axis=1)))(x - 1)).explain(
        arg, detail=True
    )
    assert "subtract into sum: 0.1 ns more at 2 places, 24 bytes less to move" in cheap
    assert "[cheap to compute again]" in cheap
    expensive = fuse_jit(lambda x: (lambda c: (c.sum(axis=0), c.max(axis=1)))(np.tan(x))).explain(
        arg, detail=True
    )
    assert "ns more to compute it at 2 places [several uses]" in expensive


def test_bytes_saved_count_what_is_read_again() -> None:
    seen: dict[str, FusionCandidate] = {}

    def control(candidate: FusionCandidate) -> Any:
        if candidate.kind == "fold":
            seen[candidate.producer.name] = candidate
        return False

    def program(x: Any, y: Any) -> Any:
        total = x + y
        kept = x * y
        return np.sqrt(total), total.sum(axis=0), kept, np.exp(kept)

    fuse_jit(fusion=control)(program).trace(X, X).fuse()
    # computed, written, read twice: (2 + 2) * 8 and x, y once; recomputed: x and y twice
    assert (seen["add"].uses, seen["add"].bytes_saved) == (2, 4 * 8 + 16 - 32)
    assert seen["multiply"].bytes_saved == 8 - 16  # written all the same, so only one read less


def test_the_default_decision_can_be_handed_back() -> None:
    assert num_ops(fuse_jit(fusion=lambda c: c.default)(softmax)) == 4
    refused = fuse_jit(fusion=lambda c: False)(softmax)
    assert "the fusion policy refuses [policy]" in refused.explain(X, detail=True)
    assert "no [mine]" in fuse_jit(fusion=lambda c: Reject("mine", "no"))(softmax).explain(
        X, detail=True
    )


def test_a_policy_that_raises_is_the_users_error() -> None:
    def broken(candidate: FusionCandidate) -> bool:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there") as caught:
        fuse_jit(fusion=broken)(softmax)(X)
    assert "asked about subtract into exp" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("fusion", "error", "message"),
    [
        ("all", ValueError, "fusion='all' is not one of 'auto', 'aggressive', 'none'"),
        (3, TypeError, "must be a name or a function, not int"),
    ],
)
def test_wrong_policies_are_told_at_decoration(
    fusion: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fuse_jit(fusion=fusion)(softmax)


def test_a_wrong_name_in_the_environment_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_FUSION", "most")
    with pytest.raises(ValueError, match="'most' is not one of 'auto'") as caught:
        fuse_jit(softmax)
    assert caught.value.__notes__ == ["the environment variable FUSEJIT_FUSION names it"]
    fuse_jit(fusion="auto")(softmax)


def test_a_wrong_answer_is_told() -> None:
    with pytest.raises(TypeError, match="returns True, False, None or a reason, not float"):
        fuse_jit(fusion=lambda c: 0.5)(softmax)(X)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("program", [softmax, blend])
def test_bits_are_those_of_no_fusion(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    expected = fuse_jit(fusion="none", fullgraph=True)(program)(X)
    rng = random.Random(0)
    policies: list[Any] = ["auto", "aggressive", *[lambda c: rng.random() < 0.5] * 10]
    for fusion in policies:
        assert_same(expected, fuse_jit(fusion=fusion, fullgraph=True)(program)(X))
