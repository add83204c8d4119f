"""Powers of complex numbers: infinities, NaN and signed zeros in both parts, by exponents.

NumPy has short forms for some exponents, which depend on their type: ``z ** 2`` is a square, and
``z ** 2.0`` the general power. They differ in signs of zeros and where a part is infinite.

Regression: ``z ** n`` had other zeros, NaN and infinities where ``n`` is an argument or a float:
the short forms were those of an older NumPy, and of literals only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

PARTS = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e200)
SPECIAL = np.array([complex(a, b) for a in PARTS for b in PARTS])
EXPONENTS: tuple[Any, ...] = (
    *(2, 1, 0, -1, -2, 3, 4, 7, 99, 100),
    *(0.5, -0.5, 1.0, 2.0, -1.0, 1.5, 0.0),
    *(2 + 0j, 0.5 + 0j, -1 + 0j, 1j),
    *(np.float64(0.5), np.int64(2), np.complex128(2), np.array(2), np.array(0.5)),
)


def operator(z: Any, e: Any) -> Any:
    return z**e


def in_place(z: Any, e: Any) -> Any:
    w = z.copy()
    w **= e
    return w


def function(z: Any, e: Any) -> Any:
    return np.power(z, e)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("exponent", EXPONENTS, ids=lambda e: f"{type(e).__name__} {e}")
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_special_values(exponent: Any, dtype: Any) -> None:
    """An exponent that is an argument, or a float, took another form than NumPy takes."""
    z = SPECIAL.astype(dtype)
    numbers = [(z[k], exponent) for k in (0, 1, 21, 36, 55)]
    arrays = [(a, exponent) for a in (z, z.reshape(8, 8).T, z[::2], z[:1])]
    for program in (operator, in_place, function):
        check(program, *arrays, variants=None)
        check(program, *((np.array(n), e) for n, e in numbers))
    check(operator, *numbers)
    check(lambda z: (z**exponent, z[3] ** exponent), (z,), (z[::-1].copy(),), variants=None)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_exponents_that_change() -> None:
    """A variant for one short form must not serve another exponent."""
    calls = [(SPECIAL, e) for e in (2, 3, -1, 2, 1, 0.5, 2.0, 0.5, -1.0, 0.25)]
    check(operator, *calls, variants=None)
