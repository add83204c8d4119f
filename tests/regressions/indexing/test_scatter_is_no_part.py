"""A scatter into a new array wrote all of it: a pass took the scatter for a store of its view.

``fusejit.fuse.folding.concat_reads`` treated a scatter as a kind of store.
"""

import numpy as np

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same


def test_a_scatter_into_an_array_that_is_read_once() -> None:
    def placed(x, k):
        y = np.zeros(x.shape)
        y[k] = x[: k.shape[0]] + 1
        return y * 2 + x

    x, k = np.arange(6.0), np.array([4, 1, 4])
    assert_same(placed(x, k), fuse_jit(placed)(x, k))
