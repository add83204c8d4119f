"""A store of no elements replaced a whole array: fusion took it for a store of all elements.

``fusejit.fuse.folding.concat_reads`` made this assumption of a view that does not move over its
elements.
"""

import numpy as np

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same


def test_a_slice_without_elements_of_a_scalar_with_an_axis() -> None:
    def emptied(y):
        last = y[-1]
        row = last[None]
        row[1:-1] = 0
        return row.copy()

    y = np.array([1, 2, 222], np.uint8)
    assert_same(emptied(y), fuse_jit(emptied)(y))
