"""Full reductions inside loops: a handful, a few, or blocks of numbers, in the bits of any sum."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import decorate

LENGTHS = [1, 2, 3, 7, 8, 9, 15, 31, 32, 33, 127, 128, 129, 1024, 1025, 33_000, 40_000]


def in_a_loop(x, lengths, sums, means, extremes):
    for i in range(len(lengths)):
        part = x[: lengths[i]]
        sums[i] = part.sum()
        means[i] = np.mean(part * part + 1)
        extremes[i, 0] = part.max()
        extremes[i, 1] = part.min()
        extremes[i, 2] = np.argmax(part)


def alone(x):
    return x.sum(), np.mean(x * x + 1), x.max(), x.min(), np.argmax(x)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
def test_reductions_in_loops_have_the_bits_of_others(dtype, jit):
    lengths = np.array(LENGTHS if jit else LENGTHS[:-2])
    x = (np.random.default_rng(3).standard_normal(max(lengths)) * 100).astype(dtype)
    x[:3] = 0
    if dtype[0] == "f":
        x[0] = -0.0
        x[5000:] = np.abs(x[5000:])
    found = [np.zeros(len(lengths), "f8"), np.zeros(len(lengths), "f8")]
    extremes = np.zeros((len(lengths), 3), "f8")
    decorate(in_a_loop, jit=jit)(x, lengths, *found, extremes)
    whole = decorate(alone, jit=jit)
    for i, n in enumerate(lengths):
        expected = np.array(whole(x[:n]), "f8")
        actual = np.array([found[0][i], found[1][i], *extremes[i]])
        assert expected.tobytes() == actual.tobytes(), f"{n} numbers: {actual}, not {expected}"


def test_constant_lengths_and_nan():
    def program(x, out):
        for i in range(len(x) - 4):
            out[i] = x[i : i + 3].sum() + x[i : i + 4].max() + x[5:i].sum()
        return out

    x = np.arange(20.0)
    x[7] = np.nan
    for jit in (False, True):
        out = decorate(program, jit=jit)(x, np.zeros(16))
        np.testing.assert_array_equal(out, program(x, np.zeros(16)))
