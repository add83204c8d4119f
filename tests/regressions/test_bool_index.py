"""A bool made of numbers is a mask as an index, not the integer 0 or 1 (found by the fuzzer)."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import UnsupportedError, fuse_jit


@pytest.mark.parametrize("k", [0, 5])
def test_bool_of_a_number_as_index_is_refused(k: int) -> None:
    @fuse_jit
    def store(a, k):
        a[k > 3] = 3

    @fuse_jit
    def load(a, k):
        return a[k > 3]

    a = np.arange(4.0)
    for function in (store, load):
        with pytest.raises(UnsupportedError, match="index"):
            function(a, k)
    np.testing.assert_array_equal(a, np.arange(4.0))
