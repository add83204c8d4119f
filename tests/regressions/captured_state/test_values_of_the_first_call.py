"""Later calls used the first call's enum member: guards compared types, not values.

An instance of a subclass of int, float or str was baked into the variant, and so was what Python
made of an object by comparing it, hashing it or making text of it.
"""

from __future__ import annotations

import decimal
import enum
import functools
import warnings
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit_testing.oracle import decorate

X = np.arange(6.0).reshape(2, 3)
Pair = namedtuple("Pair", "a b")


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 2


class Whole(int):
    unit = "m"


class Real(float):
    pass


class Thing:
    pass


@dataclass
class Settings:
    rate: float


def check(function: Callable[..., Any], *values: Any) -> Any:
    """Call with each value, and with all of them again: as undecorated; the decorated function."""
    decorated = decorate(function, jit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        for value in (*values, *values):
            expected, actual = _outcome(function, value), _outcome(decorated, value)
            assert repr(actual) == repr(expected)
            assert actual is expected or type(expected) is not tuple or actual[1] == expected[1]
    return decorated


def _outcome(function: Callable[..., Any], value: Any) -> Any:
    try:
        return function(X, value)
    except Exception as error:
        return error


def branch(x: Any, g: Any) -> Any:
    return x * 2 if g > 1 else x + 3


def axis(x: Any, g: Any) -> Any:
    return x.sum(axis=g)


def unit(x: Any, g: Any) -> Any:
    return x * (2 if g.unit == "m" else 3), g.unit


@pytest.mark.parametrize("kind", [Level, Whole, Real])
@pytest.mark.parametrize("function", [branch, axis])
def test_subclasses_of_numbers_are_taken_by_value(function: Any, kind: type) -> None:
    check(function, kind(0), kind(2))


def test_zeros_of_a_subclass_have_a_sign() -> None:
    """Guarded by ``==``, 0.0 and -0.0 would be one value."""
    check(lambda x, g: x + np.copysign(1.0, float(g)), Real(0.0), Real(-0.0))


def test_attributes_of_a_number() -> None:
    """A number that has attributes of its own was taken for its value alone."""
    foot = Whole(1)
    foot.unit = "ft"
    check(unit, Whole(1), foot)


def test_values_do_not_make_variants_without_end() -> None:
    """Each value has a variant: as with texts, only one that comes back."""
    decorated = check(lambda x, g: x * g + 1, *map(Whole, range(40)))
    assert len(decorated.variants) <= 10


def equal(x: Any, pair: Any) -> Any:
    return x * 2 if pair[0] == pair[1] else x + 3


def key(x: Any, pair: Any) -> Any:
    return x * {pair[0]: 2}.get(pair[1], 3)


def item(x: Any, pair: Any) -> Any:
    table = {pair[0]: 2, X.size: 3}
    return x * table[pair[1]]


def place(x: Any, pair: Any) -> Any:
    return x * [pair[0], 1].index(pair[1])


@pytest.mark.parametrize("function", [equal, key, item, place])
@pytest.mark.parametrize("make", [Thing, functools.partial(functools.partial, np.add, 1)])
def test_objects_that_are_equal_to_themselves_alone(function: Any, make: Any) -> None:
    """Python's own ``==`` compares such objects by identity, which no check asked for."""
    one, other, third = make(), make(), make()
    check(function, (one, other), (third, third), (other, one))


def test_text_of_objects() -> None:
    """``__repr__`` of a dataclass reads its fields unnoticed; that of an object has its address."""
    check(lambda x, g: (x + 1, f"{g}"), Settings(0.5), Settings(1.5))
    check(lambda x, g: (x + 1, str([g])), Settings(0.5), Settings(1.5))
    check(lambda x, g: (x + 1, repr(g)), Thing(), Thing())


def test_equal_values_that_show_other_digits() -> None:
    """``Decimal("1.0") == Decimal("1.00")``, and ranges are equal whose items are."""
    check(lambda x, g: (x + 1, str(g)), decimal.Decimal("1.0"), decimal.Decimal("1.00"))
    check(lambda x, g: (x + 1, g.stop), range(0, 3, 2), range(0, 4, 2))
    check(lambda x, g: (x + 1, [*g]), frozenset({1}), frozenset({True}))


def test_one_named_tuple_in_two_places() -> None:
    """Each place had a copy of its own, so ``is`` was False."""
    pair = Pair(1, 2)
    check(lambda x, g: x * 2 if g[0] is g[1] else x + 3, (pair, pair), (pair, Pair(1, 2)))


def test_complex_numbers_that_are_returned() -> None:
    """A number of two parts was put together again."""
    z = complex(1, 2)
    decorated = decorate(lambda x, z: (x + 1, z), jit=False)
    assert decorated(X, z)[1] is z


@pytest.mark.parametrize("keepdims", [1.0, np.True_, "x", None])
def test_keepdims_is_an_integer(keepdims: Any) -> None:
    """The truth of anything was taken, where NumPy raises TypeError."""
    check(lambda x, g: x.sum(axis=0, keepdims=g), keepdims)


@pytest.mark.parametrize("dtype", [1j, np.arange(2.0)])
def test_what_has_a_dtype_is_none(dtype: Any) -> None:
    """`np.dtype` takes what has an attribute ``dtype``, as the stand-in of an array has."""
    check(lambda x, g: x.astype(g), dtype)
