"""`np.delete(a, 0, axis=0)[1:]` of one row was an internal error: memory preceded the check.

The launcher allocated ``rows - 1`` rows with the number that the host call had found, before the
kernel checked that it is positive.
"""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import decorate, no_faults


@pytest.mark.filterwarnings("ignore:f runs as plain NumPy")
def test_a_size_that_is_negative_in_a_later_call() -> None:
    def f(a):
        rest = np.delete(a, 0, axis=0)
        return rest[::2] + rest[1:]

    with no_faults() as folder:
        decorated = decorate(f, jit=False, reports=folder)
        for rows in (3, 3, 1, 2, 4):
            a = np.ones((rows, 3), bool)
            np.testing.assert_array_equal(decorated(a), f(a))
        assert decorated.variants.compiled
