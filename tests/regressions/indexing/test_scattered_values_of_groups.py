""" "%v1 has no place": a tiled value that is also scattered was recomputed element by element.

The copy shared its loops with the cumulative sum, of which only a tile ever exists, and was to be
computed point by point as the scatter writes it: "%v1 has no place".
"""

import numpy as np
import pytest

from fusejit_testing.oracle import check


def sums(a):
    q = np.cumsum(a, axis=0)
    w = np.zeros(q.shape)
    i = np.arange(q.shape[0])[::-1]
    w[i] = q[: len(i)]
    return w


def normalised(a):
    e = np.exp2(a - a.max(axis=1, keepdims=True))
    w = np.zeros(a.shape)
    w[np.arange(len(a)) * 3 % len(a)] = e / e.sum(axis=1, keepdims=True)
    return w


@pytest.mark.parametrize("program", [sums, normalised])
def test_scatters(program):
    check(
        program,
        *[(np.arange(r * c).reshape(r, c) % 3.0,) for r, c in ((5, 4), (4, 2))],
        variants=None,
    )
