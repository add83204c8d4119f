"""Random programs under every fusion policy: fusing changes speed, never a bit."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import UnsupportedError
from fusejit_testing.compare import EXACT
from fusejit_testing.oracle import compare_outcomes, run
from fusejit_testing.programs.programs_random import SIZES, RandomProgram, load, random_program

BATCH = 20
CI, DEEP = 200, 2000


@pytest.fixture(autouse=True)
def unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


def policies(seed: int) -> Iterator[tuple[str, Any]]:
    """The policies to compare with "none"; the random one refuses half of the legal folds."""
    rng = random.Random(seed)
    yield "auto", "auto"
    yield "aggressive", "aggressive"
    yield "random", lambda candidate: rng.random() < 0.5


def agrees(program: RandomProgram) -> bool:
    """Compare the policies bit by bit; False if fusejit does not compile the program."""
    with tempfile.TemporaryDirectory(prefix="fusejit-programs-") as folder:
        function = load(program, Path(folder))
        for at, sizes in enumerate(SIZES):
            args = program.call(sizes, at)
            expected = run(fuse_jit(fusion="none", fullgraph=True)(function), args)
            if isinstance(expected.error, UnsupportedError | Warning):
                return False
            for name, fusion in policies(program.seed):
                actual = run(fuse_jit(fusion=fusion, fullgraph=True)(function), args)
                compare_outcomes(expected, actual, EXACT, f"{program}\n{name} at {sizes}")
    return True


def check_batch(seeds: range) -> None:
    """Check every program; most must compile."""
    with np.errstate(all="ignore"):
        compiled = sum(agrees(random_program(seed)) for seed in seeds)
    assert compiled >= 0.7 * len(seeds), "fusejit refuses too many programs of this batch"


def batches(count: int, start: int) -> list[range]:
    return [range(at, at + BATCH) for at in range(start, start + count, BATCH)]


@pytest.mark.parametrize("seeds", batches(CI, 0), ids=str)
def test_policies_agree(seeds: range) -> None:
    check_batch(seeds)


@pytest.mark.deep
@pytest.mark.parametrize("seeds", batches(DEEP, 300_000), ids=str)
def test_policies_agree_deep(seeds: range) -> None:
    check_batch(seeds)
