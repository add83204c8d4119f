"""Reductions of slices whose length differs between iterations, empty ones among them."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import check


def maxima(x, lengths, out):
    for i in range(len(lengths)):
        out[i] = x[: lengths[i]].max()


def minima(x, lengths, out):
    for i in range(len(lengths)):
        out[i] = np.min(x[: lengths[i]])


def places(x, lengths, out):
    for i in range(len(lengths)):
        part = x[: lengths[i]]
        out[i] = part.argmax() - np.argmin(part)


def spreads(x, lengths, out):
    for i in range(len(lengths)):
        part = x[: lengths[i]]
        out[i] = part.mean() + part.var()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("lengths", [[1, 2, 3], [2, 0, 1], [0, 1, 2], [2, 1, 0]])
@pytest.mark.parametrize("program", [maxima, minima, places, spreads])
def test_lengths_that_differ_between_iterations(program, lengths):
    check(program, (np.arange(9.0), np.array(lengths), np.zeros(3)))
