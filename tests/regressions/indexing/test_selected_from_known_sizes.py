"""`t[t > 2]` of a known size had a fixed length: a trial run's count became a constant."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit_testing.oracle import check


def selected(x):
    t = np.zeros(3)
    t += x[:3]
    return t[t > 2] + 1


def counted(x):
    t = np.zeros((1,))
    t += x[0]
    return t[t > 2].size


def found(x):
    t = np.zeros(2)
    t += x[:2]
    return np.flatnonzero(t > 1), np.unique(t)


def in_place(x):
    t = x[:2] * np.ones(2)
    t[t > 1] = t[::-1][t > 1]
    return t


@pytest.mark.parametrize("function", [selected, counted, found, in_place])
def test_selected_from_known_sizes(function) -> None:
    calls = [(np.array(x, float),) for x in ([0, 3, 4], [5, 6, 7], [0, 0, 0], [3, 1, 0])]
    with warnings.catch_warnings():  # sizes that stand-ins do not explain are left to NumPy
        warnings.filterwarnings("ignore", ".* runs as plain NumPy", FuseWarning)
        check(function, *calls, variants=None)
