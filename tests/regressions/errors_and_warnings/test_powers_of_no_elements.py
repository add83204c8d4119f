"""Integers to negative powers were expected to raise: an empty array has nothing that raises.

SciPy's ``chi_gen._entropy`` found it: its asymptotic formula receives what is left of an array.
"""

import warnings

import numpy as np
import pytest

from fusejit import fuse_jit


def inverse(x):
    return (x**-1,)


def power(x, k):
    return (x**k,)


def powers(x):
    return np.power(x, -2), x.T**-3


ARRAYS = [
    np.zeros(0, int),
    np.arange(3),
    np.zeros((0, 3), int),
    np.zeros((3, 0), np.int8),
    np.zeros(0),
    np.ones((2, 2), int),
]


def outcome(function, *args):
    try:
        return [(r.dtype, r.shape) for r in function(*args)]
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("program", [inverse, power, powers])
def test_no_elements(program):
    fused = fuse_jit(program)
    more = (-1,) if program is power else ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in (*ARRAYS, *reversed(ARRAYS)):
            assert outcome(fused, array, *more) == outcome(program, array, *more)


def selected(x):
    return (x[x > 300] ** -1, x[x > 300] ** -2.0)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_of_what_a_mask_selects():
    """Whether there is any is known in the kernel alone: Python runs the statement."""
    fused = fuse_jit(selected)
    for x in (np.array([3, 5]), np.array([3, 500]), np.array([3.0, 500.0])):
        assert outcome(fused, x) == outcome(selected, x)
