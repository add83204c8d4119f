"""`a[1:5] = a[0:8:2]` stored other elements: NumPy reads what it wrote, a kernel reads first.

A kernel, which reads first, stored other values. Copies in which both do the same stay compiled;
Python runs the others.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.api import FuseWarning, fuse_jit
from fusejit_testing.oracle import decorate


def copy(x: Any, to: slice, source: slice) -> Any:
    x[to] = x[source]
    return x


def copy_to(x: Any, to: slice, source: slice) -> Any:
    np.copyto(x[to], x[source])
    return x


def rows(x: Any, to: slice, source: slice) -> Any:
    y = np.stack([x, x + 100])
    y[0, to] = y[0, source]
    y[1, to] = y[0, source]
    return y


@given(
    program=st.sampled_from([copy, copy_to, rows]),
    step=st.sampled_from([1, -1, 2, -3]),
    slices=st.lists(
        st.tuples(
            *(st.integers(0, 12), st.sampled_from([1, 2, 3, 4, -1, -2, -3])) * 2, st.integers(1, 9)
        ),
        min_size=1,
        max_size=4,
    ),
)
@settings(max_examples=80, deadline=None)
def test_copies_are_those_of_numpy(program: Any, step: int, slices: Any) -> None:
    fused = decorate(program, jit=False)
    for at, by, source, stride, length in slices:
        size = 100
        parts = [slice(s, s + k * length, k) for s, k in ((at + 40, by), (source + 40, stride))]
        expected, actual = (np.arange(size * abs(step))[::step] for _ in range(2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            found = fused(actual, *parts)
        np.testing.assert_array_equal(program(expected, *parts), found)
        np.testing.assert_array_equal(expected, actual)


def shifted(x: Any) -> None:
    x[1:] = x[:-1]
    x[:-2] = x[2:]


def closer(x: Any) -> None:
    h = len(x) // 2
    x[:h] = x[::2][:h]


def mirrored(x: Any) -> None:
    y = x[:16].reshape(4, 4)
    for i in range(4):
        y[i, :i] = y[:i, i]


def run_uninterruptible(x: Any) -> None:
    x[::4] = x[1::2][: len(x[::4])]
    x[1:9:2] = x[0:4]


@pytest.mark.parametrize("program", [shifted, closer, mirrored, run_uninterruptible])
@pytest.mark.parametrize("size", [30, 31, 100])
def test_what_is_copied_at_once_stays_compiled(program: Any, size: int) -> None:
    x, y = np.arange(size), np.arange(size)
    fuse_jit(program, fullgraph=True)(x)
    program(y)
    np.testing.assert_array_equal(x, y)
