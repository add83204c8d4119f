"""`np.delete` of columns gave another axis order: sample inputs had no gaps.

np.delete makes an array in Fortran order if its argument is contiguous in that order. It was tried
on contiguous arrays alone, so what it makes of a broadcast array or of columns came in another
order than NumPy's.
"""

import numpy as np
import pytest

from fusejit_testing.oracle import check


def deleted(a):
    rows = np.delete(a, 0, axis=0)
    return rows, np.concatenate((rows, rows[:1])) + 2


def of_a_part(a):
    b = a * 2
    return [np.delete(p, 0, axis=0) for p in (b[1:], b[:, 1:], b[:, ::2], b[::-1], b.T, b.T[1:])]


LAYOUTS = {
    "C": lambda a: a,
    "F": np.asfortranarray,
    "broadcast": lambda a: np.broadcast_to(a[0], a.shape),
    "columns": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "rows of F": lambda a: np.asfortranarray(np.repeat(a, 2, axis=0))[::2],
    "backwards": lambda a: a[::-1],
}


@pytest.mark.parametrize("program", [deleted, of_a_part])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_orders_of_what_they_return(program, layout):
    calls = [(LAYOUTS[layout](np.arange(r * c).reshape(r, c)),) for r, c in ((3, 3), (5, 4))]
    check(program, *calls, variants=None)
