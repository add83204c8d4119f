"""Where Python raises for a number and NumPy does not: division by 0, `math`, ``int(nan)``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fusejit.ir.ops import Assert, walk
from fusejit_testing.compare import Bound, clone
from fusejit_testing.oracle import compare_outcomes, decorate, run

CLOSE = Bound(absolute=1e-12)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* goes beyond 64 bits")
        yield


def quotient(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = s + 1 / int(x[i])
    return s


def whole_quotient(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        s = s ^ (100 // int(x[i]))
    return s


def remainder(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        s = s ^ (100 % int(x[i]))
    return s


def float_quotient(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = s + 1.5 / float(x[i])
    return s


def float_remainder(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = s + 1.5 % float(x[i]) + 1.5 // float(x[i])
    return s


def root(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = s + math.sqrt(x[i])
    return s


def logarithm(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = s + math.log(x[i])
    return s


def exponential(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = s + math.exp(x[i])
    return s


def sine(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = s + math.sin(x[i])
    return s


def truncated(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        s = s ^ int(x[i]) ^ math.floor(x[i])
    return s


ONES, ZERO = np.array([3, -2, 5, 1]), np.array([3, 0, 5])
FLOATS = np.array([3.5, 2.25, 5.0, 0.5])
CALLS: dict[Any, tuple[Any, list[Any]]] = {
    quotient: (ONES, [ZERO]),
    whole_quotient: (ONES, [ZERO]),
    remainder: (ONES, [ZERO]),
    float_quotient: (ONES, [ZERO]),
    float_remainder: (ONES, [ZERO]),
    root: (FLOATS, [-FLOATS]),
    logarithm: (FLOATS, [-FLOATS, FLOATS - 0.5]),
    exponential: (FLOATS, [FLOATS * 1e3]),
    sine: (FLOATS, [FLOATS * math.inf]),
    truncated: (FLOATS, [FLOATS * math.nan, FLOATS * math.inf]),
}


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("program", CALLS, ids=lambda p: p.__name__)
def test_python_raises(program: Any, jit: bool) -> None:
    f = decorate(program, jit=jit)
    good, bad = CALLS[program]
    compare_outcomes(run(program, (good,)), run(f, (good,)), CLOSE)
    for x in bad:
        expected = run(program, (x,))
        assert expected.error is not None
        compare_outcomes(expected, run(f, (x,)))
    assert len(f.variants) == 1


def test_nan_and_infinity_are_in_the_domain_of_a_root() -> None:
    f = decorate(root, jit=False)
    for last in (math.nan, math.inf):
        x = np.append(FLOATS, last)
        compare_outcomes(run(root, (x,)), run(f, (x,)), CLOSE)
    assert not f.variants.fallbacks


def test_floats_beyond_64_bits_are_pythons_integers() -> None:
    f = decorate(truncated, jit=False)
    x = np.array([1e300, 5.0, -(2.0**63)])
    compare_outcomes(run(truncated, (x,)), run(f, (x,)))


LATE: dict[str, Any] = {
    "int / 0": lambda v: 1 / int(v),
    "int // 0": lambda v: 1 // int(v),
    "int % 0": lambda v: 1 % int(v),
    "float / 0": lambda v: 1.0 / float(v),
    "float // 0": lambda v: 1.0 // float(v),
    "float % 0": lambda v: 1.0 % float(v),
    "math domain": lambda v: math.sqrt(v - 1.0),
    "math range": lambda v: math.exp(v + 1e4),
    "int of NaN": lambda v: int(v + math.nan),
}


@pytest.mark.parametrize("name", LATE)
def test_behind_a_store_the_kernel_raises(name: str) -> None:
    compute = LATE[name]

    def f(x: Any) -> Any:
        for i in range(len(x)):
            x[i] = x[i] - 1.0
            x[i] = compute(x[i]) * 0.5
        return x

    args = (np.array([1.0, 2.0]),)
    expected = run(f, args)
    assert expected.error is not None
    decorated = decorate(f, jit=False)
    compare_outcomes(expected, run(decorated, args))
    assert not decorated.variants.fallbacks


def test_behind_a_store_infinity_is_no_integer() -> None:
    def f(x: Any) -> Any:
        for i in range(len(x)):
            x[i] = int(x[i] * 1e200)
        return x

    decorated = decorate(f, jit=False)
    for args in ((np.array([1.0, 2.0]),), (np.array([1e-190, 2.0, np.inf]),)):
        compare_outcomes(run(f, args), run(decorated, args))


def harmonic(n: Any, x: Any) -> Any:
    s = 0.0
    for i in range(n):
        s = s + 1.0 / (i + 1) + (i % 7) / (3 + i // 2)
        while n % (2 + i) == 5 and s < 0:
            s = s + 1.0
    return s + x


def test_divisors_that_ranges_show_to_differ_from_0_are_not_checked() -> None:
    f = decorate(harmonic, jit=False)
    args = (9, np.ones(3))
    compare_outcomes(run(harmonic, args), run(f, args), CLOSE)
    graph = f.trace(*clone(args)).traced.graph
    assert not [op for op in walk(graph.block) if isinstance(op, Assert)]


def test_numpy_numbers_divide_as_numpy_does() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for i in range(len(x)):
            s = s + 1.0 / x[i] + np.sqrt(x[i])
        return s

    args = (np.array([1.0, 0.0, -1.0]),)
    decorated = decorate(f, jit=False)
    compare_outcomes(run(f, args), run(decorated, args))
    assert not decorated.variants.fallbacks
