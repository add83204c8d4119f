"""A name unbound in a skipped loop gave an internal error: the loop was assumed to run."""

import warnings

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.outcome import FAULT


def f(a):
    for _ in range(len(a)):
        t = np.zeros(a.shape)
    w = 0
    while w < a.shape[0]:
        w += 1
        t[0] += 1
    return w


@pytest.mark.parametrize("sizes", [(0, 2, 0), (2, 0, 2)])
def test_a_name_without_a_value(sizes):
    fused = fuse_jit(f)
    for n in sizes:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert fused(np.zeros((n, 1))) == n
        assert not any(FAULT in str(w.message) for w in caught)
    assert not any(FAULT in reason for reason in fused.variants.fallbacks)
