"""Every way to make an array by several stores, crossed with every way to use it, against NumPy.

Regression: ``x[i] = np.concatenate(..)`` wrote rows 0 to n-1 (also roll, pad, stack, lists,
``np.insert``, ``np.isin``): a pass dropped the integer index of a ``Scatter``.
"""

from __future__ import annotations

import pytest

from fusejit_testing.programs.join_programs import NUM_PAIRS, make_join_program
from fusejit_testing.programs.join_templates import PRODUCERS, USES
from fusejit_testing.programs.mutation_fuzzer import Plan, Tally, campaign

STEP = 41  # no divisor of the number of pairs: all producers and all uses occur
FUSIONS = ("auto", "aggressive", "none")


def checked(seeds: range, plan: Plan) -> Tally:
    tally = campaign(seeds, plan)
    assert not tally.failures, "\n\n".join([*tally.failures, str(tally)])
    assert tally.served > 2 * tally.programs, tally
    return tally


@pytest.mark.parametrize("part", range(3))
def test_pairs(part: int) -> None:
    """A sample of the pairs; each third of it is fused in another way."""
    plan = Plan(make_join_program, (FUSIONS[part],), jit_every=40)
    checked(range(part * STEP, NUM_PAIRS, 3 * STEP), plan)


@pytest.mark.deep
@pytest.mark.parametrize("first", range(NUM_PAIRS, 4 * NUM_PAIRS, 1000))
def test_all_pairs(first: int) -> None:
    checked(range(first, first + 1000), Plan(make_join_program, FUSIONS, jit_every=20))


def test_the_sample_has_each_producer_and_each_use() -> None:
    seeds = range(0, NUM_PAIRS, STEP)
    assert {s % len(PRODUCERS) for s in seeds} == {*range(len(PRODUCERS))}
    assert {s // len(PRODUCERS) for s in seeds} == {*range(len(USES))}


def test_pairs_are_made() -> None:
    """NumPy takes most pairs: the array is made, and used."""
    sources = [make_join_program(seed).text for seed in range(0, NUM_PAIRS, 97)]
    made = [s for s in sources if "    q = " in s]
    assert len(made) > 0.9 * len(sources)
    used = [s for s in made if s.split("    q = ", 1)[1].count("q") > 1]
    assert len(used) > 0.7 * len(sources)
