"""Sizes, steps and powers that differ between the iterations of a staged loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import UnsupportedError
from fusejit.ir.ops import Assert, Loop, walk
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check

RNG = np.random.default_rng(7)
CLOSE = Bound(ulps=8)
FAR = Bound(ulps=256)
declines = pytest.mark.filterwarnings("ignore::fusejit.api.FuseWarning")


def ops(function: Callable[..., Any], *args: Any) -> list[Any]:
    return list(walk(fuse_jit(function).trace(*args).graph.block))


def assert_traced(function: Callable[..., Any], *args: Any) -> None:
    assert any(isinstance(op, Loop) for op in ops(function, *args))


# ------------------------------------------------------------------------------ arrays of a loop
def updated(a: Any) -> Any:
    for k in range(len(a)):
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def test_outer_products_of_parts_that_shrink() -> None:
    check(updated, (RNG.random((5, 5)),), (RNG.random((9, 9)),), jit=True)
    assert_traced(updated, RNG.random((5, 5)))


def distances(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        d = x[i] - x[i + 1 :]
        d -= np.round(d)
        near = d < 0.25
        total += np.sum(d[near])
    return total


def test_a_name_that_each_iteration_binds_anew_may_change_its_shape() -> None:
    check(distances, (RNG.random(6),), (RNG.random(40),), bound=CLOSE)
    assert_traced(distances, RNG.random(6))


def seen_later(x: Any) -> Any:
    for i in range(len(x) - 1):
        d = x[i] - x
    return d


def test_a_name_that_is_read_behind_the_loop_is_not_dead() -> None:
    check(seen_later, (RNG.random(6),), (RNG.random(7),), variants=None)


def read_first(x: Any, steps: Any) -> Any:
    d = x * 2
    for _ in range(steps):
        y = d + 1
        d = y * 0.5
    return x


def nested(x: Any) -> Any:
    total = 0.0
    for _ in range(len(x)):
        for j in range(len(x)):
            d = x[j:] * 2
            total += d[0]
        d = x[:2]
        total += d[1]
    return total


def test_liveness_looks_at_loops_around() -> None:
    check(read_first, (RNG.random(6), 7), (RNG.random(6), 8))
    check(nested, (RNG.random(6),), (RNG.random(9),))


def tree(values: Any, p: Any) -> Any:
    for i in range(len(values) - 2, -1, -1):
        values = p * values[1 : i + 2] + (1 - p) * values[: i + 1]
    return values[0], values


def pyramid(x: Any, steps: Any) -> Any:
    v = x * 1.0
    for _ in range(steps):
        v = np.concatenate([v[:1], v[1:] + v[:-1], v[-1:]])
    return v


def rows_fewer(a: Any, steps: Any) -> Any:
    for k in range(steps):
        a = a[1:] * 0.5 + a[:-1]
        a[0] = k
    return a.max(axis=0), a


def settles(x: Any, steps: Any) -> Any:
    v = np.zeros(1)
    for _ in range(steps):
        v = np.concatenate([v[:1], x[:2]])
    return v


def until(values: Any, limit: Any) -> Any:
    for _ in range(len(values) - 1):
        values = values[1:] + values[:-1]
        if values[0] > limit:
            break
    return values.sum()


@pytest.mark.parametrize("jit", [False, True])
def test_arrays_that_get_shorter_or_longer(jit: bool) -> None:
    check(tree, (RNG.random(7), 0.3), (RNG.random(30), 0.4), (RNG.random(2), 0.4), jit=jit)
    check(pyramid, (RNG.random(3), 6), (RNG.random(9), 20), jit=jit)
    check(rows_fewer, (RNG.random((9, 3)), 6), (RNG.random((40, 4)), 20), jit=jit)
    check(settles, (RNG.random(3), 6), (RNG.random(9), 20), jit=jit)
    check(until, (np.ones(9), 10), (np.ones(30), 100.0), (np.ones(8), 1e9), variants=None, jit=jit)
    for function, args in [(tree, (RNG.random(7), 0.3)), (pyramid, (RNG.random(3), 6))]:
        assert_traced(function, *args)


def first_smallest(a: Any, low: Any, high: Any) -> Any:
    out = np.zeros(len(low), np.int64)
    for i in range(len(low)):
        out[i] = low[i] + np.argmin(a[i, low[i] : high[i]]) + a[i, low[i] : high[i]].max()
    return out


@declines
def test_extrema_of_slices_of_any_length() -> None:
    a = RNG.integers(0, 9, (6, 8))
    low = np.array([0, 1, 2, 3, 4, 5])
    check(first_smallest, (a, low, low + 3))
    check(first_smallest, (a, low, low + 3), (a, low, low), variants=None)  # NumPy raises


# ---------------------------------------------------------------------------------------- powers
def refined(n: Any) -> Any:
    total = 0.0
    for i in range(n):
        for k in range(1, 2**i, 2):
            total += k / 2**i
        total += 1 / 3 ** (i + 1) + (-2) ** i + i**i
    return total


def decayed(x: Any, beta: Any, steps: Any) -> Any:
    for t in range(1, steps + 1):
        x = x * (1 - beta**t)
    return x


def powers_of(x: Any, bases: Any) -> Any:
    for i in range(len(bases)):
        x[i] = float(bases[i]) ** (i - 2) + int(x[i]) ** (i + 1)
    return x


def test_powers_of_what_only_the_kernel_knows() -> None:
    check(refined, (6,), (9,), jit=True, bound=CLOSE)
    calls = (RNG.random(6), 0.9, 7), (RNG.random(9), 0.99, 23)
    check(decayed, *calls, jit=True, bound=FAR, inner_bound=FAR)  # the kernel has its own pow
    check(powers_of, (np.arange(6.0), RNG.random(6)), (np.arange(7.0), RNG.random(7)), bound=CLOSE)
    check(decayed, (RNG.random(6), -0.5, 7), (RNG.random(6), -0.75, 9), bound=FAR)


def test_bounds_of_a_loop_show_that_powers_fit() -> None:
    def sums(n: Any) -> Any:
        total = 0
        for i in range(n):
            total ^= 2**i
        return total

    assert not any(isinstance(op, Assert) for op in ops(sums, 9))
    check(sums, (9,), (60,))


@declines
def test_powers_that_are_no_int64_or_no_float_are_left_to_python() -> None:
    def whole(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total += 3.0 / int(x[i]) ** int(x[i])
        return total

    def real(x: Any, y: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total += (float(x[i]) ** float(y[i])) * 2.0
        return total

    small = np.full(6, 3.0)
    check(whole, (small,), (np.full(6, 30.0),), (np.full(6, -2.0),), variants=None)
    for base, exponent in [(1e300, 2.0), (0.0, -1.0), (np.inf, 2.0), (-1.0, np.nan), (-2.0, 3.0)]:
        check(real, (small, small), (small * 0 + base, small * 0 + exponent), variants=None)


def test_math_functions_of_numbers_have_numpys_bits() -> None:
    def scaled(x: Any, t: Any) -> Any:
        u = np.exp(t * np.sqrt(t))
        return x * u, x + np.log(t) * np.cos(1 / u), np.tanh(u)

    calls = [(RNG.random(3), t) for t in RNG.random(50)]
    check(scaled, *calls)


# ----------------------------------------------------------------------------------------- steps
def sieve(n: Any) -> Any:
    is_prime = np.ones(n + 1, bool)
    i = 2
    while i * i <= n:
        if is_prime[i]:
            is_prime[i * i :: i] = False
        i += 1
    return is_prime


def totients(n: Any) -> Any:
    phi = np.arange(n + 1)
    for p in range(2, n + 1):
        if phi[p] == p:
            phi[p::p] -= phi[p::p] // p
    return phi


def strided_rows(a: Any, steps: Any) -> Any:
    for k in range(len(steps)):
        a[1 :: steps[k]] = a[:: steps[k]][: len(a[1 :: steps[k]])] + k
        a[-3 : 100 : steps[k], 1:] *= 2
    return a


def scalar_sieve(n: Any) -> Any:
    count = np.zeros(n, np.int64)
    for p in range(1, n):
        for j in range(p, n, p):
            count[j] += p
    return count


@pytest.mark.parametrize("jit", [False, True])
def test_steps_that_differ_between_iterations(jit: bool) -> None:
    check(sieve, (30,), (1000,), jit=jit)
    check(totients, (15,), (300,), jit=jit)
    check(scalar_sieve, (9,), (40,), jit=jit)
    steps = np.array([1, 2, 3, 5, 50, 2**62])
    check(strided_rows, (RNG.random((9, 3)), steps), (RNG.random((20, 4)), steps), jit=jit)


@declines
def test_steps_that_are_zero_or_negative_are_left_to_numpy() -> None:
    def picked(x: Any, k: Any) -> Any:
        total = 0.0
        for i in range(len(k)):
            total += x[:: k[i]].sum()
        return total

    x = RNG.random(9)
    ones = np.ones(5, np.int64)
    check(picked, (x, ones), (x, -ones), (x, ones * 0), variants=None, bound=CLOSE)


@declines
def test_a_strided_copy_is_not_told_from_numpys_view() -> None:
    def read_again(x: Any) -> Any:
        total = 0.0
        for p in range(1, len(x)):
            part = x[::p]
            x[0] = p
            total += part[0]
        return total

    def stored(x: Any) -> Any:
        for p in range(1, len(x)):
            part = x[::p]
            part -= p
        return x

    def stored_partly(x: Any) -> Any:
        for p in range(1, len(x)):
            part = x[::p]
            part[0] = p
        return x

    x = np.arange(7.0)
    for function in (read_again, stored, stored_partly):
        check(function, (x,), (np.arange(9.0),), variants=None)


def butterflies(x: Any) -> Any:
    size = 2
    while size <= len(x):
        half = size // 2
        w = np.arange(half) / size
        for start in range(0, len(x), size):
            y = w * x[start + half : start + size]
            x[start + half : start + size] = x[start : start + half] - y
            x[start : start + half] += y
        size *= 2
    return x


def test_arange_up_to_a_number_of_the_kernel() -> None:
    check(butterflies, (RNG.random(8),), (RNG.random(64),), jit=True)


# ------------------------------------------------------------------------ returns out of a loop
def settled(labels: Any, rows: Any, cols: Any) -> Any:
    labels = labels.copy()
    while True:
        before = labels.copy()
        np.minimum.at(labels, rows, labels[cols])
        np.minimum.at(labels, cols, labels[rows])
        if np.array_equal(labels, before):
            return labels


def grown(passable: Any) -> Any:
    filled = np.zeros_like(passable)
    filled[0] = True
    while True:
        more = filled.copy()
        more[1:] |= filled[:-1]
        more &= passable
        if (more == filled).all():
            return filled, 1
        filled = more


def jacobi(A: Any, b: Any, tol: Any, steps: Any) -> Any:
    d = np.diag(A)
    x = np.zeros(len(b))
    for k in range(steps):
        new = (b - (A - np.diag(d)) @ x) / d
        if np.max(np.abs(new - x)) < tol:
            return new, k
        x = new
    return x, steps


def first_pair(x: Any) -> Any:
    for i in range(len(x)):
        while True:
            if x[i] > 5:
                return i
            if x[i] < 2:
                break
            x[i] -= 1
    return -1


@pytest.mark.parametrize("jit", [False, True])
def test_returns_out_of_endless_loops_and_of_one_of_two_arrays(jit: bool) -> None:
    labels, rows, cols = np.arange(9), np.array([0, 3, 4, 5]), np.array([1, 4, 5, 8])
    check(settled, (labels, rows, cols), (np.arange(12), rows, cols), jit=jit)
    check(grown, (np.ones((7, 3), bool),), (RNG.random((9, 4)) < 0.8,), jit=jit)
    A = RNG.random((6, 6)) + 6 * np.eye(6)
    b = RNG.random(6)
    for tol, steps in [(1e-3, 60), (0.0, 6)]:
        check(
            jacobi, (A, b, tol, steps), (A, 2 * b, tol, steps), jit=jit, bound=FAR, inner_bound=FAR
        )
    check(first_pair, (np.array([3.0, 1.0, 9.0]),), (np.array([3.0, 1.0]),), jit=jit)


def chosen_then_base(x: Any) -> Any:
    a, b = x * 2, x * 3
    if x[0] > 0:
        y = a
    else:
        y = b
    a += 1
    return y + 0


def chosen_then_copy(x: Any) -> Any:
    a, b = x * 2, x * 3
    if x[0] > 0:
        y = a
    else:
        y = b
    y += 1
    return a + 0


def chosen_before_a_loop(x: Any) -> Any:
    a, b = x * 2, x * 3
    if x[0] > 0:
        y = a
    else:
        y = b
    total = 0.0
    for i in range(len(x)):
        total += y[i]
        a[1:] = total
    return total


def changed_alone(x: Any) -> Any:
    y = x * 2
    if x[0] > 0:
        y = y + 1
    y[0] = 3
    return y


@declines
def test_a_choice_between_arrays_is_one_of_them() -> None:
    for function in (chosen_then_base, chosen_then_copy, chosen_before_a_loop):
        check(function, (np.ones(5),), (-np.ones(5),), variants=None)
    check(changed_alone, (np.ones(5),), (-np.ones(5),))


# ------------------------------------------------------------------------------------- np.insert
def test_insert_at_one_place() -> None:
    def inserted(x: Any, k: Any, v: Any) -> Any:
        return np.insert(x, k, v), np.cumsum(np.insert(x, 0, 0)), np.insert(x, -1, x[:2])

    for k in (0, 2, 5, -5, -2, 6, -6):
        calls = [(np.arange(5.0), k, 2.5), (np.arange(5, dtype=np.int16), k, 7)]
        check(inserted, *calls, (np.arange(5, dtype=np.uint8), k, 300), variants=None)

    def matrix(x: Any) -> Any:
        return np.insert(x, 0, 1, axis=0)

    with pytest.raises(UnsupportedError, match=r"np\.concatenate"):
        fuse_jit(fullgraph=True)(matrix)(np.ones((2, 2)))
    check(matrix, (np.ones((2, 2)),), (np.ones((4, 3)),))
