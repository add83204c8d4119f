"""Generators of random numbers that the program makes itself: the kernels draw from them."""

import random

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import decorate


def walk(n, seed):
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(n):
        total += rng.random() * rng.normal()
        if total > 3:
            total -= rng.integers(0, 3)
    return total


def with_arrays(n, seed):
    rng = np.random.default_rng(seed + 1)
    x = rng.normal(size=n)
    out = []
    for i in range(n):
        out.append(x[i] + rng.uniform(-1, 1))
    return out, rng.random()


def constant_seed(n, seed):
    rng = np.random.default_rng(42)
    other = np.random.default_rng(seed=seed)
    total = 0.0
    for _ in range(n):
        total += rng.random() - other.random()
    return total


def shuffled(n, seed):
    rng = random.Random(seed * 2)
    xs = list(range(n))
    rng.shuffle(xs)
    total = 0
    for x in xs:
        total += rng.randint(0, 9) * x
    return total, xs, rng.random()


class Walker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.place = 0.0

    def step(self):
        self.place += self.rng.standard_normal()


def in_an_object(n, seed):
    walker = Walker(seed)
    for _ in range(n):
        walker.step()
    return walker.place


@pytest.mark.parametrize("function", [walk, with_arrays, constant_seed, shuffled, in_an_object])
def test_one_variant_draws_what_python_draws(function):
    jitted = decorate(function, jit=False, fullgraph=True)
    for n, seed in [(70, 3), (5, 0), (300, 2**40), (70, 3), (0, 1)]:
        for _ in range(2):
            assert repr(jitted(n, seed)) == repr(function(n, seed))
    assert len(jitted.variants) <= 3


def test_compiled():
    assert fuse_jit(walk, fullgraph=True)(500, 5) == walk(500, 5)


def test_a_generator_is_returned_and_draws_on():
    def run(n, seed):
        rng = np.random.default_rng(seed)
        total = 0.0
        for _ in range(n):
            total += rng.random()
        return rng, total

    jitted = decorate(run, jit=False, fullgraph=True)
    for _ in range(2):
        (rng, total), (expected, sums) = jitted(40, 1), run(40, 1)
        assert total == sums
        assert rng.random() == expected.random()


def test_no_seed_gives_other_numbers_in_each_call():
    def run(n):
        rng = np.random.default_rng()
        total = 0.0
        for _ in range(n):
            total += rng.random()
        return total

    jitted = decorate(run, jit=False, fullgraph=True)
    assert len({jitted(60) for _ in range(4)}) == 4


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_errors_of_seeds_are_numpys():
    jitted = decorate(walk, jit=False)
    jitted(10, 1)
    for seed in (-1, 1.5, "a"):
        with pytest.raises((ValueError, TypeError)) as expected:
            walk(10, seed)
        with pytest.raises(type(expected.value)) as found:
            jitted(10, seed)
        assert str(found.value) == str(expected.value)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_one_in_each_iteration_is_pythons():
    def run(n):
        total = 0.0
        for i in range(n):
            total += np.random.default_rng(i).random()
        return total

    assert decorate(run, jit=False)(30) == run(30)


def test_check_makes_its_own():
    assert "same" in str(fuse_jit(walk).check(50, 2)).partition("\n")[0]
