"""Draws from generators that are passed: in order, once, and the generator ends as NumPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError
from fusejit_testing.compare import Bound, assert_same
from fusejit_testing.oracle import check, check_not_compiled, decorate

CLOSE = Bound(absolute=1e-12)
RNG = np.random.default_rng(5)


def rng(seed: int = 1) -> Any:
    return np.random.default_rng(seed)


def kinds(rng: Any, x: Any, n: int) -> Any:
    a = rng.normal(size=n) * 2 + x
    b = rng.uniform(0, 2, (n, 3)).sum(axis=1)
    c = rng.integers(0, 10, size=n) % 3
    d = rng.random(size=n, dtype=np.float32) + np.float32(1)
    e = rng.choice(x, size=2) * a[0]
    f = rng.permutation(n) + c
    return a, b, c, d, e, f


def numbers(rng: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        total += rng.normal() * rng.random() + rng.integers(5)
    return total


def rows(rng: Any, x: Any) -> Any:
    for i in range(len(x)):
        x[i] += rng.standard_normal(x.shape[1])
    return x.mean()


def in_branches(rng: Any, x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 0.5:
            x[i] = rng.normal()
        elif x[i] > 0.25:
            x[i] = rng.uniform() + rng.random()
    return x.sum()


def until(rng: Any, limit: float) -> Any:
    x = 0.0
    steps = 0
    while x < limit:
        x += rng.exponential()
        steps += 1
    return x, steps


def rejects(rng: Any, n: int) -> Any:
    out = np.empty(n)
    for i in range(n):
        u, v = 0.0, 1.0
        while v >= u * u:
            u = rng.random()
            v = rng.random()
        out[i] = u
    return out


def shuffles(rng: Any, x: Any, y: Any) -> Any:
    rng.shuffle(x)
    rng.shuffle(y[:, 1:], axis=1)
    return x + 1


def first_returns(rng: Any, x: Any) -> Any:
    for i in range(len(x)):
        if x[i] * rng.random() > 0.5:
            return i
    return -1


def unused(rng: Any, x: Any) -> Any:
    rng.random(3)
    return x + 1


def two(one: Any, other: Any, n: int) -> Any:
    return one.random(n) + other.random(n) * one.random(n)


def uniform(n: int) -> Any:
    return rng(7).random(n)


CASES: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "kinds": (kinds, [(rng(), uniform(7), 7), (rng(2), uniform(30), 30)]),
    "numbers": (numbers, [(rng(), 9), (rng(2), 30)]),
    "rows": (rows, [(rng(), uniform(35).reshape(7, 5)), (rng(2), uniform(60).reshape(6, 10))]),
    "in_branches": (in_branches, [(rng(), uniform(9)), (rng(2), uniform(40))]),
    "until": (until, [(rng(), 5.0), (rng(2), 30.0)]),
    "rejects": (rejects, [(rng(), 9), (rng(2), 20)]),
    "shuffles": (shuffles, [(rng(), uniform(9), uniform(20).reshape(4, 5))]),
    "first_returns": (first_returns, [(rng(), uniform(9)), (rng(2), uniform(40))]),
    "unused": (unused, [(rng(), uniform(9))]),
    "two": (two, [(rng(), rng(2), 9), (rng(3), rng(4), 20)]),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_numpy_and_the_state_too(name: str) -> None:
    function, calls = CASES[name]
    check(function, *calls, bound=CLOSE, inner_bound=CLOSE)


@pytest.mark.parametrize("name", ["kinds", "rows", "in_branches", "until"])
def test_jitted(name: str) -> None:
    function, calls = CASES[name]
    check(function, *calls, bound=CLOSE, inner_bound=CLOSE, jit=True)


def test_legacy_generators() -> None:
    def legacy(state: Any, n: int) -> Any:
        return state.rand(n) * state.randn(n) + state.randint(0, 9, n)

    check(legacy, (np.random.RandomState(3), 9), (np.random.RandomState(4), 20), bound=CLOSE)


def test_the_global_generator() -> None:
    def legacy(n: int) -> Any:
        return np.random.rand(n) + np.random.normal()

    fused = decorate(legacy, jit=False)
    for _ in range(2):
        np.random.seed(3)
        expected = legacy(9), np.random.random()
        np.random.seed(3)
        assert_same(expected, (fused(9), np.random.random()), CLOSE)


def test_generators_that_are_not_arguments() -> None:
    class Model:
        def __init__(self) -> None:
            self.rng = rng()

    def drawn(model: Any, n: int) -> Any:
        return model.rng.random(n) + RNG.random(n)

    expected = rng().random(9) + np.random.default_rng(5).random(9)
    assert_same(expected, decorate(drawn, jit=False)(Model(), 9))


def test_tracing_and_explaining_draw_nothing() -> None:
    given = rng()
    before = given.bit_generator.state
    text = fuse_jit(kinds).explain(given, uniform(9), 9, detail=True)
    fuse_jit(kinds).trace(given, uniform(9), 9)
    assert given.bit_generator.state == before
    assert "host call numpy.random.Generator.choice: an effect" in text


def test_the_draw_is_an_effect_of_the_graph() -> None:
    text = str(fuse_jit(unused).trace(rng(), uniform(3)))
    call = '(%c) as "{o0}, size=3" with (arg:rng) inline effect'
    assert f'host_call "numpy.random.Generator.random"{call}' in text
    assert text.count(" effect") == 1


def test_one_generator_under_two_names_declines_and_draws_once() -> None:
    one, other = rng(), rng()
    expected = two(one, one, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        assert_same(expected, decorate(two, jit=False)(other, other, 5))
    assert one.bit_generator.state == other.bit_generator.state


def test_an_index_out_of_bounds_behind_a_draw_is_an_error_not_a_second_draw() -> None:
    def out_of_bounds(rng: Any, x: Any, at: Any) -> Any:
        k = at[0] + int(rng.random() * 0)
        return x[k]

    for index in (2, 7):
        one, other = rng(), rng()
        fused = decorate(out_of_bounds, jit=False)
        try:
            expected: Any = out_of_bounds(one, np.arange(5.0), np.array([index]))
        except IndexError:
            with pytest.raises(IndexError):
                fused(other, np.arange(5.0), np.array([index]))
        else:
            assert_same(expected, fused(other, np.arange(5.0), np.array([index])))
        assert one.bit_generator.state == other.bit_generator.state


def test_a_draw_that_fails_is_not_repeated() -> None:
    def negative(rng: Any, scale: float, n: int) -> Any:
        return rng.random(n) + rng.normal(0.0, scale, n)

    one, other = rng(), rng()
    fused = decorate(negative, jit=False)
    assert_same(negative(one, 1.0, 5), fused(other, 1.0, 5))
    for generator, function in ((one, negative), (other, fused)):
        with pytest.raises(ValueError, match="scale < 0"):
            function(generator, -1.0, 5)
    assert one.bit_generator.state == other.bit_generator.state


def test_without_source_nothing_is_drawn_while_tracing() -> None:
    namespace: dict[str, Any] = {}
    exec("def hidden(rng, x):\n    return x + rng.random()\n", namespace)
    one, other = rng(), rng()
    expected = namespace["hidden"](one, uniform(3))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            assert_same(expected, decorate(namespace["hidden"], jit=False)(other, uniform(3)))
    except UnsupportedError:
        assert other.bit_generator.state == rng().bit_generator.state


def test_what_is_no_draw_is_left_to_python() -> None:
    def spawned(rng: Any, x: Any) -> Any:
        return x + rng.spawn(2)[0].random()

    reason = "which is not a draw that fusejit knows"
    check_not_compiled(spawned, (rng(), uniform(3)), reason)
    ours, theirs = rng(), rng()
    fused = fuse_jit(spawned)
    held = "a generator of random numbers that no argument or name holds"
    with pytest.warns(FuseWarning, match=held), pytest.warns(FuseWarning, match=reason):
        assert_same(spawned(theirs, uniform(3)), fused(ours, uniform(3)))
    for n in (3, 5):  # other children at each call: none was spawned while tracing
        assert_same(spawned(theirs, uniform(n)), fused(ours, uniform(n)))
    refusing = fuse_jit(fullgraph=True)(spawned)
    with pytest.raises(UnsupportedError, match=reason):
        refusing(ours, uniform(3))
    assert_same(spawned(theirs, uniform(3)), spawned(ours, uniform(3)))
