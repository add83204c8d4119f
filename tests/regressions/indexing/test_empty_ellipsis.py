"""`x[:, a, ..., a]` had another shape: an Ellipsis of no axes must still separate the indices."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import check


@pytest.mark.parametrize(
    "index",
    [
        lambda a: (slice(None), a, ..., a),
        lambda a: (slice(None), a, ..., 0),
        lambda a: (slice(None), 0, ..., a),
        lambda a: (slice(None), a, a, ...),
        lambda a: (..., slice(None), a, a),
        lambda a: (a, ..., a, None, slice(None)),
    ],
)
def test_an_empty_ellipsis_separates(index):
    def read(x, a):
        return x[index(a)]

    def store(x, a, v):
        x[index(a)] = v
        x[index(a)] += 1

    x, a = np.arange(64.0).reshape(4, 4, 4), np.array([[0], [2]])
    check(read, (x.copy(), a))
    check(store, (x.copy(), a, np.float64(3.0)))
    check(store, (x.copy(), a, x[index(a)] * 2))
