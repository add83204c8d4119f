"""Random NumPy programs, every way: see `fusejit_testing.programs.programs_random`."""

from __future__ import annotations

import math

import pytest

from fusejit_testing.programs.program_check import check_seed

BATCH = 25
UNJITTED, EDGES, MANY, JITTED = 1000, 300, 200, 150
DEEP = 20_000
LIMIT = 0.8  # of the programs at least compile


def batches(count: int) -> list[range]:
    return [range(at, at + BATCH) for at in range(0, count, BATCH)]


def check_batch(seeds: range, *, jit: bool = False, calls: str = "two") -> None:
    """Check every program; most must compile, but for chance: which types a batch of few draws."""
    compiled = sum(check_seed(seed, jit=jit, calls=calls) for seed in seeds)
    deviation = math.sqrt(len(seeds) * LIMIT * (1 - LIMIT))
    least = LIMIT * len(seeds) - 4 * deviation
    assert compiled >= least, "fusejit refuses too many programs of this batch"


@pytest.mark.parametrize("seeds", batches(UNJITTED), ids=str)
def test_unjitted(seeds: range) -> None:
    """NumPy = interpreter = unjitted source at two sizes, with one compilation."""
    check_batch(seeds)


@pytest.mark.parametrize("seeds", batches(EDGES), ids=str)
def test_axes_of_length_zero_and_one(seeds: range) -> None:
    """The same programs where axes are empty or 1 long, errors included."""
    check_batch(seeds, calls="edges")


@pytest.mark.parametrize("seeds", batches(MANY), ids=str)
def test_many_sizes_in_a_row(seeds: range) -> None:
    """A variant serves only calls that take the decisions of its trace."""
    check_batch(range(seeds.start + 50_000, seeds.stop + 50_000), calls="many")


@pytest.mark.parametrize("seeds", batches(JITTED), ids=str)
def test_jitted(seeds: range) -> None:
    """The kernels give the bits of their source."""
    check_batch(seeds, jit=True)


@pytest.mark.deep
@pytest.mark.parametrize("seeds", batches(DEEP), ids=str)
def test_deep(seeds: range) -> None:
    """The long campaign, on programs that CI does not see."""
    shifted = range(seeds.start + 100_000, seeds.stop + 100_000)
    check_batch(shifted)
    check_batch(shifted, calls="edges")
    check_batch(shifted, calls="many")


@pytest.mark.deep
@pytest.mark.parametrize("seeds", batches(DEEP // 10), ids=str)
def test_deep_jitted(seeds: range) -> None:
    check_batch(range(seeds.start + 200_000, seeds.stop + 200_000), jit=True)
