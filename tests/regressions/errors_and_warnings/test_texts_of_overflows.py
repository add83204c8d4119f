"""An OverflowError named neither integer nor dtype: the kernel did not keep the value.

The text named neither the integer nor the dtype; of powers of Python floats it was the same text,
and where a whole exponent is below 0 or above 4 nothing was raised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def elements(z: Any, v: Any) -> Any:
    z[0] = 1
    for i in range(len(v)):
        z[1] = int(v[i])


def slices(z: Any, v: Any) -> Any:
    z[0] = 1
    for i in range(len(v)):
        z[1:3] = i + int(v[i])


def operands(z: Any, v: Any) -> Any:
    z[0] = 1
    for i in range(len(v)):
        z[:] = np.maximum(z + int(v[i]), 1)


def created(z: Any, v: Any) -> Any:
    z[0] = 1
    for i in range(len(v)):
        z[:3] = np.full(3, int(v[i]), z.dtype)


def scalars(z: Any, v: Any) -> Any:
    z[0] = 1
    for i in range(len(v)):
        z[1] = v[i]


VALUES = ([3, 300], [3, -1], [3, -129, 5], [3, 70000], [3, 2**40], [2, 2**62])
FLOATS = ([3.7, 300.5], [1, -1e10], [1, 1e30], [1, np.inf], [1, -np.inf], [1, np.nan])


@pytest.mark.parametrize("program", [elements, slices, operands, created, scalars])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_the_integer_and_the_dtype_are_named(program: Callable[..., Any], dtype: str) -> None:
    fused = decorate(program, jit=False)
    for values in VALUES:
        same(program, fused, np.arange(5).astype(dtype), np.array(values))
    if program is scalars and dtype[0] == "i":
        same(program, fused, np.arange(5).astype(dtype), np.array([1, 2**63], "u8"))
        for numbers in FLOATS:
            same(program, fused, np.arange(5).astype(dtype), np.array(numbers))


def same(program: Callable[..., Any], fused: Any, *args: Any) -> None:
    """The same result, error and text, and the same stores before it."""
    expected, actual = run(program, args), run(fused, args)
    compare_outcomes(expected, actual)
    assert str(expected.error) == str(actual.error)


@pytest.mark.filterwarnings("ignore:.*a complex number:fusejit.FuseWarning")
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("exponent", [3000, 5, -1, -3, -0.5, 0.5, 1.5, np.inf])
def test_powers_of_floats(exponent: Any, jit: bool) -> None:
    def known(z: Any, v: Any, e: Any) -> Any:
        z[0] = 7
        total = 0.0
        for i in range(len(v)):
            total += float(v[i]) ** exponent
        return total

    def given(z: Any, v: Any, e: Any) -> Any:
        z[0] = 7
        total = 0.0
        for i in range(len(v)):
            total += float(v[i]) ** e
            z[1] += 1
        return total

    cases = ([1, 2], [1, 0], [1, -0.0], [2, -3], [1, 1e100], [1, -1e100], [1, 1e-120], [1, np.nan])
    for program in (known, given):
        fused = decorate(program, jit=jit)
        for values in (*cases, [np.inf, -np.inf]):
            args = (np.zeros(3), np.array(values, float), exponent)
            expected, actual = run(program, args), run(fused, args)
            assert type(expected.error) is type(actual.error)
            assert str(expected.error) == str(actual.error)
            np.testing.assert_array_equal(expected.args[0], actual.args[0])
            if expected.error is None:
                np.testing.assert_allclose(actual.result, expected.result, rtol=1e-14)
