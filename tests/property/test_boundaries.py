"""Random programs with statements that Python has to run, in segments and under NumPy.

10,000 of them by hand: ``assert_no_difference(range(10_000))``, and with statements that fail
``assert_no_difference(range(10_000), with_failures)``.
"""

from __future__ import annotations

import pytest

from fusejit_testing.programs.boundaries import assert_no_difference
from fusejit_testing.programs.failures import with_failures


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_boundaries(first: int) -> None:
    assert_no_difference(range(first, first + 60))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a time limit
@pytest.mark.parametrize("first", range(0, 240, 60))
def test_failures(first: int) -> None:
    assert_no_difference(range(first, first + 60), with_failures)
