"""NumPy ran reshapes to late sizes: the reshape moved before the product of the lengths.

The campaign found it: where a host call gives the length, the reshape moved up to the sum, where
the product of the lengths has no name yet. The verifier noticed, and NumPy ran the call.
"""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def flat(a):
    q = np.delete(a, 0, axis=0)
    return (q + q + q).reshape(-1)


def matrix(a):
    q = np.delete(a, 0, axis=0)
    return np.exp((q * 2).ravel()), np.delete(a, 1, axis=1).ravel() + 1


@pytest.mark.parametrize("program", [flat, matrix])
def test_in_one_program(program):
    check(program, *[(np.arange(n * m).reshape(n, m),) for n, m in ((5, 4), (3, 8), (7, 2))])
    fused = fuse_jit(program)
    fused(np.arange(20).reshape(5, 4))
    assert not fused.variants.fallbacks
