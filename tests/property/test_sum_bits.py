"""Sums, means and variances have NumPy's bits: random shapes, layouts, axes, dtypes, casts."""

import itertools

import numpy as np
import pytest

from fusejit.codegen.machine.pool import get_num_threads, set_num_threads
from fusejit.ir.interpreter.summation import block_start, blocks_of, pairwise_sum
from fusejit_testing.oracle import decorate
from fusejit_testing.sum_bits import differences

pytestmark = pytest.mark.filterwarnings("ignore:")  # of means of nothing but NaN; of many variants

NUMBERS = (*range(1, 300), 999, 1008, 1009, 1024, 2016, 2017, 5000, 40_001)


@pytest.mark.parametrize("first", range(0, 160, 10))
def test_unjitted(first):
    assert [d for number in range(first, first + 10) for d in differences(number)] == []


@pytest.mark.parametrize("number", range(160, 172))
def test_jitted(number):
    assert differences(number, jit=True) == []


def test_the_tree_is_that_of_numpy():
    rng = np.random.default_rng(0)
    for n in NUMBERS:
        values = rng.standard_normal(n)
        assert pairwise_sum(values) == values.sum(), n
        rows = values.reshape(n, 1) * np.arange(1.0, 4.0)
        assert pairwise_sum(rows).tolist() == [c.sum() for c in rows.T.copy()], n


def test_blocks_are_nodes_of_the_tree():
    rng = np.random.default_rng(1)
    for n in (*NUMBERS, 100_003):
        values, count = rng.standard_normal(n), blocks_of(n)
        ends = [block_start(n, count, k) for k in range(count + 1)]
        sums = [values[a:b].sum() for a, b in itertools.pairwise(ends)]
        while len(sums) > 1:
            sums = [a + b for a, b in zip(sums[::2], sums[1::2], strict=True)]
        assert sums == [values.sum()], n


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_length_jitted(dtype):
    """Of the payload in tiles, of an operand where it is, and inside a loop."""

    def sums(x):
        products = (x * x).sum()
        for i in range(3):
            products += x[i:].sum()
        return x.sum(), products, np.max(x), (x * 2).sum()

    fused = decorate(sums, jit=True)
    rng = np.random.default_rng(2)
    for n in (*range(3, 300), 999, 1008, 1009, 1024, 2016, 2017, 5000, 40_001):
        x = rng.standard_normal(n).astype(dtype)
        assert fused(x) == sums(x), n


@pytest.mark.parametrize("jit", [False, True])
def test_windows_in_loops(jit):
    """Their extents are known in the kernel alone; the rows of some are whole."""

    def box(image, r):
        rows, columns = image.shape
        means, spreads = np.empty_like(image), np.empty_like(image)
        for i in range(rows):
            for j in range(columns):
                window = image[max(0, i - r) : i + r + 1, max(0, j - r) : j + r + 1]
                means[i, j] = window.mean()
                spreads[i, j] = window.std() + np.prod(window[0])
        return means, spreads

    fused = decorate(box, jit=jit, fullgraph=True)
    rng = np.random.default_rng(5)
    shapes = ((6, 5, 1), (7, 9, 4), (3, 40, 50)) if not jit else ((23, 31, 2), (40, 60, 30))
    for rows, columns, r in shapes:
        image = rng.standard_normal((rows, columns))
        for expected, actual in zip(box(image, r), fused(image, r), strict=True):
            assert np.array_equal(expected, actual), (rows, columns, r)


def test_any_number_of_threads():
    def sums(x):
        return x.sum(), (x * x).sum(axis=0), (x + 1).mean(axis=1), x.var(), (x > 0).mean()

    x = np.random.default_rng(3).standard_normal((900, 1200))
    fused, before = decorate(sums, jit=True), get_num_threads()
    try:
        for threads in sorted({1, 2, before}):
            set_num_threads(threads)
            for expected, actual in zip(sums(x), fused(x), strict=True):
                assert np.array_equal(expected, actual), threads
    finally:
        set_num_threads(before)
