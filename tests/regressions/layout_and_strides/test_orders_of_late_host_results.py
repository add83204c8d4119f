"""`np.block` of one row after a store gave other strides: lengths of 1 were not checked.

The campaign found it: ``np.block`` of parts in Fortran order of one row is in C order. After a
store, the call could not start again when that was seen, and ``q + 1`` had other strides.
"""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def blocks(b):
    b.T[...] += 1
    q = np.block([[b, b], [b + 1, b]])
    return q + 1


def turned(b):
    return np.block([[b, b], [b + 1, b]]) * 2


@pytest.mark.parametrize("program", [blocks, turned])
def test_parts_of_one_row(program):
    shapes = (3, 4), (1, 5), (5, 1), (1, 1), (0, 5)
    check(program, *[(np.ones(shape, order="F"),) for shape in shapes], variants=None)
    fused = fuse_jit(program)
    for shape in shapes:
        fused(np.ones(shape, order="F"))
    assert not fused.variants.fallbacks
