"""Python integers beyond 64 bits: Python computes them, nothing wraps."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import clone
from fusejit_testing.oracle import compare_outcomes, decorate, run

PRIME, MASK = 16777619, 0xFFFFFFFF
CHECK = 'raises "64 bits"'


def polynomial_hash(x: Any) -> Any:
    h = 7
    for i in range(len(x)):
        h = h * 31 + int(x[i])
    return h


def factorial(n: Any) -> Any:
    p = 1
    for i in range(1, n + 1):
        p *= i
    return p


def fibonacci(n: Any) -> Any:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def falls(n: Any) -> Any:
    a, b = 1, 3
    for _ in range(n):
        a, b = b - a * 5, a
    return a - b


def shifted(n: Any) -> Any:
    a = 1
    for _ in range(n):
        a = a << 3
    return a


def shifted_by(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        s = s + (3 << int(x[i]))
    return s


def cubes(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        s += int(x[i]) ** 3
    return s


def ninth_powers(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        s = s ^ (int(x[i]) ** 9)
    return s


def sizes(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        s = s ^ abs(int(x[i])) ^ -int(x[i])
    return s


def quotients(x: Any) -> Any:
    s = 0
    for i in range(len(x) - 1):
        s = s ^ (int(x[i]) // int(x[i + 1]))
    return s


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def linear_congruences(n: Any, seed: Any, m: Any) -> Any:
    for _ in range(n):
        seed = (seed * 1103515245 + 7) % m
    return seed


LOW, HIGH = -(2**63), 2**63 - 1
X = np.arange(1, 21)
# calls that stay within 64 bits, and calls that do not
GROWING: dict[Any, tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    polynomial_hash: ([(X[:9],)], [(X,), (np.array([1, HIGH]),)]),
    factorial: ([(20,)], [(21,), (30,)]),
    fibonacci: ([(91,)], [(92,), (200,)]),
    falls: ([(15,)], [(120,)]),
    shifted: ([(20,)], [(21,), (50,)]),
    shifted_by: ([(X[:8],), (np.array([61]),)], [(np.array([62]),), (np.array([3, 100]),)]),
    cubes: ([(X,), (np.array([2**20]),)], [(np.array([2**21]),), (np.array([-(2**22), 1]),)]),
    ninth_powers: ([(X,)], [(np.array([200]),)]),
    sizes: ([(np.array([HIGH, LOW + 1]),)], [(np.array([3, LOW]),)]),
    quotients: ([(np.array([LOW, 1, -1, 5]),)], [(np.array([LOW, -1]),)]),
    collatz: ([(27,), (1,)], [(2**46 - 1,)]),
    linear_congruences: ([(40, 3, 2**31 - 1)], [(40, 3, 2**46 - 1)]),
}


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* goes beyond 64 bits")
        yield


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("program", GROWING, ids=lambda p: p.__name__)
def test_python_computes_what_leaves_64_bits(program: Any, jit: bool) -> None:
    f = decorate(program, jit=jit)
    inside, outside = GROWING[program]
    for args in inside:
        compare_outcomes(run(program, args), run(f, args))
        assert not f.variants.fallbacks
    for args in outside:
        compare_outcomes(run(program, args), run(f, args))
    assert sum(f.variants.fallbacks.values()) == len(outside)
    assert len(f.variants) == 1


def masked(x: Any) -> Any:
    h = 2166136261
    for i in range(len(x)):
        h = ((h ^ int(x[i])) * 16777619) & 0xFFFFFFFF
    return h


def masked_by_globals(x: Any) -> Any:
    h = 2166136261
    for i in range(len(x)):
        h = ((h ^ int(x[i])) * PRIME + (h << 5)) & MASK
    return h


def modulo_a_power_of_two(n: Any, seed: Any) -> Any:
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
    return seed


def euclid(x: Any, y: Any) -> Any:
    s = 0
    for i in range(len(x)):
        a, b = int(x[i]), int(y[i])
        while b:
            a, b = b, a % b
        s = s ^ a
    return s


def adler(x: Any) -> Any:
    a, b = 1, 0
    for i in range(len(x)):
        a = (a + int(x[i])) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


def counted(x: Any) -> Any:
    n, last = 0, -1
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if x[i] > x[j]:
                n += 1
                last = 3 * j + i
    return n, last


def sifted(heap: Any, end: Any) -> Any:
    """Positions double in each iteration; those that go on are indices."""
    root = 0
    while (child := 2 * root + 1) < end:
        if child + 1 < end and heap[child] < heap[child + 1]:
            child += 1
        if heap[root] >= heap[child]:
            break
        heap[root], heap[child] = heap[child], heap[root]
        root = child
    return root


U = np.arange(60).astype(np.uint8)
UNCHECKED: dict[Any, tuple[Any, ...]] = {
    masked: (X * HIGH // 20,),
    masked_by_globals: (X * HIGH // 20,),
    modulo_a_power_of_two: (50, 12345678912345),
    euclid: (X * 6, X[::-1] * 4),
    adler: (U,),
    counted: (X[::-1].copy(),),
    sifted: (np.array([1.0, 9, 8, 7, 6, 5, 4]), 7),
}


@pytest.mark.parametrize("program", UNCHECKED, ids=lambda p: p.__name__)
def test_what_cannot_leave_is_not_checked(program: Any) -> None:
    """Low bits that are masked out, remainders, counters and positions."""
    f = decorate(program, jit=False)
    args = UNCHECKED[program]
    compare_outcomes(run(program, args), run(f, args))
    assert CHECK not in str(f.trace(*clone(args)))
    assert not f.variants.fallbacks


def test_a_mask_with_a_sign_masks_nothing() -> None:
    def f(x: Any, mask: Any) -> Any:
        h = 1
        for i in range(len(x)):
            h = (h * 31 + int(x[i])) & mask
        return h

    decorated = decorate(f, jit=False)
    for mask in (0xFFFF, -1):
        compare_outcomes(run(f, (X, mask)), run(decorated, (X, mask)))
    assert sum(decorated.variants.fallbacks.values()) == 1


def test_numpy_integers_wrap_around() -> None:
    def f(x: Any) -> Any:
        h = np.int64(7)
        for i in range(len(x)):
            h = h * 31 + x[i]
        return h

    decorated = decorate(f, jit=False)
    compare_outcomes(run(f, (X,)), run(decorated, (X,)))
    assert not decorated.variants.fallbacks


def writes(out: Any) -> Any:
    h = 7
    for i in range(len(out)):
        h = h * 31 + i
        out[i] = h % 1000
    return h


def test_behind_a_store_python_runs_the_call_on_what_it_was_given() -> None:
    f = decorate(writes, jit=False)
    for size in (9, 30):
        compare_outcomes(run(writes, (np.zeros(size),)), run(f, (np.zeros(size),)))
