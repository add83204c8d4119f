"""``fuse_jit(fusion=...)``: names, functions, and equal bits under each of them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fusejit import FusionCandidate, fuse_jit
from fusejit.fuse.cost import Accept, Reject
from fusejit.ir.schedule import KernelStep
from fusejit.testing.compare import assert_same

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
    assert "exp and sum: hands off [policy]" in fused.explain(X)
    first = seen[0]
    assert (first.producer.name, first.consumer.name) == ("subtract", "exp")
    assert (first.uses, first.places) == (1, 1)
    # written (and fetched for that) and read back; x is read as before, the maximum with it
    assert first.bytes_saved == 3 * 8
    assert 0 < first.cost_ns < 1
    assert isinstance(first.default, Accept)


def test_bytes_saved_count_what_is_read_again() -> None:
    seen: dict[str, FusionCandidate] = {}

    def control(candidate: FusionCandidate) -> Any:
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
    assert "the fusion policy refuses [policy]" in refused.explain(X)
    assert "no [mine]" in fuse_jit(fusion=lambda c: Reject("mine", "no"))(softmax).explain(X)


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
