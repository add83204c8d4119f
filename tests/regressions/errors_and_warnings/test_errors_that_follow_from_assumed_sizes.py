"""An internal error reported a shape mismatch that follows only from assumed sizes.

Random programs found it: ``p[k] = t`` assumes that ``k`` selects as many elements as ``p`` has
rows, so ``t + q`` would raise. With one element selected NumPy runs both.
"""

import warnings

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit


def rows(a):
    p = np.rot90(a)
    q = np.pad(a, (1, 2), "symmetric")
    t = q[q == 1]
    p[abs(t).astype(np.int64) % t.shape[0]] = t
    return t + q


def third(b):
    q = np.outer(b, b)
    q = q[q != q[::-1]]
    q += b[::2][::2]
    return np.where(q > q[2], q, 0)


def diagonal(x):
    x[np.arange(len(x))[::-1]] = np.diag(x)
    return x


A = np.arange(36.0).reshape(6, 6) + 0.5
A[2, 3] = 1


CALLS = [(rows, A), (third, np.array([2.5, -1.5, -1.5, -0.5])), (diagonal, np.zeros(0))]


@pytest.mark.parametrize(("program", "x"), CALLS)
def test_it_runs_and_nobody_says_it_is_a_fault(program, x):
    fused = fuse_jit(program)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", FuseWarning)
        np.testing.assert_array_equal(fused(x.copy()), program(x.copy()))
    assert not [w for w in told if "internal error" in str(w.message)]
    assert not [cause for cause in fused.variants.fallbacks if "internal error" in cause]
