"""`for a, b in zip(x, y)` left symbols of the body in `a` and `b` after the loop."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import check


def of_zip(x, y):
    for row, other in zip(x, y, strict=False):
        y[0] += row + other
    other += 1
    return row * 2


def of_enumerate(x, y):
    for i, row in enumerate(x):
        y[i] += row[0]
    y[i] = row.sum()
    return i + 1


def bound_anew(x, y):
    for i, row in enumerate(x):
        i = i * 2
        row = row + i
    y[0] = row
    return i + 0


def left_early(x, y):
    for i, row in enumerate(x):
        if row[0] > 5 + i:
            break
    y[...] = row
    return i + 0


@pytest.mark.parametrize("function", [of_zip, of_enumerate, bound_anew, left_early])
def test_pairs_behind_loops(function) -> None:
    for rows in (6, 9):
        x, y = np.arange(rows * 3.0).reshape(rows, 3) % 7, np.ones((rows, 3))
        check(function, (x, y), variants=None)
