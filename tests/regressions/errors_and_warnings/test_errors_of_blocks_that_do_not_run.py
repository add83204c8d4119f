"""A read-only store in a skipped block gave an internal error: it was expected to raise.

A store into a read-only array under a condition on elements was taken for one that NumPy refuses
always; where the condition is false, the call succeeds, and that was told as an internal error.
"""

import warnings

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit.outcome import FAULT
from fusejit_testing.oracle import decorate


def stored(a):
    if a[0] > 1:
        a[...] = a.sum()
    return a * 2


@pytest.mark.parametrize("first", [0.0, 2.0])
def test_a_store_into_an_array_that_may_not_be_written(first):
    a = np.array([first, 2.0])
    a.flags.writeable = False
    f = decorate(stored, jit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        if first > 1:
            with pytest.raises(ValueError, match="read-only"):
                f(a)
        else:
            assert np.array_equal(f(a), a * 2)
    assert not [cause for cause in f.variants.fallbacks if FAULT in cause]
