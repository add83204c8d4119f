"""VerificationError for a reshape first read in a `while` condition: only that block had it.

The reshape was made once, in the block of the condition of a ``while``, and what stood after the
loop used that one, which is not visible there: VerificationError.
"""

import numpy as np
import pytest

from fusejit_testing.oracle import check


def in_a_condition(a):
    b = np.zeros(a.size).reshape(a.shape)
    k = 0
    while k < 5 and b[0, -1] > 1.5:
        k += 1
    return a + b


def in_a_loop(a):
    b = (a * 2).reshape(-1)
    total = 0.0
    for k in range(a.shape[0]):
        total += b[k]
    return b + 1, total


def in_a_branch(a):
    b = (a * 2).reshape(-1)
    s = 0.0
    if a[0, 0] > 1:
        s = b.sum()
    return b * s, b - 1


@pytest.mark.parametrize("program", [in_a_condition, in_a_loop, in_a_branch])
def test_reads_behind_the_block(program):
    check(program, *[(np.arange(r * c).reshape(r, c) * 1.0,) for r, c in ((3, 3), (2, 5))])


def of_nothing(a):
    return (
        np.zeros(0).reshape(3, 0),
        np.zeros(0).reshape(a.shape[0], 0),
        np.zeros((2, 0)).reshape(0),
    )


def test_reshapes_of_nothing_may_be_written():
    """Their launcher took an axis that no element has for one that repeats an element."""
    check(of_nothing, (np.ones((3, 3)),), (np.ones((2, 5)),))
    check(lambda a: np.broadcast_to(a[:0], (3, 0)), (np.ones(4),))
