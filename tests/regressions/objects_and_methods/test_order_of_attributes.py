"""``vars(obj)`` of an object that a kernel has made listed the attributes in another order.

That was the order of their names, or that in which a list from outside had shown them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from fusejit_testing.oracle import decorate


class Part:
    def __init__(self, weight: Any, cost: Any) -> None:
        self.weight = weight
        self.cost = cost
        self.age = 0


def made(parts: Any, n: Any) -> Any:
    found = []
    for k in range(n):
        found.append(Part(k, 2 * k))
    return found


def made_beside_others(parts: Any, n: Any) -> Any:
    for part in parts:
        part.age += 1
    last = Part(n, 0.5)
    for k in range(n):
        last.cost += 1
        last = Part(n + k, 1.5)
    return [last]


@pytest.mark.parametrize("function", [made, made_beside_others])
def test_order_of_attributes(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, tiering=False)
    args = [Part(k, 0.5) for k in range(20)], 7
    expected, result = function(*copy.deepcopy(args)), fused(*args)
    assert fused.variants.newest_segmented is None
    assert [[*vars(part).items()] for part in result] == [
        [*vars(part).items()] for part in expected
    ]
