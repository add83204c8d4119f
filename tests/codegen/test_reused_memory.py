"""Memory that is read for the last time is used again, and only then."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def moving_average(x, n):
    c = np.cumsum(np.insert(x, 0, 0.0))
    return (c[n:] - c[:-n]) / n


def twice(x, n):
    return np.cumsum(np.cumsum(np.concatenate((x, x[:2])))) * 2


def in_a_loop(x, n):
    total = np.zeros(len(x))
    for k in range(n):
        c = np.cumsum(np.concatenate((x[k:], x[:k])))
        total += c - c[::-1]
    return total


def read_later(x, n):
    padded = np.insert(x, 0, 0.0)
    c = np.cumsum(padded)
    return c[1:] - c[:-1] * padded[::-1][n:].sum()


def read_backwards(x, n):
    padded = np.insert(x, n, 0.0)
    c = np.cumsum(padded[::-1])
    return c[1:] - c[:-1]


def of_another_dtype(x, n):
    c = np.cumsum(np.insert(x.astype(np.float32), 0, 1), dtype=np.float64)
    return c[1:] - c[:-1]


PROGRAMS = {
    moving_average: True,
    twice: True,
    in_a_loop: False,  # it stands before the loop, once for all iterations
    read_later: False,
    read_backwards: False,
    of_another_dtype: False,
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_allocated(program):
    source = fuse_jit(program).trace(np.arange(9.0), 2).fuse().lower().source
    lines = [line.strip() for line in source.splitlines()]
    again = [line for line in lines if line.startswith("p_t") and " = p_t" in line]
    assert bool(again) is PROGRAMS[program], source
    made = [line for line in lines if "= heap_scratch(" in line]
    assert len(made) == len({line for line in lines if line.startswith("free_scratch(")})


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_results_are_numpys(program):
    rng = np.random.default_rng(1)
    check(program, (rng.integers(-9, 9, 40) / 4, 3), (rng.integers(-9, 9, 7) / 4, 1), variants=None)
