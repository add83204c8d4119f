"""Random programs made for grouping: NumPy, no fusion, and groups agree."""

from __future__ import annotations

import pytest

from fusejit_testing.programs.grouped_check import check_grouped

BATCH = 20


@pytest.mark.parametrize("start", range(0, 160, BATCH))
def test_unjitted(start: int) -> None:
    for seed in range(start, start + BATCH):
        check_grouped(seed, jit=False)


@pytest.mark.parametrize("seed", range(1000, 1010))
def test_jitted(seed: int) -> None:
    check_grouped(seed, jit=True)


@pytest.mark.deep
@pytest.mark.parametrize("start", range(10_000, 15_000, BATCH))
def test_deep(start: int) -> None:
    for seed in range(start, start + BATCH):
        check_grouped(seed, jit=False)
