"""``round(x, digits)`` of Python's floats in kernels: the very floats of Python."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit import fuse_jit
from fusejit_testing.oracle import decorate


def rounded(xs):
    return [
        (round(x), round(x, 0), round(x, 1), round(x, 2), round(x, 6), round(x, 10), round(x, None))
        for x in xs
    ]


def seldom_rounded(xs):
    return [(round(x, 2), round(x, 15), round(x, 22)) for x in xs]


def ints(xs):
    return [(round(x, 2), round(x, 0), round(x)) for x in xs]


def bits(rows):
    return [[number.hex() if type(number) is float else number for number in row] for row in rows]


compiled = fuse_jit(rounded, fullgraph=True)
compiled_seldom = fuse_jit(seldom_rounded)
FILL = [1.5] * 8  # so that the list is read in columns


@st.composite
def near_halves(draw):
    """Floats at and next to the middle of two decimal numbers."""
    digits, units = draw(st.integers(0, 12)), draw(st.integers(-(10**4), 10**4))
    x = (2 * units + 1) / (2 * 10**digits)
    return draw(st.sampled_from([x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)]))


@settings(deadline=None, max_examples=200)
@given(st.lists(st.one_of(near_halves(), st.floats(-1e3, 1e3)), max_size=60))
def test_the_very_bits(xs):
    xs = FILL + xs
    assert bits(compiled(xs)) == bits(rounded(xs))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=20))
def test_all_floats(xs):
    xs = FILL + xs
    assert bits(compiled_seldom(xs)) == bits(seldom_rounded(xs))


def test_signs_of_zero():
    xs = [*FILL, -0.001, 0.001, -0.0, 0.0, -0.005, 2.675, 0.5, 1.5, 2.5, -2.5, 1e-300, -1e-300]
    assert bits(compiled(xs)) == bits(rounded(xs))


def test_integers():
    assert decorate(ints, jit=False, fullgraph=True)([*range(-9, 9)]) == ints([*range(-9, 9)])
