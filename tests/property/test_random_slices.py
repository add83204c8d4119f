"""Stores into slices that only the kernel knows, and that may overlap what they read."""

from __future__ import annotations

import warnings
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.api import FuseWarning, fuse_jit
from fusejit.codegen.lower import row_blocks
from fusejit_testing.oracle import check


# ---------------------------------------------------------------- steps that only the kernel knows
def divide_in_place(x, y, starts, steps):
    for k in range(len(starts)):
        a, s = starts[k], steps[k]
        x[a::s] -= x[a::s] // 3


def of_itself(x, y, starts, steps):
    for k in range(len(starts)):
        a, s = starts[k], steps[k]
        x[a : len(x) - 1 : s] = x[a : len(x) - 1 : s] * 2 + y[a : len(x) - 1 : s]


def of_neighbours(x, y, starts, steps):
    for k in range(len(starts)):
        a, s = starts[k], steps[k]
        x[a + 1 :: s] = x[a + 1 :: s] + x[a : len(x) - 1 : s]


def twice(x, y, starts, steps):
    total = 0.0
    for k in range(len(starts)):
        a, s = starts[k], steps[k]
        v = x[a::s] * 2
        x[a::s] = v + 1
        total += v.sum()
    return total


def rows(x, y, starts, steps):
    z = np.zeros((len(x), 3)) + y[:3]
    for k in range(len(starts)):
        a, s = starts[k], steps[k]
        z[a::s] += z[a::s] * 0.5 + 1
        z[a::s] = z[a::s] - y[:3] * 2
    return z


@settings(max_examples=40, deadline=None)
@given(
    program=st.sampled_from([divide_in_place, of_itself, of_neighbours, twice, rows]),
    dtype=st.sampled_from(["f8", "i8", "i4"]),
    calls=st.lists(
        st.tuples(
            st.integers(3, 12),
            st.lists(st.tuples(st.integers(-3, 9), st.integers(1, 5)), min_size=1, max_size=4),
        ),
        min_size=2,
        max_size=4,
    ),
)
def test_steps_that_differ(program, dtype, calls):
    sets = []
    for size, picks in calls:
        x, y = np.arange(size).astype(dtype) * 3 - 4, np.arange(size)[::-1].astype(dtype)
        sets.append((x, y, np.array([a for a, _ in picks]), np.array([s for _, s in picks])))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* runs as plain NumPy", FuseWarning)
        check(program, *sets, variants=None)


# ------------------------------------------------------------------------ places of equal length
def moved(x, y, a, b, n):
    for k in range(len(a)):
        x[a[k] : a[k] + n[k]] = x[b[k] : b[k] + n[k]] * 2 + 1


def added(x, y, a, b, n):
    for k in range(len(a)):
        x[a[k] : a[k] + n[k]] += x[b[k] : b[k] + n[k]] - y[b[k] : b[k] + n[k]]


def butterfly(x, y, a, b, n):
    for k in range(len(a)):
        top, bottom = slice(a[k], a[k] + n[k]), slice(b[k], b[k] + n[k])
        t = y[top] * 2 - x[bottom]
        x[bottom] = x[top] - t
        y[bottom] = y[top] + t
        x[top] += t
        y[top] *= t


def neighbouring(x, y, a, b, n):
    for k in range(len(a)):
        start, half = a[k], n[k]
        t = x[start + half : start + 2 * half] * 3
        x[start + half : start + 2 * half] = x[start : start + half] - t
        x[start : start + half] += t


def backwards(x, y, a, b, n):
    for k in range(len(a)):
        x[a[k] : a[k] + n[k]] = x[b[k] : b[k] + n[k]][::-1] + 1


def three_places(x, y, a, b, n):
    for k in range(len(a)):
        lo, hi, m = a[k], b[k], n[k]
        x[lo + 1 : lo + 1 + m] = x[lo : lo + m] + x[lo + 2 : lo + 2 + m] + x[hi : hi + m]


def of_rows(x, y, a, b, n):
    z = np.zeros((len(x), 3)) + y[:, None] * x[:3]
    for k in range(len(a)):
        z[a[k] : a[k] + n[k], 1:] -= z[b[k] : b[k] + n[k], :-1]
    return z


def of_every_other(x, y, a, b, n):
    for k in range(len(a)):
        x[a[k] : a[k] + 2 * n[k] : 2] = x[b[k] : b[k] + 2 * n[k] : 2] + 1


PLACES = [moved, added, butterfly, neighbouring, backwards, three_places, of_rows, of_every_other]


@settings(max_examples=60, deadline=None)
@given(
    program=st.sampled_from(PLACES),
    calls=st.lists(
        st.tuples(
            st.integers(12, 30),
            st.lists(
                st.tuples(st.integers(-9, 12), st.integers(-9, 12), st.integers(-1, 6)),
                min_size=1,
                max_size=4,
            ),
        ),
        min_size=2,
        max_size=4,
    ),
    tiny=st.booleans(),
)
def test_places_that_overlap_or_not(program, calls, tiny):
    sets = []
    for size, picks in calls:
        x, y = np.arange(size) % 7.0, np.arange(size)[::-1] % 5.0
        sets.append((x, y, *(np.array(column) for column in zip(*picks, strict=True))))
    with (
        warnings.catch_warnings(),
        mock.patch.object(row_blocks, "BLOCK_POINTS", 4 if tiny else 1024),
    ):
        warnings.filterwarnings("ignore", ".* runs as plain NumPy", FuseWarning)
        check(program, *sets, variants=None)


def test_extents_that_never_agree():
    """The second check is about two sizes of the call, once the first one has passed."""

    def f(x, y, k):
        z = np.zeros(len(y) + 1)
        total = 0.0
        for i in range(len(k)):
            t = x[k[i] : k[i] + 3]
            total += (t + y).sum()
            total += t @ z
        return total

    x, y = np.arange(9.0), np.ones(3)
    fuse_jit(f).trace(x, y, np.array([1, 2]))
    check(f, (x, y, np.array([1, 2])), (x, y, np.array([], np.int64)), variants=2)
