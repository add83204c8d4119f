"""`np.select` of float32 gave float64: Python numbers computed by a call counted as strong.

Literals were weak, as in NumPy; arguments and numbers read by the kernel were not.
"""

import numpy as np
import pytest

from fusejit_testing.oracle import check


def chosen(b, k, q):
    return (
        np.select([b > 1, b < 0], [b, b * 2], k),
        np.select([b > 1, b < 0], [b, k], q),
        np.select([b > 1, b < 0], [b, q]),
        np.select([b > 1, b < 0], [[1.0, 2.0, 3.0], q]),
        np.select([b > 1, b < 0], [k, q], True),
    )


@pytest.mark.parametrize("dtype", ["f4", "i2", "f8", "u1"])
def test_arguments(dtype):
    b = np.arange(3).astype(dtype)
    check(chosen, (b, 3, 2.5), (b, 4, np.float32(2.5)), (b, True, 1), variants=None)


def test_numbers_of_the_kernel():
    def program(b):
        return np.select([b > 1, b < 0], [b, int(b[0])], float(b[1]))

    check(program, (np.arange(3).astype("f4"),))
