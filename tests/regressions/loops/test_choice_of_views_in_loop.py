"""After a loop, `w = a[0] if c else a[-1]` was a copy: stores into it did not reach `a`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit_testing.compare import assert_same


def stored_behind(a):
    for _ in range(5):
        w = a[0] if a.sum() > 0 else a[-1]
    w[1:] += 50


def read_behind_a_store(a):
    for _ in range(5):
        if a.sum() > 0:
            w = a[0]
        else:
            w = a[-1]
    a += 1
    a[1] = w


def carried(a):
    w = a.copy()
    for i in range(7):
        w[0] += 1
        if a.sum() > i:
            w = a


@pytest.mark.parametrize("function", [stored_behind, read_behind_a_store, carried])
def test_choice_of_views_in_loop(function) -> None:
    for first in (-4, -9):
        a, b = (np.arange(12.0).reshape(3, 4) + first for _ in range(2))
        function(a)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            fuse_jit(function)(b)
        assert_same(a, b)


def test_choice_that_is_only_read() -> None:
    def read(a):
        for _ in range(5):
            w = a[0] if a.sum() > 0 else a[-1]
        return w + 1

    a = np.arange(12.0).reshape(3, 4)
    fused = fuse_jit(read)
    assert_same(read(a), fused(a))
    assert not fused.variants.fallbacks


def of_two_arguments(a):
    b = a[1:]
    w = a[:-1] if a.sum() > 0 else b
    b += 1
    a[0] = w[0]


def of_rows_of_a_value(a):
    t = a * 2
    w = t[0] if a.sum() > 0 else t[-1]
    w[1:] = 1.5
    a[...] = t


def of_whole_values(a):
    t = a * 2
    w = t if a.sum() > 0 else a + 1
    t += 1
    a[...] = w


def of_a_choice(a):
    t = a * 2
    w = t if a.sum() > 0 else a + 1
    v = w if a[0, 0] < 0 else a - 1
    v += 1
    a[...] = t


@pytest.mark.parametrize(
    "function", [of_two_arguments, of_rows_of_a_value, of_whole_values, of_a_choice]
)
def test_choice_of_arrays_and_stores(function) -> None:
    for first in (-4, -9):
        a, b = (np.arange(12.0).reshape(3, 4) + first for _ in range(2))
        function(a)
        with pytest.warns(FuseWarning, match="one of two arrays, depending on a condition"):
            fuse_jit(function)(b)
        assert_same(a, b)


def test_choice_that_replaces_an_array() -> None:
    def replaced(a):
        t = a * 2
        if a.sum() > 0:
            t = t + 1
        t += 1
        t[0] = 0
        return t

    a = np.arange(12.0).reshape(3, 4)
    fused = fuse_jit(replaced)
    assert_same(replaced(a), fused(a))
    assert not fused.variants.fallbacks
