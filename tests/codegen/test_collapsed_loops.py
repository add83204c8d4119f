"""Loops through which all operands step as through one become one loop, in reductions too."""

import numpy as np
import pytest

from fusejit import fuse_jit


def summed(x):
    return x.sum(axis=0)


def largest(x):
    return x.max(axis=0)


def between(x):
    return x.sum(axis=1)


def squares(x):
    return (x * x).mean(axis=0)


def spread(x):
    return x.std(axis=0)


@pytest.mark.parametrize("function", [summed, largest])
def test_columns_of_a_dense_array_are_one_loop(function):
    """Sums over axis 0 of (9, 40, 20) took twice NumPy's time: the inner loop had 20 steps."""
    x = np.ones((9, 40, 20))
    source = fuse_jit(function, fullgraph=True).trace(x).fuse().lower().source
    assert "for c in range(w)" in source
    assert not any(f"for d{dim} in" in source for dim in range(3))


@pytest.mark.parametrize("function", [summed, largest, squares, spread])
@pytest.mark.parametrize("shape", [(9, 40, 20), (3, 4, 5, 6), (130, 3, 2), (1, 1, 7), (2, 0, 3)])
def test_bits_do_not_depend_on_the_number_of_dims(function, shape):
    x = np.random.default_rng(0).standard_normal(shape)
    fused = fuse_jit(function, fullgraph=True)
    flat = x.reshape(shape[0], -1)
    assert (fused(x).ravel() == fused(flat)).all()  # the same bits
    np.testing.assert_allclose(fused(x), function(x), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.bool_])
@pytest.mark.parametrize("function", [summed, largest, between])
def test_any_layout(function, dtype):
    base = (np.random.default_rng(1).random((6, 8, 10, 4)) * 2).astype(dtype)
    fused = fuse_jit(function)
    for x in (base, base[:, ::2], base[..., ::2], base.T, base.swapaxes(1, 2), base[:, :, :0]):
        expected = function(x)
        actual = fused(x)
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=1e-6)
