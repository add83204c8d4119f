"""A buffer read after a library call was missing: it belonged to the kernel."""

from __future__ import annotations

import numpy as np

from fusejit_testing.oracle import check


def joined_then_product(x, v, w):
    for _ in range(2):
        a = np.hstack((x @ w, (x * 2) @ w))
        v += a * 0.5
        x = x + v
    return x, v


def returned_after_a_product(x, w):
    both = np.concatenate((x[:2], x[2:] * 2))
    y = both * 2
    return both, x @ w + y[:, :1]


def filled_then_product(x, w):
    t = np.empty_like(x)
    t[:2] = x[:2]
    t[2:] = 3.0
    y = x @ w
    return t + y, t


def numbers(*shape):
    """Small integers, so that products and sums are exact in any order."""
    return np.random.default_rng(0).integers(-3, 4, shape).astype(np.float64)


def test_joined_array_read_after_products():
    check(joined_then_product, (numbers(300, 2), numbers(300, 2), numbers(2, 1)))


def test_array_returned_after_a_product():
    check(returned_after_a_product, (numbers(300, 4), numbers(4, 1)))
    check(filled_then_product, (numbers(300, 4), numbers(4, 1)))
