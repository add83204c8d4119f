"""Random structured ops, alone and between operations of NumPy, against ``op.reference``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit.ir.definitions import instance
from fusejit_testing.structured.campaign import failures_of
from fusejit_testing.structured.op_maker import make_op
from fusejit_testing.structured.structured_check import Tally, check_seed

BATCH = 25


@pytest.mark.parametrize("start", range(0, 500, BATCH))
def test_unjitted(start: int) -> None:
    tally = Tally()
    failures = failures_of(range(start, start + BATCH), 0, tally)
    assert not failures, "\n\n".join(failures)
    assert tally.ops == BATCH
    assert tally.outcomes["in a program"] > 0.8 * BATCH


@pytest.mark.parametrize("seed", range(1000, 1024))
def test_jitted(seed: int, tmp_path: Path) -> None:
    check_seed(seed, tmp_path / "reports", jit=True)


@pytest.mark.deep
@pytest.mark.parametrize("start", range(10_000, 20_000, 500))
def test_deep(start: int) -> None:
    failures = failures_of(range(start, start + 500), 20, Tally())
    assert not failures, "\n\n".join(failures)


def test_other_sizes_are_another_call_of_the_same_op() -> None:
    for seed in range(200):
        first, second = make_op(seed), make_op(seed, 1)
        assert first.definition == second.definition
        assert first.call == second.call
        dtypes = [[np.asarray(a).dtype for a in c.arguments.values()] for c in (first, second)]
        assert dtypes[0] == dtypes[1]


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled ops that take the larger of two numbers where the smaller one is meant."""
    from fusejit.tracer.np import structured_ops

    def planted(binding: Any) -> Any:
        made = instance.instantiate(binding)
        for op in made:
            for output in op.outputs:
                if output.combiner == "min":
                    object.__setattr__(output, "combiner", "max")
        return made

    monkeypatch.setattr(structured_ops, "instantiate", planted)
    failures = failures_of(range(1, 40), 0, Tally())
    assert failures
    assert all("seed " in text and "elements differ" in text for text in failures)


def test_a_refusal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An op that its reference computes and the compiler refuses."""
    from fusejit.tracer.np import structured_ops

    def refused(*args: Any) -> Any:
        raise ValueError("planted")

    monkeypatch.setattr(structured_ops, "check_starts", refused)
    failures = failures_of(range(2, 6), 0, Tally())
    assert len(failures) == 4
