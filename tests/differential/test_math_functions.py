"""Functions of `math`: of numbers that each call brings, and of elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check

ONE = (
    "sqrt exp log sin cos tan tanh log10 log2 log1p expm1 exp2 cbrt asin acos atan "
    "sinh cosh asinh acosh atanh degrees radians isnan isinf isfinite floor ceil "
    "trunc fabs erf erfc"
)
TWO = ("atan2", "hypot", "copysign", "fmod", "log")
NUMBERS = np.array([0.5, 0.0, -0.75, 1.0, 1.5, -1.0, 900.0, np.inf, np.nan, -0.0])


def of_elements(function: Callable[..., float], *second: float) -> Any:
    def program(x: Any) -> Any:
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = function(x[i], *second)
        return y

    return program


def of_a_number(function: Callable[..., float], *second: float) -> Any:
    def program(f: float) -> Any:
        return function(f, *second)

    return program


@pytest.mark.parametrize("name", ONE.split())
def test_of_one_number(name: str) -> None:
    """The same numbers, and errors where Python raises: outside a function's domain."""
    function = getattr(math, name)
    for number in NUMBERS:
        if name in ("floor", "ceil", "trunc") and np.isinf(number):
            continue  # Python runs these calls, with a warning
        x = np.full(6, number)
        check(of_elements(function), (x,), bound=Bound(4), variants=None)
        check(of_a_number(function), (float(number),), bound=Bound(4), variants=None)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("second", [2.0, 0.0, -1.0, 3])
def test_of_two_numbers(name: str, second: float) -> None:
    function = getattr(math, name)
    for number in NUMBERS:
        if name == "fmod" and np.isnan(number) and not second:
            continue  # Python runs this call, with a warning
        x = np.full(6, number)
        check(of_elements(function, second), (x,), bound=Bound(8), variants=None)
        check(of_a_number(function, second), (float(number),), bound=Bound(8), variants=None)


def is_close(x: Any) -> Any:
    n = 0
    for v in x:
        if math.isclose(v, 0.5) or math.isclose(v, 0.75, rel_tol=0.0, abs_tol=0.3):
            n += 1
    return n


def products(x: Any) -> Any:
    return math.prod(x.shape), math.prod([2, len(x)]), math.prod(x)


def counted(n: int) -> Any:
    return math.comb(n, 2), math.perm(n, 2), math.lcm(n, 4), math.gcd(n, 4), math.factorial(n)


def test_others() -> None:
    x = np.array([0.5, 0.5 + 1e-12, 0.6, 2.0, -0.5, 0.45])
    check(is_close, (x,), (x[:5],))
    check(products, (x,), (x[:5],))
    check(counted, (5,), (8,), variants=None)
