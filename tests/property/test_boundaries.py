"""Random programs with statements that Python has to run, in segments and under NumPy.

10,000 of them by hand: ``assert_no_difference(range(10_000))``.
"""

from __future__ import annotations

import pytest

from fusejit.testing.boundaries import assert_no_difference


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_boundaries(first: int) -> None:
    assert_no_difference(range(first, first + 60))
