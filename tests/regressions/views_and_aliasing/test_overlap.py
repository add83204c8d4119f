"""Stores into arguments with overlapping elements were wrong: a kernel has another order."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from fusejit import FuseWarning, fuse_jit


@pytest.mark.parametrize("strides", [(0,), (8, 8), (16, 8)])
def test_store_into_overlapping_windows(strides: tuple[int, ...]) -> None:
    def plain(window, values):
        window[...] = window + values
        return window.sum()

    shape = (4,) if len(strides) == 1 else (3, 4)
    values = np.arange(np.prod(shape), dtype=float).reshape(shape)
    expected_base, base = np.arange(20.0), np.arange(20.0)
    expected = plain(as_strided(expected_base, shape, strides), values)
    fused = fuse_jit(plain)
    with pytest.warns(FuseWarning, match="overlap"):
        actual = fused(as_strided(base, shape, strides), values)
    assert actual == expected
    np.testing.assert_array_equal(base, expected_base)


def test_slices_of_a_dense_array_do_not_overlap_themselves(recwarn) -> None:
    @fuse_jit
    def double(x):
        x *= 2.0

    for make in (lambda a: a[::2], lambda a: a[:, 1::2], lambda a: a.T[1:], lambda a: a[::-1, ::3]):
        base, expected = np.ones((6, 7)), np.ones((6, 7))
        double(make(base))
        make(expected)[...] *= 2.0
        np.testing.assert_array_equal(base, expected)
    assert not recwarn.list
    assert not double.variants.fallbacks


def test_segments_that_are_given_an_array_and_its_view_are_not_told(
    recwarn: pytest.WarningsRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python runs the second line; the next segment has ``x`` and a view of it, and stores."""

    def program(x, p):
        view = x[None]
        view[:1] = p
        rest = x - x
        view[:] = view + rest
        return rest

    monkeypatch.setenv("FUSEJIT_TIERING", "0")
    fused = fuse_jit(program)
    for size in (3, 4, 1, 2, 0, 5, 1):
        x, y = (np.arange(size * size, dtype=np.int32).reshape(size, size) for _ in range(2))
        np.testing.assert_array_equal(fused(x, 2.5), program(y, 2.5))
        np.testing.assert_array_equal(x, y)
    assert not [w for w in recwarn.list if "arrays overlap" in str(w.message)]
