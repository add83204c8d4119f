"""A call with two objects used the first twice: its variant was made for one object.

The value read from an object comes from the place where the object was found first.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from fusejit_testing.oracle import decorate

X = np.arange(3.0)


def compared(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Any:
    fused = decorate(function, jit=False)
    for call in calls:
        np.testing.assert_array_equal(fused(X, *call), function(X, *call))
    return fused


def test_two_arguments() -> None:
    one, other = SimpleNamespace(k=2.0), SimpleNamespace(k=5.0)
    calls = [(one, one), (one, other), (other, one), (other, other)]
    fused = compared(lambda x, a, b: x * a.k + b.k, *calls)
    assert len(fused.variants) == 2


def test_arrays_of_two_arguments() -> None:
    one, other = SimpleNamespace(v=X + 1), SimpleNamespace(v=X * 5)
    compared(lambda x, a, b: x * a.v + b.v, (one, one), (one, other), (other, other))


def test_two_functions() -> None:
    def scaled(c: float) -> Callable[[Any], Any]:
        return lambda t: t * c

    one, other = scaled(2.0), scaled(5.0)
    compared(lambda x, f, g: f(x) + g(x), (one, one), (one, other), (other, one))


def test_an_object_that_holds_itself_needs_one_variant() -> None:
    def node(k: float) -> Any:
        made = SimpleNamespace(k=k)
        made.me = made
        return made

    stranger = node(4.0)
    stranger.me = node(7.0)
    nodes = [(node(float(k)),) for k in range(5)]
    fused = compared(lambda x, n: x * n.k + n.me.k, *nodes, (stranger,), *nodes)
    assert len(fused.variants) == 2
