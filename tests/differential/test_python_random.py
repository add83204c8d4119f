"""Python's own generator in kernels: the values of `random`, and the state behind them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from random import random as drawn
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit import FuseWarning, fuse_jit
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import compare_outcomes, decorate, run

Program = Callable[..., Any]


def in_circle(n: int) -> Any:
    hits = 0
    for _ in range(n):
        x, y = random.random(), drawn()
        if x * x + y * y <= 1:
            hits += 1
    return 4 * hits / n


def uniform(n: int) -> Any:
    total = 0.0
    for k in range(n):
        total += random.uniform(-1, 3) * random.uniform(0, k)
    return total


def dice(n: int) -> Any:
    counts = [0] * 7
    for _ in range(n):
        counts[random.randint(1, 6)] += 1
    return counts


def ranges(n: int) -> Any:
    found = []
    for k in range(1, n):
        found.append(random.randrange(k))
        found.append(random.randrange(-k, k, 3))
        found.append(random.randrange(k, -k, -2))
        found.append(random.randrange(2**40 + k))
    return found


def letters(n: int) -> Any:
    text = ""
    for _ in range(n):
        text += random.choice("ACGT")
    return text


def steps(n: int) -> Any:
    x = y = 0
    for _ in range(n):
        dx, dy = random.choice([(0, 1), (0, -1), (1, 0), (-1, 0)])
        x, y = x + dx, y + dy
    return x, y


def shuffled(n: int) -> Any:
    cards = list(range(n))
    for _ in range(3):
        random.shuffle(cards)
    return cards


def bits(n: int) -> Any:
    total = 0
    for k in range(n):
        total = (total ^ random.getrandbits(k % 64)) * 3 & 0xFFFFFFFF
    return total


def distributions(n: int) -> Any:
    total = 0.0
    for _ in range(n):
        total += random.expovariate(0.5)
        total -= random.normalvariate(1.0, 2.0)
    return total


PROGRAMS = (in_circle, uniform, dice, ranges, letters, steps, shuffled, bits, distributions)


@pytest.fixture(autouse=True)
def state() -> Iterator[None]:
    """The state of the module's generator is put back."""
    before = random.getstate()
    yield
    random.setstate(before)


def compare(program: Program, fused: Program, *args: Any) -> None:
    random.seed(7)
    expected, behind = program(*args), random.getstate()
    random.seed(7)
    assert_same(expected, fused(*args))
    assert random.getstate() == behind


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_values_and_state(program: Program, jit: bool) -> None:
    """So many that the words are made anew, more than once."""
    fused = decorate(program, jit=jit, fullgraph=True)
    for n in (3, 700 if jit else 330, 0 if program not in (in_circle, ranges) else 1):
        compare(program, fused, n)


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(0, 63), max_size=30), st.integers(0, 700))
def test_any_bits_at_any_place(counts: list[int], before: int) -> None:
    rng, other = random.Random(3), random.Random(3)
    for _ in range(before):
        rng.getrandbits(32), other.getrandbits(32)
    assert DRAW_ALL(rng, np.array(counts, np.int64)) == draw_all(other, counts)
    assert rng.getstate() == other.getstate()


def draw_all(rng: random.Random, counts: Any) -> Any:
    integers, floats = [], []
    for count in counts:
        integers.append(rng.getrandbits(int(count)))
        floats.append(rng.random())
    return integers, floats


DRAW_ALL = decorate(draw_all, jit=True)


