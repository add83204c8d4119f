"""Decorated special methods ran during a trace: entry stubs counted as functions of fusejit.

``__init__`` of a class got sample inputs as foreign arrays, and a decorated ``__exit__`` that
Python itself called was compiled, and run, in the middle of the trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same


class Vector:
    @fuse_jit
    def __init__(self, items: Any) -> None:
        self.items = items * 2.0

    @fuse_jit
    def plus(self, other: Any) -> Any:
        return Vector(self.items + other.items)


class Transaction:
    @fuse_jit
    def __init__(self, array: Any) -> None:
        self.array = array

    @fuse_jit
    def __enter__(self) -> Any:
        self.saved = self.array.copy()
        return self.array

    @fuse_jit
    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if kind is not None:
            self.array[:] = self.saved
        return kind is ValueError


def sum_of_vectors(x: Any) -> Any:
    return Vector(x).plus(Vector(x + 1)).items - 1


def test_objects_are_made_in_the_trace() -> None:
    fused = fuse_jit(fullgraph=True)(sum_of_vectors)
    x = np.arange(4.0)
    for _ in range(2):
        assert_same((x * 2 + (x + 1) * 2) * 2 - 1, fused(x))
    assert len(fused.variants) == 1


def transfers(balances: Any, orders: Any) -> Any:
    refused = 0
    for source, target, amount in orders:
        with Transaction(balances) as b:
            b[source] -= amount
            b[target] += amount
            if b[source] < 0:
                refused += 1
                raise ValueError("overdrawn")
    return refused


def test_contexts_of_decorated_methods() -> None:
    fused = fuse_jit(transfers)
    orders = [(0, 1, 3.0), (2, 0, 5.0), (1, 2, 1.0), (0, 2, 20.0)]
    for _ in range(3):
        balances, expected = np.array([10.0, 5.0, 1.0]), np.array([7.0, 7.0, 2.0])
        assert fused(balances, orders) == 2
        assert_same(expected, balances)
