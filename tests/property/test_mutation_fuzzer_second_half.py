"""The other half of the programs of `test_mutation_fuzzer`: xdist gives a file to one worker."""

from __future__ import annotations

import pytest

from fusejit_testing.programs.mutation_fuzzer import Plan, assert_no_difference

CHUNK = 250


@pytest.mark.parametrize("first", range(2500, 5000, CHUNK))
def test_random_programs(first: int) -> None:
    assert_no_difference(first, CHUNK, Plan(jit_every=33))
