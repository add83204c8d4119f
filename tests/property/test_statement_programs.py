"""Random programs with identity tests and annotations, with parts that are rebound, and with forks.

More of them by hand: ``python -m fusejit_testing.campaign --families identities rebinding forks``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fusejit_testing.campaign.families import FAMILIES
from fusejit_testing.programs.fork_programs import fork_program
from fusejit_testing.programs.identities import ANNOTATIONS, identity_program
from fusejit_testing.programs.rebinding_programs import check_rebinding

BATCH = 20


@pytest.mark.parametrize("first", range(0, 60, BATCH))
def test_identities_and_annotations(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + BATCH):
        FAMILIES["identities"].check(seed, seed % BATCH == 0, tmp_path)


@pytest.mark.parametrize("first", range(0, 60, BATCH))
def test_rebinding(first: int, tmp_path: Path) -> None:
    ways = [check_rebinding(seed, tmp_path) for seed in range(first, first + BATCH)]
    assert ways.count("compared") > 0.8 * BATCH, ways


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_forks(tmp_path: Path) -> None:
    for seed in range(BATCH):
        FAMILIES["forks"].check(seed, False, tmp_path)


def test_programs_have_all_kinds_of_statements() -> None:
    text = "".join(identity_program(seed).text for seed in range(300))
    parts = (" is not ", " is True", " is np.True_", " is ...", "match ", "def f(a: ", ": Missing")
    assert all(part in text for part in parts)
    first_lines = {each.split("\n")[0].split("{0}")[-1] for each in ANNOTATIONS}
    assert all(line in text for line in first_lines)
    forks = [fork_program(seed).text for seed in range(50)]
    assert 10 < sum("fork()" in text for text in forks) < 45
