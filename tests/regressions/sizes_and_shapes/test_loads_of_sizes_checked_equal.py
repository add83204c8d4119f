"""A graph failed to verify after a size check: an array and its view named different lengths.

After the check ``at0`` is 2, so the loaded value was 2 long, and its view ``at0`` long: the graph
did not verify.
"""

import numpy as np

from fusejit_testing.oracle import check


def reversed_into(a):
    rows = np.delete(a, 1)
    made = np.zeros(rows.shape)
    for k in range(rows.shape[0]):
        made[k] = rows[-k - 1]
    made[np.array([1, 0])] = made[::-1]
    return made


def with_a_diagonal(b):
    rows = np.delete(b, 0, axis=0)
    diagonal = np.diag(rows[..., 0])
    for i in range(rows.shape[0]):
        for j in range(i):
            rows[i] -= rows[j]
    return rows[1] + diagonal


def test_an_assignment_that_fits_one_size():
    check(reversed_into, (np.array([2.0, 1.5, 0.5]),), (np.array([1.0, 2.0, 3.0]),), variants=None)


def test_operands_of_one_size():
    check(with_a_diagonal, (np.arange(6.0).reshape(3, 2) ** 2,), variants=None)
