"""`x * Decimal("0.5")` gave an internal error: the other class's method saw a traced value.

The method of the other class got a sample input and gave up, and the TypeError was called NumPy's.
"""

from __future__ import annotations

import datetime
import operator
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit


class Metres:
    """Answers operators for itself."""

    def __radd__(self, other: Any) -> str:
        return f"{type(other).__name__} and metres"


class Whole:
    """Takes arrays as a whole."""

    __array_ufunc__ = None

    def __radd__(self, other: Any) -> str:
        return f"{type(other).__name__} as a whole"


def _outcome(function: Callable[..., Any], *args: Any) -> tuple[str, str]:
    """Type and text of a result, or of an exception."""
    try:
        result = function(*args)
    except Exception as error:
        return type(error).__name__, str(error)
    return type(result).__name__, repr(result)


OTHERS = [
    Decimal("0.5"),
    Fraction(1, 3),
    range(3),
    Metres(),
    Whole(),
    datetime.timedelta(1),
    None,
    object,
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda o: getattr(type(o), "__name__", str(o)))
@pytest.mark.parametrize("name", ["add", "truediv", "lt", "divmod"])
def test_operators_are_numpys(name: str, other: Any) -> None:
    """Arrays of floats and integers, items, numbers of the call, on either side."""
    compute: Any = divmod if name == "divmod" else getattr(operator, name)
    values: list[Callable[..., Any]] = [
        lambda x, n: x + 1,
        lambda x, n: np.arange(len(x)),
        lambda x, n: x[1],
        lambda x, n: n,
    ]
    x = np.array([1.0, 2.0, 4.0])
    for value in values:
        for is_swapped in (False, True):

            def function(x: Any, n: Any, value: Any = value, is_swapped: bool = is_swapped) -> Any:
                one = value(x, n)
                return compute(other, one) if is_swapped else compute(one, other)

            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ours = _outcome(fuse_jit(function), x, 3)
            assert not [w for w in caught if "internal error" in str(w.message)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = _outcome(function, x, 3)
            assert ours == theirs


def test_complex_numbers_take_a_float64_for_a_float() -> None:
    """The result is Python's, as ``complex`` has it; that of a float32 is NumPy's."""

    def numbers(x: Any, y: Any) -> tuple[Any, ...]:
        return 1j - x[1], 2j * x[0], 1j / x[1], x[1] - 1j, 1j + y[0], (1j - x[0]) + y[0]

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0], np.float32)
    ours, theirs = fuse_jit(numbers)(x, y), numbers(x, y)
    assert [(type(o), complex(o)) for o in ours] == [(type(t), complex(t)) for t in theirs]
