"""NumPy repeated stores when a Python int left 64 bits: kernels did not undo what they wrote."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit
from fusejit.errors import UnsupportedError
from fusejit_testing.compare import clone
from fusejit_testing.oracle import compare_outcomes, decorate, run

POWERS = (3, 39, 45, 200, 3000)  # 3 ** 40 has more than 64 bits


@pytest.fixture(autouse=True)
def _python_may_run() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FuseWarning)
        yield


def elements(x: Any, n: Any) -> Any:
    k = 1
    for i in range(n):
        x[i % len(x)] += 1
        k = k * 3
    return k


def part_of_a_row(x: Any, n: Any) -> Any:
    k = 1
    for i in range(n):
        x[1:5] += i
        k = k * 3
    x[:] = x * 2
    return k


def conditions(x: Any, n: Any) -> Any:
    k = 1
    for i in range(n):
        if i % 3:
            x[i % 7] = -x[i % 7]
        else:
            x[x > 2] -= 1
        k = k * 3
    return k


def scattered(x: Any, n: Any) -> Any:
    at = np.arange(0, len(x), 3)
    k = 1
    for i in range(n):
        x[at] = x[at] * 2 - i
        k = k * 3
    return k


def reversed_in_place(x: Any, n: Any) -> Any:
    k = 1
    for _ in range(n):
        x[:] = x[::-1] + 1
        k = k * 3
    return k


def searched(x: Any, n: Any) -> Any:
    k = 1
    while x[0] < n:
        x[0] += 1
        x[2 + int(x[0]) % 3] = x[0]
        k = k * 3
    return k


FUNCTIONS = (elements, part_of_a_row, conditions, scattered, reversed_in_place, searched)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_python_runs_the_call_on_untouched_arguments(function: Any, jit: bool) -> None:
    decorated = decorate(function, jit=jit)
    for size in (9, 4000) if jit else (9,):
        for n in POWERS if jit else POWERS[:3]:
            args = (np.arange(float(size)), n)
            compare_outcomes(run(function, args), run(decorated, args))
    assert len(decorated.variants) == 1


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "u4", "f4", "f8", "c8", "c16"])
def test_elements_of_all_sizes_are_put_back(dtype: str) -> None:
    def f(x: Any, y: Any, n: Any) -> Any:
        k = 1
        for i in range(n):
            x[i % x.shape[0], 1] = x[0, 0]
            y[i % y.shape[0]] = x[1, 2]
            k = k * 3
        return k

    decorated = decorate(f, jit=True)
    for n in POWERS:
        x = np.arange(48).reshape(6, 8).astype(dtype)
        args = (x.T[::2, ::-1], np.zeros(5, dtype), n)
        compare_outcomes(run(f, args), run(decorated, args))


def test_generators_of_random_numbers_are_put_back() -> None:
    def f(rng: Any, x: Any, n: Any) -> Any:
        k = 1
        for i in range(n):
            x[i % 4] = rng.random()
            k = k * 3
        return k

    decorated = decorate(f, jit=False)
    for n in POWERS[:3]:
        ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
        x, y = np.zeros(4), np.zeros(4)
        assert decorated(ours, x, n) == f(theirs, y, n)
        assert ours.bit_generator.state == theirs.bit_generator.state
        np.testing.assert_array_equal(x, y)


def test_the_old_generator_is_put_back() -> None:
    def f(x: Any, n: Any) -> Any:
        x[:] = np.random.standard_normal(3)
        k = 1
        while x.sum() > -1 and n > 0:
            x[0] += 1
            k, n = k * 3, n - 1
        return k

    decorated = decorate(f, jit=False)
    results = []
    for function in (f, decorated):
        np.random.seed(5)
        x = np.zeros(3)
        results.append((function(x, 50), x.tolist(), np.random.standard_normal()))
    assert results[0] == results[1]


def test_what_other_kernels_have_stored_is_put_back() -> None:
    def f(x: Any, y: Any, n: Any) -> Any:
        y += 1
        x[:] = np.sort(x)[::-1] + y
        k = 1
        for i in range(n):
            x[i % 4] += 1
            k = k * 3
        return k

    decorated = decorate(f, jit=False)
    for n in POWERS[:3]:
        args = (np.array([3.0, 1.0, 4.0, 1.0]), np.arange(4.0), n)
        compare_outcomes(run(f, args), run(decorated, args))
    assert len(decorated.variants) == 1


def test_a_text_is_printed_once(capsys: Any) -> None:
    def f(x: Any, n: Any) -> Any:
        print("start")
        k = 1
        for i in range(n):
            x[i % 4] += 1
            k = k * 3
        return k

    decorated = decorate(f, jit=False)
    for n in POWERS[:3]:
        assert decorated(np.zeros(4), n) == 3**n
    assert capsys.readouterr().out == "start\n" * 3


def test_under_fullgraph_it_is_an_error_and_nothing_is_modified() -> None:
    decorated = fuse_jit(fullgraph=True)(elements)
    x = np.arange(4.0)
    with pytest.raises(UnsupportedError, match="a Python int goes beyond 64 bits"):
        decorated(x, 50)
    np.testing.assert_array_equal(x, np.arange(4.0))


def test_errors_for_other_reasons_leave_what_was_stored() -> None:
    def f(x: Any, n: Any) -> Any:
        k = 1
        for i in range(n):
            x[i] += 1
            k = k * 3
        return k

    decorated = decorate(f, jit=True)
    args = (np.zeros(4), 9)
    expected = run(f, clone(args))
    assert isinstance(expected.error, IndexError)
    compare_outcomes(expected, run(decorated, args))


def test_integers_to_negative_powers_behind_a_store() -> None:
    """The status of this error was also that of a call that NumPy has to run again."""

    def f(x: Any, k: Any) -> Any:
        for i in range(len(k)):
            x[0] += 1
            k[i] = k[i] ** (k[i] - 5)
        return x

    decorated = decorate(f, jit=False)
    args = (np.zeros(1), np.array([6, 7, 3]))
    expected = run(f, args)
    assert isinstance(expected.error, ValueError)
    compare_outcomes(expected, run(decorated, args))
