"""Decorated `__init__` and `__exit__` methods received traced arrays: C code called them.

Python called them from C code, unnoticed: constructors, ``__enter__``, ``__exit__`` and properties
got traced arrays ("array is a foreign array: TracedArray"), and an ``__exit__`` that ends
exceptions was not seen, so that they left the kernel.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate


def fused(function: Any) -> Any:
    return decorate(function, jit=False)


class Transaction:
    def __init__(self, array):
        self.array = array

    def __enter__(self):
        self.saved = self.array.copy()
        return self.array

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.array[:] = self.saved
        return kind is ValueError


class DecoratedTransaction:
    __init__ = fused(Transaction.__init__)
    __enter__ = fused(Transaction.__enter__)
    __exit__ = fused(Transaction.__exit__)


def transfers(balances, transaction):
    refused = 0
    for source, target, amount in ((0, 1, 0.3), (1, 2, 3.0), (2, 3, 0.1)):
        with transaction(balances) as b:
            b[source] -= amount
            b[target] += amount
            if b[source] < 0:
                refused += 1
                raise ValueError("overdrawn")
    return refused, balances * 2


def ball_class(wrapped):
    class Ball:
        @wrapped
        def __init__(self, position, mass):
            self.position = position
            self.mass = mass

        @property
        @wrapped
        def momentum(self):
            return self.mass * self.position

        @wrapped
        def __len__(self):
            return len(self.position)

    return Ball


Plain, Decorated = ball_class(lambda function: function), ball_class(fused)


def balls(x, kind):
    a, b = kind(x, 2.0), kind(x * 3, x[0])
    return a.momentum + b.momentum, b.mass, len(a)


@pytest.mark.parametrize("kind", [Transaction, DecoratedTransaction])
def test_an_exception_ends_in_a_decorated_exit(kind: type) -> None:
    balances = np.array([0.5, 0.25, 0.125, 1.0])
    function = fused(transfers)
    expected = transfers(balances.copy(), Transaction)
    for _ in range(2):
        assert_same(expected, function(balances.copy(), kind))


def test_decorated_constructors_and_properties_are_followed() -> None:
    function = fused(balls)
    for values in ([1.0, 2.0], [3.0, 4.0, 5.0]):
        expected = balls(np.array(values), Plain)
        with warnings.catch_warnings():
            warnings.simplefilter("error", FuseWarning)
            assert_same(expected, function(np.array(values), Decorated))
    assert not function.variants.fallbacks
