"""`break` on an element failed in loops of up to four iterations, which are unrolled."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import check


def broken(a):
    n = 0
    for i in range(3):
        n += 1
        if a[i, 0] >= 0:
            break
        a[i] = n
    return n


def returned(a):
    for i in range(4):
        a[0] += 1
        if a[0, 0] > i:
            return i + 0.5
    return -1.0


def nested(a):
    n = 0
    for i in range(3):
        n += 1
        for j in range(3):
            if a[i, 0] >= j:
                break
            n += 1
        else:
            n += 10
    return n


@pytest.mark.parametrize("function", [broken, returned, nested])
def test_loops_that_end_early(function) -> None:
    for first in (-20.0, -5.0, 0.0):
        check(function, (np.arange(12.0).reshape(4, 3) + first,))
