"""Merged operations read out of bounds: the merge moved a read before its length check.

The campaign found it: `w1[..., 1::2] + t0` was computed beside ``t0 < t0[::-1]``, which stands in
front of the check of the lengths, and read past the end of ``q``. No number was wrong, since
NumPy ran the call in the end, but the memory is nobody's.
"""

import numpy as np
import pytest

from fusejit_testing.oracle import check


def masked(a):
    t0 = a * a
    q = np.delete(a, 1)
    w1 = np.zeros(q.shape)
    np.copyto(w1, q, where=(q > q[0]))
    a[t0 < t0[::-1].T] = True
    return {"0": w1[..., 1::2] + t0}


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")  # it broadcasts after all
def test_masked():
    check(masked, (np.array([-1, 3, 0.5]),), variants=None)
