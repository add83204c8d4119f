"""Sums of `np.block` results had other strides: results in a new order were copied.

What is computed from such a result has its order. Kernels are made for one, and results in another
were copied into it: after matrices in Fortran order the sum of `blocks` came in Fortran order for a
single column too, whose blocks NumPy joins in C order.
"""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same


def blocks(a):
    q = np.block([a, a - 2])
    return np.roll(q, 1, 0) + q


def after_a_store(a, out):
    out += 1
    return np.block([a, a - 2]) * 2


SHAPES = [(2, 2), (2, 1), (1, 2), (3, 1), (1, 1), (4, 3)]


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")  # NumPy runs the others
@pytest.mark.parametrize("first", range(len(SHAPES)))
def test_strides_of_all_sizes(first):
    fused = fuse_jit(blocks)
    for rows, columns in SHAPES[first:] + SHAPES[:first]:
        a = np.asfortranarray(np.arange(rows * columns, dtype=float).reshape(rows, columns))
        expected, actual = blocks(a), fused(a)
        assert_same(expected, actual)
        assert expected.strides == actual.strides


def test_a_call_that_cannot_start_anew_has_the_right_numbers():
    fused = fuse_jit(after_a_store)
    for shape in SHAPES:
        a = np.asfortranarray(np.arange(np.prod(shape), dtype=float).reshape(shape))
        out, expected_out = np.zeros(3), np.zeros(3)
        np.testing.assert_array_equal(fused(a, out), after_a_store(a, expected_out))
        np.testing.assert_array_equal(out, expected_out)