def weighted(rng: random.Random, other: random.Random, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        total += rng.random() * other.randint(1, 3)
    return total


@pytest.mark.filterwarnings("ignore:.*one generator of random numbers:fusejit.FuseWarning")
def test_generators_of_ones_own() -> None:
    """Also the same one twice, where two were traced, and the other way round."""
    for first in (True, False):
        fused = decorate(weighted, jit=False)
        for is_one in (first, not first, first):
            rngs = [random.Random(1), random.Random(2)]
            ours = [random.Random(1), random.Random(2)]
            a, b = (0, 0) if is_one else (0, 1)
            assert weighted(rngs[a], rngs[b], 50) == fused(ours[a], ours[b], 50)
            assert [r.getstate() for r in rngs] == [r.getstate() for r in ours]


class Loaded(random.Random):
    """A generator whose numbers are its own."""

    def random(self) -> float:
        return 0.25


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_other_generators_stay_with_python() -> None:
    fused = decorate(weighted, jit=False)
    for kind in (random.Random, Loaded, random.Random):
        ours, theirs = (kind(4), kind(5)), (kind(4), kind(5))
        assert fused(*ours, 20) == weighted(*theirs, 20)
    assert 0 <= fused(random.SystemRandom(), random.Random(1), 20) <= 60


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "draw",
    [
        *(
            "random.randint(1)",
            "random.randint(1, 2.5)",
            "random.random(3)",
            "random.getrandbits()",
        ),
        *("random.randrange(3, 0)", "random.randrange(0, 5, 0)", "random.choice([])"),
        *("random.getrandbits(70)", "random.getrandbits(-1)", "random.randint(0, 2**70)"),
        *("random.randrange(stop=9, start=3)", "random.uniform(a=1, b=2)", "random.gauss(0, 1)"),
    ],
)
def test_arguments_of_other_kinds(draw: str) -> None:
    names: dict[str, Any] = {"random": random}
    exec(f"def drawn_once(n):\n    for _ in range(n):\n        k = {draw}\n    return k", names)
    function = names["drawn_once"]
    fused = decorate(function, jit=False)
    for n in (2, 3):
        random.seed(n)
        expected, behind = run(function, (n,)), random.getstate()
        random.seed(n)
        compare_outcomes(expected, run(fused, (n,)))
        assert random.getstate() == behind


def test_a_function_that_is_replaced() -> None:
    def always() -> float:
        return 0.9

    fused = decorate(in_circle, jit=False)
    compare(in_circle, fused, 20)
    with mock.patch.object(random, "random", always):
        compare(in_circle, fused, 20)
    compare(in_circle, fused, 20)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_errors() -> None:
    """Python raises, and the draws before that count once."""

    def empty(n: int) -> Any:
        total = 0
        for k in range(n):
            total += random.randint(0, 5 - k)
        return total

    fused = decorate(empty, jit=False)
    for n in (4, 9):
        outcomes = []
        for function in (empty, fused):
            random.seed(n)
            try:
                result: Any = function(n)
            except ValueError as error:
                result = str(error)
            outcomes.append((result, random.getstate()))
        assert outcomes[0] == outcomes[1]


def test_draws_are_undone_where_python_takes_over() -> None:
    def grows(n: int) -> Any:
        total = 1
        for _ in range(n):
            total *= random.randint(2, 3)
        return total

    fused = decorate(grows, jit=False)
    compare(grows, fused, 10)
    with pytest.warns(FuseWarning, match="64 bits"):
        compare(grows, fused, 100)


def test_seeds_and_loops() -> None:
    def both(n: int) -> Any:
        random.seed(n)
        total = 0.0
        for _ in range(n):
            total += random.random()
        return total

    fused = fuse_jit(both)
    assert [fused(n) for n in (5, 9, 5)] == [both(n) for n in (5, 9, 5)]
    state = dispatcher_of(fused)
    assert state is not None
    assert state.variants.segmented is not None


def test_threads_draw_each_number_once() -> None:
    """Kernels keep the GIL as long as they draw."""

    def draws(rng: random.Random, found: Any) -> None:
        for k in range(len(found)):
            found[k] = rng.getrandbits(40)

    fused, rng, size = decorate(draws, jit=True), random.Random(6), 40_000
    fused(rng, np.zeros(3))
    rng = random.Random(6)
    arrays = [np.zeros(size) for _ in range(4)]
    threads = [
        threading.Thread(target=fused if k % 2 else draws, args=(rng, array))
        for k, array in enumerate(arrays)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other = random.Random(6)
    expected = [float(other.getrandbits(40)) for _ in range(4 * size)]
    assert sorted(np.concatenate(arrays)) == sorted(expected)
    assert rng.getstate() == other.getstate()
