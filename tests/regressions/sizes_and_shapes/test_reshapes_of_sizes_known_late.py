"""UnboundLocalError for `reshape(-1)`: the launcher read an array before the kernel made it.

Its memory has the result's shape if that is known before the kernel. ``reshape(-1)`` of rows
that a call between kernels has left has a length that the kernel itself finds out, so the launcher
read an array that it had not made yet: UnboundLocalError.
"""

import numpy as np

from fusejit_testing.oracle import check


def flattened(b):
    rows = np.delete(b, 0, axis=0)
    return (rows - rows[:, :1] - 2).reshape(-1)


def split(b):
    rows = np.unique(b)
    return (np.outer(rows, b[0]) * 2).reshape(-1), (rows * 2).reshape(-1, 1)


def test_reshapes():
    calls = [(np.arange(r * c).reshape(r, c) % 5,) for r, c in ((2, 2), (3, 4), (1, 3), (5, 1))]
    check(flattened, *calls, variants=None)
    check(split, *calls, variants=None)
    check(flattened, calls[1], jit=True)
